# SPDX-License-Identifier: MIT
"""urllib: up to TRIES tries for each unit, a pause between them. Usage: HOST PORT COUNT TRIES"""

import sys
import time
import urllib.request

from unit import unit

host, port, count, tries = sys.argv[1], *map(int, sys.argv[2:5])
for name in range(count):
    unit(name)
    for _ in range(tries):
        try:
            urllib.request.urlopen(f"http://{host}:{port}/u/{name}", timeout=15).read()
            break
        except OSError:
            time.sleep(0.03)
    time.sleep(0.005)
