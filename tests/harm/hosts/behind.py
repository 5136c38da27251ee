#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Asks a SOCKS 5 proxy for one server until it gets through: behind.py PORT SECONDS."""

import socket
import struct
import sys
import time


def reach(port):
    with socket.create_connection(("127.0.0.1", port), 5) as proxy:
        proxy.sendall(b"\5\1\0")
        if proxy.recv(2) != b"\5\0":
            raise OSError("no method")
        proxy.sendall(b"\5\1\0\1" + socket.inet_aton("10.0.0.1") + struct.pack(">H", 80))
        if proxy.recv(10)[1:2] != b"\0":
            raise OSError("the proxy cannot reach it")


end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    try:
        reach(int(sys.argv[1]))
    except OSError:
        pass
