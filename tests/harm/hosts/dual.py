#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""An event loop that asks a name of two addresses, one at which nobody listens, many times at once:
dual.py NAME PORT SECONDS AT_ONCE"""

import asyncio
import sys
import time

name, port, seconds, at_once = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
END = time.monotonic() + seconds


async def ask():
    since, word = time.monotonic(), "ok"
    try:
        reader, writer = await asyncio.open_connection(name, port, happy_eyeballs_delay=0.25)
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        if not await reader.read(4096):
            word = "EOF"
        writer.close()
    except OSError as error:
        word = type(error).__name__
    print("h", f"{(time.monotonic() - since) * 1e3:.2f}", word, flush=True)


async def main():
    while time.monotonic() < END:
        await asyncio.gather(*(ask() for _ in range(at_once)))
        await asyncio.sleep(1)


asyncio.run(main())
