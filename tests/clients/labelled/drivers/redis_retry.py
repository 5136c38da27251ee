# SPDX-License-Identifier: MIT
"""redis-py with its own Retry, on kept connections. Usage: HOST PORT COUNT TRIES"""

import sys
import time

import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry
from unit import unit

host, port, count, tries = sys.argv[1], *map(int, sys.argv[2:5])
errors = [redis.exceptions.ConnectionError]
client = redis.Redis(host, port, retry=Retry(ConstantBackoff(0.03), tries - 1),
                     retry_on_error=errors, socket_timeout=15)
for name in range(count):
    unit(name)
    try:
        client.get(f"u:{name}")
    except redis.exceptions.RedisError:
        pass
    time.sleep(0.005)
