# SPDX-License-Identifier: MIT
# An event loop: non-blocking sockets, lookups in threads.
import asyncio
import sys

how, host, port = sys.argv[1:4]


async def fetch():
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(b"hello from asyncio\n")
        line = await reader.readline()
    finally:
        writer.close()
    if not line:
        raise OSError("no answer")
    return line.decode()


async def main():
    if how == "get":
        for _ in range(int(sys.argv[4])):
            sys.stdout.write(await fetch())
        return
    while True:
        try:
            sys.stdout.write(await fetch())
            return
        except OSError:
            pass


asyncio.run(main())
