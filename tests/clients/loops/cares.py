# SPDX-License-Identifier: MIT
"""Asks 127.0.0.1 for the address of a name, n times, with c-ares. MS: until the first repetition.
Usage: cares.py NAME N TRIES MS"""

import select
import sys

import pycares

name, queries, tries, ms = sys.argv[1], *map(int, sys.argv[2:5])
channel = pycares.Channel(servers=["127.0.0.1"], timeout=ms / 1000, tries=tries, lookups="b")


def answered(result, error):
    print(pycares.errno.strerror(error) if error else result[0].host)


for _ in range(queries):
    channel.query(name, pycares.QUERY_TYPE_A, answered)
    while True:
        readable, writable = channel.getsock()
        if not readable and not writable:
            break
        readable, writable, _none = select.select(readable, writable, [], channel.timeout())
        for fd in readable:
            channel.process_fd(fd, pycares.ARES_SOCKET_BAD)
        for fd in writable:
            channel.process_fd(pycares.ARES_SOCKET_BAD, fd)
        if not readable and not writable:
            channel.process_fd(pycares.ARES_SOCKET_BAD, pycares.ARES_SOCKET_BAD)
