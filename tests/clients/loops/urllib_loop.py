# SPDX-License-Identifier: MIT
# Blocking sockets: urllib with its default settings.
import http.client
import sys
import urllib.request

how, host, port = sys.argv[1:4]
url = f"http://{host}:{port}/"


def fetch():
    with urllib.request.urlopen(url) as page:
        return page.read().decode()


if how == "get":
    for _ in range(int(sys.argv[4])):
        sys.stdout.write(fetch())
    sys.exit(0)
said = ""
while True:
    try:
        sys.stdout.write(fetch())
        break
    except (OSError, http.client.HTTPException) as e:
        if str(e) != said:
            said = str(e)
            print(said, file=sys.stderr)
