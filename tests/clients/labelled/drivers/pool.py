# SPDX-License-Identifier: MIT
"""Worker threads fed by a queue. Usage: HOST PORT COUNT GAP same|requeue|none

A unit of work is one page; it is tried three times by the same worker (same), three times by
whichever worker takes it from the queue again (requeue), or once (none). GAP: seconds between two
new units."""

import http.client
import queue
import sys
import threading
import time

from unit import unit as say

host, port, count, gap, how = sys.argv[1:6]
WORKERS, TRIES, PAUSE = 8, 3, 0.02
work = queue.Queue()


def fetch(unit):
    say(unit)
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    try:
        connection.request("GET", f"/u/{unit}")
        return connection.getresponse().read() == b"done\n"
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def do_once(unit, tries):
    """Puts what failed back into the queue, a moment later."""
    if not fetch(unit) and tries > 1:
        threading.Timer(PAUSE, work.put, [(unit, tries - 1)]).start()
    else:
        done.release()


def do_thrice(unit, tries):
    while not fetch(unit) and tries > 1:
        tries -= 1
        time.sleep(PAUSE)
    done.release()


def worker():
    while True:
        (do_thrice if how == "same" else do_once)(*work.get())


done = threading.Semaphore(0)
for _ in range(WORKERS):
    threading.Thread(target=worker, daemon=True).start()
for n in range(int(count)):
    work.put((n, 1 if how == "none" else TRIES))
    time.sleep(float(gap))
for _ in range(int(count)):
    done.acquire()
