# SPDX-License-Identifier: MIT
"""A SOCKS 5 proxy on loopback (RFC 1928) that counts what it is asked for. Whatever the address, it
connects to a port of this machine's loopback; it also resolves names as Tor's does."""

import socket
import socketserver
import threading

PROXY = 9050
CONNECT, RESOLVE = 1, 0xF0
DONE, UNREACHABLE, REFUSED = 0, 4, 5


def read(stream, n):
    data = stream.recv(n, socket.MSG_WAITALL)
    if len(data) < n:
        raise EOFError
    return data


def relay(a, b):
    """Until one end is closed, in one direction; then says so to the other."""
    try:
        while data := a.recv(65536):
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Handler(socketserver.BaseRequestHandler):
    def answer(self, code):
        self.request.sendall(bytes([5, code, 0, 1, 127, 0, 0, 1, 0, 0]))

    def handle(self):
        try:
            self.serve()
        except (EOFError, OSError):
            pass  # the client has gone

    def serve(self):
        methods = read(self.request, 2)[1]
        read(self.request, methods)
        self.request.sendall(bytes([5, 0]))
        _, command, _, kind = read(self.request, 4)
        name = read(self.request, 4 if kind == 1 else read(self.request, 1)[0])
        read(self.request, 2)
        if command == RESOLVE:
            self.answer(UNREACHABLE if b"nxdomain" in name else DONE)
            return
        with self.server.lock:
            self.server.asked += 1
        try:
            server = socket.create_connection(("127.0.0.1", self.server.behind))
        except OSError:
            self.answer(REFUSED)
            return
        with server:
            self.answer(DONE)
            back = threading.Thread(target=relay, args=(server, self.request))
            back.start()
            relay(self.request, server)
            back.join()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 1024


class Socks:
    def __init__(self, behind):
        self.server = Server(("127.0.0.1", PROXY), Handler)
        self.server.behind, self.server.asked = behind, 0
        self.server.lock = threading.Lock()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def asked(self):
        return self.server.asked
