#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Waits until a port is up: 50 tries, 0.1 s apart."""
import socket
import sys
import time

began = time.monotonic()
for _ in range(50):
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1).close()
        print("h", f"{(time.monotonic() - began) * 1e3:.0f}", "ok")
        break
    except OSError:
        time.sleep(0.1)
