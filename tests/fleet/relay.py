# SPDX-License-Identifier: MIT
"""A relay before a server on this host: what it carries comes late, each time by another span, so that it
overtakes what came before on other connections, and now and then the connection is broken with what is on its way."""

import asyncio
import random
import threading

LATEST, BREAKS = 0.8, 15  # seconds; of so many messages one
READ = 65536


class Relay:
    def __init__(self, address, port, behind):
        self.address, self.port, self.behind = address, port, behind
        self.delayed, self.broken, self.overtaken = 0, 0, 0
        self.came, self.latest = 0, 0  # messages; the youngest of those that have gone on
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
        ways = [asyncio.ensure_future(way) for way in (self.carry(reader, back), self.carry(onward, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        writer.close()
        back.close()

    async def carry(self, reader, writer):
        try:
            while message := await reader.read(READ):
                self.came += 1
                number = self.came
                await asyncio.sleep(random.uniform(0, LATEST))
                self.delayed += 1
                self.overtaken += number < self.latest
                self.latest = max(self.latest, number)
                if self.delayed % BREAKS == 0:
                    self.broken += 1
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
