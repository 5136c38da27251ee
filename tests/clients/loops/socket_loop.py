# SPDX-License-Identifier: MIT
# Python's sockets with a timeout: non-blocking underneath, and polled at once.
import os
import socket
import sys

how, host, port = sys.argv[1:4]


timeout = float(os.environ.get("TIMEOUT", "20"))


def connect():
    if not host.startswith("/"):
        return socket.create_connection((host, int(port)), timeout=timeout)
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(timeout)
    try:
        s.connect(host)
    except OSError:
        s.close()
        raise
    return s


def fetch():
    with connect() as s, s.makefile("rw") as f:
        f.write("hello from python\n")
        f.flush()
        line = f.readline()
        if line == "error\n" or not line.endswith("\n"):
            raise OSError(line.strip() or "no answer")
        return line


if how == "get":
    for _ in range(int(sys.argv[4])):
        sys.stdout.write(fetch())
    sys.exit(0)
said = ""
while True:
    try:
        sys.stdout.write(fetch())
        break
    except OSError as e:
        if str(e) != said:
            said = str(e)
            print(said, file=sys.stderr)
