# SPDX-License-Identifier: MIT
# The redis client of Python, on blocking sockets with a timeout.
import os
import sys

import redis

how, host, port = sys.argv[1:4]
timeout = float(os.environ.get("TIMEOUT", "20"))
limits = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
if host.startswith("/"):
    client = redis.Redis(unix_socket_path=host, socket_timeout=timeout)
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
