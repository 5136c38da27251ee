# SPDX-License-Identifier: MIT
"""Python's clients. Debian's python3 is named by its path: another one may come first in PATH."""

from client import driver

PYTHON = ["/usr/bin/python3", "-B"]

CLIENTS = [
    driver("python urllib", PYTHON, "urllib_tries.py", "3", named=True),
    driver("python urllib, one try", PYTHON, "urllib_tries.py", "1", retries=False),
    driver("python requests Retry", PYTHON, "requests_retry.py", "4"),
    driver("python asyncio", PYTHON, "asyncio_tries.py", "3"),
    driver("python redis Retry", PYTHON, "redis_retry.py", "4", protocol="redis"),
]
