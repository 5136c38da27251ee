# SPDX-License-Identifier: MIT
# The redis client of Python, on blocking sockets with a timeout.
import os
import sys

import redis

how, host, port = sys.argv[1:4]
patience = float(os.environ.get("PATIENCE", "20"))
limits = {"socket_timeout": patience, "socket_connect_timeout": patience}
if host.startswith("/"):
    client = redis.Redis(unix_socket_path=host, socket_timeout=patience)
else:
    client = redis.Redis(host, int(port), **limits)
said = ""
while True:
    try:
        print("PONG" if client.ping() else "no pong")
        break
    except redis.RedisError as e:
        if str(e) != said:
            said = str(e)
            print(said, file=sys.stderr)
