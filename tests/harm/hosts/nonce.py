#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Twenty requests a second, one after the other, each tried again at once until it works: every try
has another URL, and a connection of its own. Usage: nonce.py PORT SECONDS"""

import socket
import sys
import time

port, end, number = int(sys.argv[1]), time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < end:
    number += 1
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as fd:
            fd.sendall(f"GET /s?nonce={number} HTTP/1.0\r\n\r\n".encode())
            works = b" 200 " in fd.recv(300)[:20]
    except OSError:
        works = False
    if works:
        time.sleep(0.05)
