# SPDX-License-Identifier: MIT
"""Clients with a second of timeout, who do not care how the others fare."""

import asyncio
import time
from collections import Counter

TIMEOUT = 1.0  # seconds


def kind_of(reply):
    if not reply:
        return "end"
    if b"200 OK" in reply.split(b"\r\n")[0]:
        return "served"
    return "503" if reply.startswith(b"HTTP/1.1 503 ") and b"Retry-After: " in reply else "other"


async def read_reply(reader):
    reply = b""
    while piece := await reader.read(65536):
        reply += piece
        if b"\r\n\r\nok\n" in reply:
            break
    return reply


async def ask(port, path, pause=0.0):
    """One visit; returns what came of it. pause: seconds between the connect and the request."""
    writer = None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        if pause:
            await asyncio.sleep(pause)
        writer.write(f"GET {path} HTTP/1.0\r\nHost: x\r\n\r\n".encode())
        return kind_of(await read_reply(reader))
    except ConnectionError:
        return "reset"
    finally:
        if writer:
            writer.transport.abort()


async def visit(port, path, timeout=TIMEOUT, pause=0.0):
    try:
        return await asyncio.wait_for(ask(port, path, pause), timeout)
    except asyncio.TimeoutError:
        return "late"


async def closed(port, path, clients, seconds):
    """So many clients, one visit after the other: replies per second. Twice as many as the server has
    workers never leave one of them without work."""
    end = time.monotonic() + seconds
    served = 0

    async def client():
        nonlocal served
        while time.monotonic() < end:
            good = await visit(port, path, 10) == "served"
            served += good and time.monotonic() < end

    await asyncio.gather(*(client() for _ in range(clients)))
    return served / seconds


async def opened(port, path, rate, seconds, count_from):
    """A new client every 1/rate s, whatever became of the others; what became of those that came
    after count_from seconds, as replies per second. And of all the number served, and the seconds from
    the first that came to the last that was."""
    started = time.monotonic()
    tasks, served = [], []

    async def come():
        result = await visit(port, path)
        if result == "served":
            served.append(time.monotonic() - started)
        return result

    for i in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, started + i / rate - time.monotonic()))
        tasks.append((i / rate, asyncio.ensure_future(come())))
    await asyncio.gather(*(task for _, task in tasks))
    counted = Counter(task.result() for at, task in tasks if at >= count_from)
    rates = {kind: n / (seconds - count_from) for kind, n in counted.items()}
    return rates, len(served), max(served, default=0)


async def crowd(port, path, n, pause=0.0):
    """All at once; each waits until it knows."""
    return Counter(await asyncio.gather(*(visit(port, path, 15, pause) for _ in range(n))))
