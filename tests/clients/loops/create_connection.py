# SPDX-License-Identifier: MIT
# Python's sockets without a timeout: a plain blocking connect.
import socket
import sys

host, port = sys.argv[1], int(sys.argv[2])
while True:
    try:
        with socket.create_connection((host, port)) as s:
            s.sendall(b"hello from python\n")
            line = s.makefile().readline()
        if line:
            sys.stdout.write(line)
            break
    except OSError as e:
        print(e, file=sys.stderr)
