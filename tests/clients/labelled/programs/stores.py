# SPDX-License-Identifier: MIT
"""Clients of memcached, of an MQTT broker and of PostgreSQL. Where a loop starts a process for each
try, its budget has to outlive the process: scope = user."""

import os

from client import DRIVERS, EachUnit, driver
from workers import Paced

SHARED = "scope = user"
PYTHON = ["/usr/bin/python3", "-B"]



def memcached(how, **more):
    command = [*PYTHON, os.path.join(DRIVERS, "memcached.py"), "{host}", "{port}", "{count}",
               "{gap}", "3", how]
    return Paced(f"libmemcached, {how}", command, protocol="memcached", refuse=True, **more)


CLIENTS = [
    memcached("kept", units=80, fewer={"50 %": 30, "100 %": 15}),
    memcached("fresh", fresh=True),
    driver("mosquitto_pub loop", ["bash"], "mosquitto.bash", "3", protocol="mqtt", settings=SHARED,
           fresh=True),
    # The broker hangs up on each; it comes again a second later, until -W seconds are over.
    EachUnit("mosquitto_sub", ["mosquitto_sub", "-h", "{host}", "-p", "{port}", "-i", "{unit}",
                               "-t", "work", "-W", "10"],
             protocol="mqtt", units=12),
    driver("pgbench -C loop", ["bash"], "pgbench.bash", "3", protocol="postgres", settings=SHARED,
           units=50),
]
