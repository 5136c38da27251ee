# SPDX-License-Identifier: MIT
"""A relay before a server on this host: what it carries comes late, each time by another span, and now and then the
connection is broken. An answer that was on its way is lost with it; a request comes later than what its host asks
meanwhile on another connection."""

import asyncio
import random
import threading

LATEST, BREAKS = 0.8, 8  # seconds; of so many messages one
LATE = 3  # seconds, in which a host connects anew and asks again
READ = 65536


class Relay:
    def __init__(self, address, port, behind):
        self.address, self.port, self.behind = address, port, behind
        self.delayed, self.broken, self.overtaken = 0, 0, 0
        self.came, self.latest = 0, {}  # requests; of each host the youngest of those that have gone on
        self.loop, ready = asyncio.new_event_loop(), threading.Event()
        self.thread = threading.Thread(target=self.run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.listener = self.loop.run_until_complete(asyncio.start_server(self.serve, self.address, self.port))
        ready.set()
        self.loop.run_forever()

    async def serve(self, reader, writer):
        try:
            onward, back = await asyncio.open_connection(self.address, self.behind)
        except OSError:
            writer.close()
            return
        host = writer.get_extra_info("peername")[0]
        ways = [asyncio.ensure_future(way)
                for way in (self.ask(host, reader, back, writer), self.answer(onward, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        writer.close()
        back.close()

    async def delay(self):
        """Whether the connection breaks then."""
        await asyncio.sleep(random.uniform(0, LATEST))
        self.delayed += 1
        breaks = self.delayed % BREAKS == 0
        self.broken += breaks
        return breaks

    async def ask(self, host, reader, back, writer):
        try:
            while message := await reader.read(READ):
                self.came += 1
                number = self.came
                breaks = await self.delay()
                if breaks:
                    writer.close()
                    await asyncio.sleep(LATE)
                self.overtaken += number < self.latest.get(host, 0)
                self.latest[host] = max(self.latest.get(host, 0), number)
                back.write(message)
                await back.drain()
                if breaks:
                    return
        except OSError:
            pass

    async def answer(self, onward, writer):
        try:
            while message := await onward.read(READ):
                if await self.delay():
                    return
                writer.write(message)
        except OSError:
            pass

    async def end(self):
        self.listener.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        self.loop.stop()

    def close(self):
        asyncio.run_coroutine_threadsafe(self.end(), self.loop)
        self.thread.join()
        self.loop.close()
