#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Work that comes in bursts: bursts.py MANNER PORT COUNT SECONDS EVERY. Each EVERY seconds COUNT pieces of work
begin at once, each on a connection of its own. MANNER:
  plain   no more than that
  late    of each burst a twentieth more is for URLs that hang, and is given up last
  quit=S  the connections stay, and say goodbye S seconds later: the server's answer is their end
  stale   the connections stay, and ask again in the next burst; what meets a dead one connects anew"""

import asyncio
import errno
import sys
import time

manner, _, after = sys.argv[1].partition("=")
port, count = int(sys.argv[2]), int(sys.argv[3])
kind = "p" if manner == "plain" else "h"
seconds, every = float(sys.argv[4]), float(sys.argv[5])
kept = {}


async def asked(streams, text):
    """What came of one question; None: the end."""
    reader, writer = streams
    writer.write(text.encode())
    if manner == "quit":
        return "ok" if await reader.read(100) == text.encode() else None
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(int(head.lower().split(b"content-length:")[1].split()[0]))
    return "ok" if head.split()[1] == b"200" and body.decode() == text.split()[1] else f"HTTP{head.split()[1].decode()}"


def question(kind, number):
    if manner == "quit":
        return f"get {number}\r\n"
    return f"GET /{kind}{number} HTTP/1.1\r\nHost: x\r\n\r\n"


async def job(place, number):
    began = time.monotonic()
    streams = kept.pop(place, None)
    word = None
    if streams:
        try:
            word = await asked(streams, question("h", number))
        except (OSError, asyncio.IncompleteReadError):
            streams[1].close()  # as every pool does: it may have ended long ago
    try:
        if not word:
            streams = await asyncio.open_connection("127.0.0.1", port)
            word = await asked(streams, question("h", number)) or "EOF"
        if manner in ("quit", "stale"):
            kept[place] = streams
        else:
            streams[1].close()
    except asyncio.IncompleteReadError:
        word = "EOF"
    except OSError as error:
        word = errno.errorcode.get(error.errno, "?")
    print(kind, f"{(time.monotonic() - began) * 1e3:.2f}", word)


async def give_up(number):
    """Hangs for a while, and is no work that is counted."""
    streams = None
    try:
        streams = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.wait_for(asked(streams, question("d", number)), 1.5)
    except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
        pass
    if streams:
        streams[1].close()


async def leave():
    for reader, writer in kept.values():
        writer.write(b"quit\r\n")
    for reader, writer in kept.values():
        await reader.read(1)
        writer.close()
    kept.clear()


async def main():
    started = time.monotonic()
    burst = 0
    while burst * every < seconds - 1:
        await asyncio.sleep(max(0, started + burst * every - time.monotonic()))
        late = [asyncio.create_task(give_up(burst * 1000 + i)) for i in range(count // 20 if manner == "late" else 0)]
        await asyncio.gather(*[job(i, burst * 1000 + i) for i in range(count)])
        if manner == "quit":
            await asyncio.sleep(float(after))
            await leave()
        await asyncio.gather(*late)
        burst += 1


asyncio.run(main())
