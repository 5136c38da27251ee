# SPDX-License-Identifier: MIT
"""One healthy conversation and connections to nobody, on asyncio's event loop (README.md)."""

import asyncio
import sys
import time

healthy, dead, requests, dialers = map(int, sys.argv[1:])
dials = 0
LEAST = 1.5  # seconds


async def dial():
    global dials
    while True:
        dials += 1
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", dead)
            writer.close()
        except OSError:
            pass


async def main():
    reader, writer = await asyncio.open_connection("127.0.0.1", healthy)
    tasks = [asyncio.create_task(dial()) for _ in range(dialers)]
    started, done = time.monotonic(), 0
    while done < requests or time.monotonic() - started < LEAST:
        began = time.monotonic()
        writer.write(b"ping\n")
        await reader.readexactly(5)
        done += 1
        print(int((time.monotonic() - began) * 1e6))
    print("dials", dials)
    for task in tasks:
        task.cancel()


asyncio.run(main())
