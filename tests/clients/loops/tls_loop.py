# SPDX-License-Identifier: MIT
# HTTPS, on one connection as long as that lasts (urllib: on a new one each time).
# Usage: tls_loop.py HOW until HOST PORT [TIMEOUT]    asks at once again until the server says 200
#        tls_loop.py HOW get HOST PORT N              N requests, the first failure ends it
#        tls_loop.py HOW storm HOST PORT THREADS      each asks without an end, whatever comes
# HOW: http.client, urllib, requests, pycurl (GnuTLS in Debian), asyncio (TLS in memory, the event
# loop moves the bytes)
import asyncio
import http.client
import ssl
import sys
import threading
import urllib.error
import urllib.request

how, what, host, port = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
last = sys.argv[5] if len(sys.argv) > 5 else ""
timeout = float(last) if last and what == "until" else None
url = f"https://{host}:{port}/"
trusting = ssl.create_default_context()
trusting.check_hostname = False
trusting.verify_mode = ssl.CERT_NONE


def by_http_client():
    connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=trusting)

    def ask():
        try:
            connection.request("GET", "/")
            reply = connection.getresponse()
            return reply.status, reply.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise

    return ask


def by_urllib():
    def ask():
        try:
            with urllib.request.urlopen(url, timeout=timeout, context=trusting) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as e:
            return e.code, b""

    return ask


def by_requests():
    import requests

    requests.packages.urllib3.disable_warnings()
    session = requests.Session()
    session.trust_env = False
    session.verify = False

    def ask():
        reply = session.get(url, timeout=timeout)
        return reply.status_code, reply.content

    return ask


def by_pycurl():
    import io
    import pycurl

    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, url)
    curl.setopt(pycurl.SSL_VERIFYPEER, 0)
    curl.setopt(pycurl.SSL_VERIFYHOST, 0)

    def ask():
        page = io.BytesIO()
        curl.setopt(pycurl.WRITEDATA, page)
        try:
            curl.perform()
        except pycurl.error as e:
            raise OSError(*e.args) from e
        return curl.getinfo(pycurl.RESPONSE_CODE), page.getvalue()

    return ask


def by_asyncio():
    loop = asyncio.new_event_loop()
    streams = []

    async def exchange():
        if not streams:
            streams.extend(await asyncio.open_connection(host, port, ssl=trusting))
        reader, writer = streams
        writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        page = await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
        return int(head.split()[1]), page

    def ask():
        try:
            return loop.run_until_complete(exchange())
        except EOFError as e:
            streams.clear()
            raise OSError("the server has hung up") from e
        except OSError:
            streams.clear()
            raise

    return ask


WAYS = {
    "http.client": by_http_client,
    "urllib": by_urllib,
    "requests": by_requests,
    "pycurl": by_pycurl,
    "asyncio": by_asyncio,
}


def work(left):
    ask = WAYS[how]()
    while left:
        try:
            status, page = ask()
        except (OSError, http.client.HTTPException) as e:
            if what == "get":
                raise
            if what == "until":
                print(repr(e), file=sys.stderr)
            continue
        if what == "storm":
            continue
        if status == 200:
            sys.stdout.buffer.write(page)
            left -= 1
        elif what == "get":
            sys.exit(f"status {status}")


if what == "storm":
    for _ in range(int(last)):
        threading.Thread(target=work, args=(1,)).start()
else:
    work(int(last) if what == "get" else 1)
