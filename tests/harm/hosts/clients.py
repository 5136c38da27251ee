#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""COUNT clients in one process, each connected for good, that lose the server and come back:
clients.py COUNT PORT SECONDS OUTAGE-END. A line for each: how long after the server's return it had
an answer again. Each pauses 50 to 150 ms between its tries,
a thousand 0.5 to 1.5 s."""

import asyncio
import random
import sys
import time

count, port, seconds, back = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
pause = max(0.1, count / 1000)  # a thousand must not use up the machine
started = time.monotonic()


async def once():
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while True:
            writer.write(b"GET /h HTTP/1.1\r\nHost: x\r\n\r\n")
            if not await reader.read(1000):
                return
            if time.monotonic() > started + back:
                return True
            await asyncio.sleep(0.2)
    finally:
        writer.close()


async def client():
    while time.monotonic() < started + seconds:
        try:
            if await once():
                print("h", f"{(time.monotonic() - started - back) * 1e3:.1f}", "ok")
                return
        except OSError:
            pass
        await asyncio.sleep(random.uniform(0.5, 1.5) * pause)
    print("h", f"{(time.monotonic() - started - back) * 1e3:.1f}", "NEVER")


async def main():
    await asyncio.gather(*[client() for _ in range(count)])


asyncio.run(main())
