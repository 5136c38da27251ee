# SPDX-License-Identifier: MIT
"""Shell loops and redis-cli. Their budget has to outlive the process: scope = user."""

from client import driver

CLIENTS = [
    driver("shell loop of curl", ["bash"], "until.bash", "3", settings="scope = user", units=100),
    driver("redis-cli", ["bash"], "redis_cli.bash", protocol="redis"),
]
