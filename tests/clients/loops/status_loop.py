# SPDX-License-Identifier: MIT
# Asks at once again until the server says 200, on one connection as long as that lasts.
# Usage: status_loop.py http.client|requests|urllib HOST PORT [TIMEOUT]
import http.client
import sys
import urllib.error
import urllib.request

how, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
timeout = float(sys.argv[4]) if len(sys.argv) > 4 else None


def by_http_client():
    connection = http.client.HTTPConnection(host, port, timeout=timeout)

    def ask():
        try:
            connection.request("GET", "/")
            reply = connection.getresponse()
            return reply.status, reply.read().decode()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise

    return ask


def by_requests():
    import requests

    session = requests.Session()
    session.trust_env = False

    def ask():
        reply = session.get(f"http://{host}:{port}/", timeout=timeout)
        return reply.status_code, reply.text

    return ask


def by_urllib():
    def ask():
        try:
            with urllib.request.urlopen(f"http://{host}:{port}/", timeout=timeout) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, ""

    return ask


ask = {"http.client": by_http_client, "requests": by_requests, "urllib": by_urllib}[how]()
while True:
    try:
        status, text = ask()
    except (OSError, http.client.HTTPException) as e:
        print(repr(e), file=sys.stderr)
        continue
    if status == 200:
        sys.stdout.write(text)
        break
