#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Looks one name up again and again: look.py NAME SECONDS."""

import socket
import sys
import time

ended = time.monotonic() + float(sys.argv[2])
while time.monotonic() < ended:
    try:
        socket.getaddrinfo(sys.argv[1], 80)
    except OSError:
        pass
