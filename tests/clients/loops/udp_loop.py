# SPDX-License-Identifier: MIT
# A connected datagram socket: each request is sent 20 times, and nobody answers.
# udp_loop.py HOST PORT
import os
import socket
import sys

answered = 0
for _ in range(10):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(float(os.environ.get("TIMEOUT", "1")))
        s.connect((sys.argv[1], int(sys.argv[2])))
        for _ in range(20):
            try:
                s.send(b"anybody?")
                answered += len(s.recv(100)) > 0
            except OSError as e:
                print(e, file=sys.stderr)
sys.exit(not answered)
