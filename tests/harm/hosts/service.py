#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A service on asyncio: service.py PORT LIVE DEAD (relays, 3 tries) or service.py PORT storm DEAD
(answers itself, and connects again to DEAD whenever the connection ended, without a pause)."""

import asyncio
import sys

port, live, dead = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])


async def fetch(upstream, path):
    for _ in range(3):
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", upstream)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            text = (await reader.read()).decode()
            writer.close()
            if text:
                return "200 OK", text.split("\r\n\r\n", 1)[1]
        except OSError:
            pass
    return "502 Bad Gateway", "none"


async def serve(reader, writer):
    try:
        while head := (await reader.readuntil(b"\r\n\r\n")).decode():
            path = head.split(" ", 2)[1]
            status, body = "200 OK", path
            if live != "storm":
                status, body = await fetch(dead if path.startswith("/d") else int(live), path)
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            if "Connection: close" in head:
                break
    except (OSError, asyncio.IncompleteReadError):
        pass
    writer.close()


async def storm():
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", dead)
            await reader.read()
            writer.close()
        except OSError:
            pass


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1000)
    if live == "storm":
        asyncio.create_task(storm())
    await server.serve_forever()


asyncio.run(main())
