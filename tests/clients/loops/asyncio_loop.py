# SPDX-License-Identifier: MIT
# An event loop: non-blocking sockets, lookups in threads.
import asyncio
import sys

how, host, port = sys.argv[1:4]


async def fetch():
    if host.startswith("/"):
        reader, writer = await asyncio.open_unix_connection(host)
    else:
        reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(b"hello from asyncio\n")
        line = await reader.readline()
    finally:
        writer.close()
    if line == b"error\n" or not line.endswith(b"\n"):
        raise OSError(line.decode().strip() or "no answer")
    return line.decode()


async def main():
    if how == "get":
        for _ in range(int(sys.argv[4])):
            sys.stdout.write(await fetch())
        return
    said = ""
    while True:
        try:
            sys.stdout.write(await fetch())
            return
        except OSError as e:
            if str(e) != said:
                said = str(e)
                print(said, file=sys.stderr)


asyncio.run(main())
