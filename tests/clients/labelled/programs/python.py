# SPDX-License-Identifier: MIT
"""Python's clients. Debian's python3 is named by its path: another one may come first in PATH."""

from client import driver

PYTHON = ["/usr/bin/python3"]

CLIENTS = [
    driver("python urllib, 3 tries", PYTHON, "urllib_retry.py", "3"),
    driver("python urllib, 1 try", PYTHON, "urllib_retry.py", "1", retries=False),
]
