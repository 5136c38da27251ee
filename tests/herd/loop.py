# SPDX-License-Identifier: MIT
"""The looping client of a herd: tries loopback:PORT every 10 ms until it is answered."""

import socket
import sys
import time

while True:
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
            s.sendall(b"?")
            if s.recv(1):
                break
    except OSError:
        pass
    time.sleep(0.01)
