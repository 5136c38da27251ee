# SPDX-License-Identifier: MIT
"""A prefork server. Usage: HOST PORT LISTEN TRIES

Four processes accept requests and ask the backend for the page that each names, up to TRIES
times."""

import http.client
import http.server
import os
import sys

from unit import unit as say

host, port, listen, tries = sys.argv[1], *map(int, sys.argv[2:5])
WORKERS = 4


def ask_backend(path):
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        return b""
    finally:
        connection.close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        say(self.path.rpartition("/")[2])
        page = b""
        for _ in range(tries):
            page = page or ask_backend(self.path)
        self.send_response(200 if page else 502)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


class Server(http.server.HTTPServer):
    request_queue_size = 256


server = Server(("127.0.0.1", listen), Handler)
for _ in range(WORKERS - 1):
    if os.fork() == 0:
        break
server.serve_forever()
