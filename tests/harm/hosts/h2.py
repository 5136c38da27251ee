#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A load over HTTP/2: h2.py PORT SECONDS KIND RATE. Ten connections of ten streams, by h2load."""

import os
import subprocess
import sys

port, seconds, kind, rate = sys.argv[1], float(sys.argv[2]), sys.argv[3], int(sys.argv[4])
# One that is late is late in the log too: the count ends it, not the clock.
subprocess.run(
    ["h2load", "-n", str(int(seconds * rate)), "-c", "10", "-m", "10", f"--rps={rate // 10}",
     "--log-file=h2.log", f"http://127.0.0.1:{port}/{kind}"],
    stdout=subprocess.DEVNULL, check=False, timeout=seconds + 30)
with open("h2.log", encoding="ascii") as log:
    for line in log:
        _, status, took = line.split()
        print(kind, f"{int(took) / 1e3:.2f}", "ok" if status == "200" else f"HTTP{status}")
os.unlink("h2.log")
