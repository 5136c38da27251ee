# SPDX-License-Identifier: MIT
"""An event loop with several chains of tries, none of which ever gives up: each asks for something
of its own. Usage: chains.py SECONDS PORTxCHAINSxPAUSE-MSxLETTER... (with which its
paths begin). Of paths in /h it tells as pool does; each is due at its time, the others that long
after they have failed."""

import asyncio
import errno
import sys
import time


async def ask(port, path):
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        reply = await reader.read(400)
        writer.close()
        return "ok" if b" 200 " in reply else "HTTP" if reply else "EOF"
    except OSError as e:
        return errno.errorcode.get(e.errno, "OSError")


async def chain(port, path, end, pause):
    due = time.monotonic()
    while due < end:
        result = await ask(port, path)
        if path[1] == "h":
            print("h", (time.monotonic() - due) * 1e3, result)
            due += pause
        else:
            due = time.monotonic() + pause
        await asyncio.sleep(due - time.monotonic() if pause else 0)


async def main():
    end, chains = time.monotonic() + float(sys.argv[1]), []
    for word in sys.argv[2:]:
        port, count, pause, letter = word.split("x")
        chains += [chain(int(port), f"/{letter}{i}", end, float(pause) / 1e3) for i in range(int(count))]
    await asyncio.gather(*chains)


asyncio.run(main())
