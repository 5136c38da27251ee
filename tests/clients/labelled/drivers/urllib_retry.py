# SPDX-License-Identifier: MIT
"""urllib: up to TRIES tries for each unit, a pause between them. Usage: HOST PORT COUNT TRIES"""

import sys
import time
import urllib.request

host, port, count, tries = sys.argv[1], *map(int, sys.argv[2:5])


def unit_is(unit):
    try:
        open(f"/.unit/{unit}").close()
    except OSError:
        pass


for unit in range(count):
    unit_is(unit)
    for n in range(tries):
        try:
            urllib.request.urlopen(f"http://{host}:{port}/u/{unit}", timeout=5).read()
            break
        except OSError:
            time.sleep(0.03)
    time.sleep(0.005)
