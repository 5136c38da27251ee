# SPDX-License-Identifier: MIT
"""The failing server: knows which unit of work each connection carried, and what became of it.

A request names its unit. Whether it fails depends only on the seed, the unit and how often the unit
has been asked for, so that a run can be repeated whatever the order in which clients come."""

import hashlib
import selectors
import socket
import struct
import threading
import time
from dataclasses import dataclass, field

import protocols

RESET = struct.pack("ii", 1, 0)
FIRST = 3  # requests that are answered where some are; the witness refuses as many connects none


@dataclass
class Request:
    unit: str
    when: int  # monotonic ns, when it had been read
    failed: bool


@dataclass
class Connection:
    socket: object
    port: int  # of the client
    when: int  # monotonic ns, when it was accepted
    speech: object  # the protocol's state
    requests: list = field(default_factory=list)
    broken: int = 0  # monotonic ns, when the server ended it without a reason
    waiting: str = ""  # unit that was read but not answered (for protocols of several turns)


def chance(seed, *words):
    """A number from 0 to 1 that depends on nothing else."""
    text = "\0".join([str(seed), *map(str, words)]).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "big") / 2**48


class Server:
    """Runs in a thread of its own. fail: share of the requests that fail."""

    def __init__(self, port, protocol="http", fail=0.0, seed=1):
        self.port, self.fail, self.seed = port, fail, seed
        self.protocol = protocols.BY_NAME[protocol]
        self.connections = []  # every one there was, in the order of their acceptance
        self.asked = {}  # unit: how often
        self.answered = 0
        self.requests = 0
        self.outage = None  # (after how many answers, seconds)
        self.outages = []  # (from, to) in monotonic ns
        self.selector = selectors.DefaultSelector()
        self.listener = None
        self.stopping = False
        self._open()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _open(self):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("0.0.0.0", self.port))
        self.listener.listen(1024)
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ)

    def _serve(self):
        back = None
        while not self.stopping:
            for key, _ in self.selector.select(0.05):
                if key.fileobj is self.listener:
                    self._accept()
                elif key.data:
                    self._read(key.data)
            if self.outage and self.answered >= self.outage[0]:
                back = time.monotonic() + self.outage[1]
                self.outage = None
                self._go_down()
            if back and time.monotonic() >= back:
                back = None
                self._open()
                self.outages[-1] = (self.outages[-1][0], time.monotonic_ns())

    def _go_down(self):
        self.outages.append((time.monotonic_ns(), 0))
        self.selector.unregister(self.listener)
        self.listener.close()
        self.listener = None
        for key in list(self.selector.get_map().values()):
            key.data.broken = time.monotonic_ns()
            unit = key.data.waiting or getattr(key.data.speech, "under_way", "")
            if unit:
                key.data.requests.append(Request(unit, time.monotonic_ns(), True))
            # In order, or a client might lose an answer that it has not read yet.
            self._hang_up(key.data, bool(key.data.waiting))

    def _accept(self):
        while self.listener:
            try:
                s, (_, port) = self.listener.accept()
            except OSError:
                return
            s.setblocking(False)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(s, port, time.monotonic_ns(), self.protocol())
            self.connections.append(connection)
            self.selector.register(s, selectors.EVENT_READ, connection)

    def _spares(self):
        """A program that has never been answered meets the conditions in which nothing answers."""
        return self.requests <= FIRST and self.fail < 1

    def _hang_up(self, connection, reset=False):
        self.selector.unregister(connection.socket)
        if reset:
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        connection.socket.close()

    def _read(self, connection):
        try:
            data = connection.socket.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._hang_up(connection)
            return
        for unit, reply, last in connection.speech.feed(data):
            if unit:
                connection.waiting = unit
                self.requests += 1
                n = self.asked[unit] = self.asked.get(unit, 0) + 1
                failed = chance(self.seed, unit, n) < self.fail and not self._spares()
                connection.requests.append(Request(unit, time.monotonic_ns(), failed))
                if failed:
                    self._hang_up(connection, chance(self.seed, unit, n, "how") < 0.5)
                    return
                self.answered += 1
                connection.waiting = ""
            try:
                connection.socket.sendall(reply)
            except OSError:
                last = True
            if last:
                self._hang_up(connection)
                return

    def stop(self):
        self.stopping = True
        self.thread.join()
