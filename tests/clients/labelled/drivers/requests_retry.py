# SPDX-License-Identifier: MIT
"""requests with urllib3's own Retry, on kept connections. Usage: HOST PORT COUNT TRIES"""

import sys
import time

import requests
from requests.adapters import HTTPAdapter
from unit import unit
from urllib3.util.retry import Retry

host, port, count, tries = sys.argv[1], *map(int, sys.argv[2:5])
session = requests.Session()
session.mount("http://", HTTPAdapter(max_retries=Retry(tries - 1, backoff_factor=0.02)))
for name in range(count):
    unit(name)
    try:
        session.get(f"http://{host}:{port}/u/{name}", timeout=15)
    except requests.RequestException:
        pass
    time.sleep(0.005)
