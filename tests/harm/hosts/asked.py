#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A service that is asked by datagrams, as RADIUS, SIP and DNS are: asked.py MANNER PORT TRIES LIVE DEAD.
A request is "NUMBER PATH"; it asks a server for the path by HTTP, that of paths in /d at DEAD, and answers
"NUMBER ok" or "NUMBER none". MANNER: threads (eight read the one socket), prefork (eight processes do), queue
(one reads, eight work), each (a thread for each request), asyncio. After a slash: pings, it asks the peer at
PORT + 1 something itself on its socket, before all else and each second."""

import asyncio
import os
import queue
import socket
import sys
import threading
import time

manner, _, pings = sys.argv[1].partition("/")
port, tries, live, dead = (int(word) for word in sys.argv[2:])
ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ours.bind(("127.0.0.1", port))


def ask_once(upstream, path):
    with socket.create_connection(("127.0.0.1", upstream), 2) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return b" 200 " in connection.recv(4096)


def serve(datagram, peer):
    number, path = datagram.decode().split()
    word = "none"
    for _ in range(tries):
        try:
            if ask_once(dead if path.startswith("/d") else live, path):
                word = "ok"
                break
        except OSError:
            pass
        time.sleep(0.01)
    ours.sendto(f"{number} {word}".encode(), peer)


def come():
    """What is asked; an answer to a ping is not."""
    while True:
        datagram, peer = ours.recvfrom(500)
        if datagram != b"pong":
            yield datagram, peer


def read_and_serve():
    for asked in come():
        serve(*asked)


def start(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


def threads():
    for _ in range(7):
        start(read_and_serve)
    read_and_serve()


def prefork():
    for _ in range(7):
        if os.fork() == 0:
            break
    read_and_serve()


def queued():
    waiting = queue.Queue()

    def work():
        while True:
            serve(*waiting.get())

    for _ in range(8):
        start(work)
    for asked in come():
        waiting.put(asked)


def each():
    for asked in come():
        start(serve, *asked)


class Loop(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, datagram, peer):
        if datagram != b"pong":
            asyncio.ensure_future(self.serve(datagram, peer))

    async def serve(self, datagram, peer):
        number, path = datagram.decode().split()
        word = "none"
        for _ in range(tries):
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", dead if path.startswith("/d") else live)
                writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                reply = await reader.read(4096)
                writer.close()
                if b" 200 " in reply:
                    word = "ok"
                    break
            except OSError:
                pass
            await asyncio.sleep(0.01)
        self.transport.sendto(f"{number} {word}".encode(), peer)


async def looped():
    await asyncio.get_running_loop().create_datagram_endpoint(Loop, sock=ours)
    await asyncio.sleep(1e9)


def ping():
    while True:
        ours.sendto(b"ping", ("127.0.0.1", port + 1))
        time.sleep(1)


if pings:
    ours.sendto(b"ping", ("127.0.0.1", port + 1))
    start(ping)
{"threads": threads, "prefork": prefork, "queue": queued, "each": each,
 "asyncio": lambda: asyncio.run(looped())}[manner]()
