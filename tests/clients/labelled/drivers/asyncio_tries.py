# SPDX-License-Identifier: MIT
"""asyncio: 8 tasks fed by a queue, up to TRIES tries for each unit. Usage: HOST PORT COUNT TRIES"""

import asyncio
import sys

from unit import next_try

host, port, count, tries = sys.argv[1], *map(int, sys.argv[2:5])


async def attempt(name):
    next_try(name)
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"GET /u/{name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return b"done" in await reader.read()
    finally:
        writer.close()


async def worker(queue):
    while not queue.empty():
        name = queue.get_nowait()
        for _ in range(tries):
            try:
                if await asyncio.wait_for(attempt(name), 15):
                    break
            except (OSError, asyncio.TimeoutError):
                pass
            await asyncio.sleep(0.03)
        await asyncio.sleep(0.02)


async def main():
    queue = asyncio.Queue()
    for name in range(count):
        queue.put_nowait(name)
    await asyncio.gather(*(worker(queue) for _ in range(8)))


asyncio.run(main())
