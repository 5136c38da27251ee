# SPDX-License-Identifier: MIT
"""Two services with a farm of workers each, which know nothing of each other; a worker that fails ends,
and another one takes its work. Usage: HOST PORT COUNT"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WORKERS = 3


def serve(name, count, first, step):
    """One service: its workers take turns at every step-th unit."""
    host, port = sys.argv[1:3]
    running = {}
    left = list(range(first, count, step))
    while left or running:
        while left and len(running) < WORKERS:
            unit = left.pop(0)
            worker = [sys.executable, "-B", os.path.join(HERE, name), host, port, str(unit)]
            running[subprocess.Popen(worker).pid] = unit
        pid, status = os.wait()
        unit = running.pop(pid)
        if status:
            left.insert(0, unit)


if __name__ == "__main__":
    if len(sys.argv) > 4:
        serve(sys.argv[4], int(sys.argv[3]), int(sys.argv[5]), 2)
    else:
        masters = [
            subprocess.Popen([sys.executable, "-B", __file__, *sys.argv[1:4], name, str(n)],
                             start_new_session=True)
            for n, name in enumerate(("farm_orders.py", "farm_mail.py"))
        ]
        for master in masters:
            master.wait()
