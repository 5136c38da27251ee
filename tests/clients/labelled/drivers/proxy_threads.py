# SPDX-License-Identifier: MIT
"""An accept-and-proxy daemon in blocking threads. Usage: HOST PORT LISTEN

One thread for each accepted connection, one connection to the backend for it, no retries."""

import socket
import sys
import threading

host, port, listen = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for s in (source, target):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def serve(client):
    with client, socket.socket() as backend:
        try:
            backend.connect((host, port))
        except OSError:
            return
        back = threading.Thread(target=pump, args=(backend, client))
        back.start()
        pump(client, backend)
        back.join()


with socket.create_server(("127.0.0.1", listen), backlog=256) as server:
    while True:
        accepted, _ = server.accept()
        threading.Thread(target=serve, args=(accepted,), daemon=True).start()
