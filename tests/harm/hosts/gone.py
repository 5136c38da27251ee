#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""An event loop tries one URL again 0.3 s after each reply that is no 200, and at once after an
error. Five times a second in the first three seconds it asks for something else as well.
Usage: gone.py PORT SECONDS"""

import asyncio
import sys
import time


async def ask(port, path):
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        reply = await reader.read(300)
        writer.close()
        return reply
    except OSError:
        return b""


async def tries(port, end):
    while time.monotonic() < end:
        await asyncio.sleep(0.3 if await ask(port, "/d") else 0)


async def asks(port):
    for number in range(15):
        await asyncio.gather(ask(port, f"/h{number}"), asyncio.sleep(0.2))


async def main():
    port, end = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    await asyncio.gather(tries(port, end), asks(port))


asyncio.run(main())
