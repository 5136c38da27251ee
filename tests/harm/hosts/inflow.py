#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Receives datagrams beside a connection of its own, which it makes again without a pause whenever it has
failed: inflow.py MANNER PORT DEAD [answers [pings]]. MANNER: threads (one receives, another connects), same
(one does both, and connects for each datagram while it has no connection), asyncio. It answers each
datagram, or none as a log or statsd does. pings: it asks the peer at PORT + 1 each second."""

import asyncio
import socket
import sys
import threading
import time

manner, port, dead = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
answers, pings = "answers" in sys.argv, "pings" in sys.argv
ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
ours.bind(("127.0.0.1", port))


def connect():
    try:
        with socket.create_connection(("127.0.0.1", dead), 2) as connection:
            connection.recv(100)
    except OSError:
        pass


def answer(datagram, peer):
    if answers and datagram != b"pong":
        ours.sendto(datagram.split()[0] + b" ok", peer)


def receive(then=None):
    while True:
        answer(*ours.recvfrom(500))
        if then:
            then()


def for_ever(function):
    while True:
        function()


def ping():
    while True:
        ours.sendto(b"ping", ("127.0.0.1", port + 1))
        time.sleep(1)


class Loop(asyncio.DatagramProtocol):
    def datagram_received(self, datagram, peer):
        answer(datagram, peer)


async def looped():
    await asyncio.get_running_loop().create_datagram_endpoint(Loop, sock=ours)
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", dead)
            await reader.read(100)
            writer.close()
        except OSError:
            await asyncio.sleep(0)


if pings:
    ours.sendto(b"ping", ("127.0.0.1", port + 1))
    threading.Thread(target=ping, daemon=True).start()
if manner == "threads":
    threading.Thread(target=for_ever, args=(connect,), daemon=True).start()
    receive()
elif manner == "same":
    receive(connect)
else:
    asyncio.run(looped())
