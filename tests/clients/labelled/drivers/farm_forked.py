# SPDX-License-Identifier: MIT
"""A farm of forked workers, which all have the same arguments, and are handed a job each. One that has failed
is handed to whoever is free next. Usage: HOST PORT COUNT HOW

HOW: kept: a worker lives on. anew: one whose job has failed ends, and another is forked."""

import os
import signal
import struct
import sys
import time

from farm_orders import work

WORKERS = 4
PAUSE = 0.05  # of a worker, after a failure
WORD = struct.Struct("iii")  # a unit, whether it was done, and by whom

host, port, count, how = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
jobs, hand = os.pipe()
heard, tell = os.pipe()


def serve():
    while True:
        unit, _, _ = WORD.unpack(os.read(jobs, WORD.size))
        done = work(host, port, str(unit))
        if not done:
            time.sleep(PAUSE)
        os.write(tell, WORD.pack(unit, done, os.getpid()))
        if not done and how == "anew":
            os._exit(1)


def fork():
    pid = os.fork()
    if pid == 0:
        serve()
    return pid


signal.signal(signal.SIGCHLD, signal.SIG_IGN)
workers = [fork() for _ in range(WORKERS)]
left = list(range(count))
for _ in range(WORKERS):
    os.write(hand, WORD.pack(left.pop(0), 0, 0))
under_way = WORKERS
while under_way:
    unit, done, worker = WORD.unpack(os.read(heard, WORD.size))
    under_way -= 1
    if not done:
        left.insert(0, unit)
        if how == "anew":
            workers.remove(worker)
            workers.append(fork())
    if left:
        os.write(hand, WORD.pack(left.pop(0), 0, 0))
        under_way += 1
for pid in workers:
    os.kill(pid, signal.SIGKILL)
