# SPDX-License-Identifier: MIT
"""Starts a program again as soon as it has failed. Usage: HOST PORT COUNT HOW

HOW: restart: at once, as a supervisor's child, until it is answered. unit: the same, each in a session of
its own, as systemd starts what has Restart=always. cron: every 0.2 s, likewise, whatever became of the
last; what could not be delivered is tried again by the next. same, due: as unit and cron, but always by the
same command, and of due each run is work of its own."""

import subprocess
import sys
import time

from unit import unit as say

host, port, count, how = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]


def run(unit):
    say(unit)
    url = f"http://{host}:{port}/u/{unit}"
    command = ["curl", "-sfq", "--noproxy", "*", "-o", "/dev/null", url]
    if how in ("same", "due"):
        with open("job", "w", encoding="ascii") as f:
            f.write(f"url = {url}\n")
        command[-1:] = ["-K", "job"]
    return subprocess.call(command, start_new_session=how != "restart") == 0


for unit in range(count):
    due = time.monotonic()
    while not run(unit) and how != "due":
        due += 0.2
        if how == "cron":
            time.sleep(max(0, due - time.monotonic()))
    if how == "due":
        time.sleep(max(0, due + 0.2 - time.monotonic()))
