# SPDX-License-Identifier: MIT
"""An accept-and-proxy daemon in one thread. Usage: HOST PORT LISTEN

Non-blocking sockets and epoll, one connection to the backend for each accepted one, no retries."""

import errno
import select
import socket
import sys

backend, listen = (sys.argv[1], int(sys.argv[2])), int(sys.argv[3])
epoll = select.epoll()
server = socket.create_server(("127.0.0.1", listen), backlog=256)
server.setblocking(False)
epoll.register(server, select.EPOLLIN)
pairs = {}  # number: (its socket, the other side's)
connecting = set()


def accept():
    client, _ = server.accept()
    upstream = socket.socket()
    for s in (client, upstream):
        s.setblocking(False)
    code = upstream.connect_ex(backend)
    if code not in (0, errno.EINPROGRESS):
        client.close()
        upstream.close()
        return
    pairs[client.fileno()], pairs[upstream.fileno()] = (client, upstream), (upstream, client)
    connecting.add(upstream.fileno())
    epoll.register(upstream, select.EPOLLOUT)


def end(mine, other):
    for s in (mine, other):
        pairs.pop(s.fileno(), None)
        connecting.discard(s.fileno())
        s.close()


def ready(number):
    mine, other = pairs[number]
    if number in connecting:
        if mine.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            end(mine, other)
            return
        connecting.remove(number)
        epoll.modify(mine, select.EPOLLIN)
        epoll.register(other, select.EPOLLIN)
        return
    try:
        data = mine.recv(65536)
        if data:
            other.send(data)  # pages are small: the socket's buffer takes them whole
            return
    except OSError:
        pass
    end(mine, other)


while True:
    for number, _ in epoll.poll():
        if number == server.fileno():
            accept()
        elif number in pairs:
            ready(number)
