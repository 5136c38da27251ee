# SPDX-License-Identifier: MIT
"""A crawler. Usage: HOST PORT COUNT GAP AGAIN

Four threads ask many servers (all at PORT of 127.0.1.0/24), each for a page in turn. AGAIN 1: what
failed is asked for once more at the end; 0: never. GAP: seconds between two pages."""

import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException

from unit import unit as say

port, count, gap, again = sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5] == "1"
SITES = 50
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def fetch(unit):
    say(unit)
    try:
        with direct.open(f"http://127.0.1.{unit % SITES + 1}:{port}/u/{unit}", timeout=5) as page:
            page.read()
        return None
    except (OSError, HTTPException):
        return unit


def crawl(pages):
    tasks = []
    with ThreadPoolExecutor(4) as pool:
        for page in pages:
            tasks.append(pool.submit(fetch, page))
            time.sleep(gap)
    return [task.result() for task in tasks if task.result() is not None]


failed = crawl(range(count))
if again:
    crawl(failed)
