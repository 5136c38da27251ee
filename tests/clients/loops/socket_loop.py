# SPDX-License-Identifier: MIT
# Python's sockets with a timeout: non-blocking underneath, and polled at once.
import socket
import sys

how, host, port = sys.argv[1:4]


def fetch():
    with socket.create_connection((host, int(port)), timeout=20) as s, s.makefile("rw") as f:
        f.write("hello from python\n")
        f.flush()
        line = f.readline()
        if not line:
            raise OSError("no answer")
        return line


if how == "get":
    for _ in range(int(sys.argv[4])):
        sys.stdout.write(fetch())
    sys.exit(0)
while True:
    try:
        sys.stdout.write(fetch())
        break
    except OSError:
        pass
