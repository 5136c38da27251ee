# SPDX-License-Identifier: MIT
"""libmemcached by pylibmc: up to TRIES tries for each unit. Usage: HOST PORT COUNT GAP TRIES HOW

HOW kept: one connection, made anew by the next command after it broke, a second between two tries.
HOW fresh: a client for each try, as in a script that runs for each page, and a short pause."""

import sys
import time

import pylibmc
from unit import unit

address, count, gap = ":".join(sys.argv[1:3]), int(sys.argv[3]), float(sys.argv[4])
tries, fresh = int(sys.argv[5]), sys.argv[6] == "fresh"
PAUSE = 0.02 if fresh else 1.01  # libmemcached leaves a server alone until the clock's next second


def connect():
    return pylibmc.Client([address], behaviors={"connect_timeout": 5000, "retry_timeout": 0})


client = connect()
for name in range(count):
    unit(name)
    for _ in range(tries):
        try:
            client = connect() if fresh else client
            client.get(f"u:{name}")
            break
        except pylibmc.Error:
            time.sleep(PAUSE)
    time.sleep(gap)
