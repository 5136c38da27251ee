# SPDX-License-Identifier: MIT
"""The looping client of a herd: tries loopback:PORT every 10 ms until it is answered, from the end of
its standard input on."""

import os
import socket
import sys
import time

os.read(0, 1)  # until all have started
while True:
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
            s.sendall(b"?")
            if s.recv(1):
                break
    except OSError:
        pass
    time.sleep(0.01)
