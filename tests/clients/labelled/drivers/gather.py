# SPDX-License-Identifier: MIT
"""asyncio.gather over all pages, no retries. Usage: HOST PORT COUNT GAP AT_ONCE

AT_ONCE pages are asked for together; each pauses for GAP seconds first."""

import asyncio
import sys

from unit import next_try

host, port, count, gap = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
at_once = asyncio.Semaphore(int(sys.argv[5]))


async def fetch(unit):
    async with at_once:
        await asyncio.sleep(gap)
        next_try(unit)
        try:
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(f"GET /u/{unit} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                await reader.readuntil(b"\r\n\r\n")
            finally:
                writer.close()
        except (OSError, EOFError):
            pass


async def main():
    await asyncio.gather(*(fetch(unit) for unit in range(count)))


asyncio.run(main())
