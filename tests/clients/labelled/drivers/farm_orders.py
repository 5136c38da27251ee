# SPDX-License-Identifier: MIT
"""A worker of the first service (farm.py): one try. Usage: HOST PORT UNIT"""

import socket
import sys
import time

from unit import unit as say


def work(host, port, unit):
    say(unit)
    try:
        with socket.create_connection((host, int(port)), 5) as s:
            s.sendall(f"GET /u/{unit} HTTP/1.0\r\n\r\n".encode())
            return b"done" in s.recv(1000)
    except OSError:
        return False


if __name__ == "__main__":
    if not work(*sys.argv[1:4]):
        time.sleep(0.02)
        sys.exit(1)
