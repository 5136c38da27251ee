# SPDX-License-Identifier: MIT
# requests on urllib3, with a session that keeps its connections.
import os
import sys

import requests

how, host, port = sys.argv[1:4]
timeout = float(os.environ.get("TIMEOUT", "20"))
session = requests.Session()
session.trust_env = False
said = ""
while True:
    try:
        reply = session.get(f"http://{host}:{port}/", timeout=timeout)
        reply.raise_for_status()
        sys.stdout.write(reply.text)
        break
    except requests.RequestException as e:
        if type(e).__name__ != said:  # the text holds addresses of objects
            said = type(e).__name__
            print(e, file=sys.stderr)
