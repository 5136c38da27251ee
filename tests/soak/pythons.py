# SPDX-License-Identifier: MIT
"""A client in Python that works at a rate: urllib, a thread for each exchange, asyncio, in turn.

Usage: pythons.py RATE TIMEOUT HOST PORT...; it says what client.c says.
"""

import asyncio
import collections
import errno
import json
import signal
import socket
import sys
import threading
import time
import urllib.request

TIMEOUT = float(sys.argv[2]) / 1000
seen = collections.Counter()
stopped = threading.Event()


def name_of(error):
    """What client.c would call it."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, socket.gaierror):
        return "lookup " + reason.args[1]
    if isinstance(reason, (TimeoutError, asyncio.TimeoutError)):
        return "timeout"
    if isinstance(reason, OSError) and reason.errno:
        return errno.errorcode[reason.errno]
    return "eof"


def note(exchange, *arguments):
    seen["ops"] += 1
    try:
        seen["ok" if exchange(*arguments) else "corrupt"] += 1
    except (OSError, EOFError, ValueError) as error:  # of urllib: http.client's are neither
        seen[name_of(error)] += 1
    except Exception as error:  # pylint: disable=broad-except
        seen["eof" if type(error).__module__ == "http.client" else repr(error)] += 1


def by_urllib(host, port, _):
    with urllib.request.urlopen(f"http://{host}:{port}/", timeout=TIMEOUT) as reply:
        body = reply.read()
    if not body:  # the header was cut short, and says nothing of a body
        raise EOFError
    return body == b"well\n"


def by_socket(host, port, n):
    line = b"%d python\n" % n
    with socket.create_connection((host, port), TIMEOUT) as s:
        s.sendall(line)
        with s.makefile("rb") as stream:
            back = stream.readline()
    if not back.endswith(b"\n"):
        raise EOFError
    return back == line


def in_thread(host, port, n):
    thread = threading.Thread(target=note, args=(by_socket, host, port, n))
    seen["ops"] -= 1
    seen["ok"] -= 1  # of the exchange in the thread alone
    thread.start()
    thread.join()
    return True


async def streams(host, port, n):
    line = b"%d asyncio\n" % n
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(line)
        back = await reader.readline()
    finally:
        writer.close()
    if not back.endswith(b"\n"):
        raise EOFError
    return back == line


def by_asyncio(host, port, n):
    return asyncio.run(asyncio.wait_for(streams(host, port, n), TIMEOUT))


def report():
    errors = {k: v for k, v in seen.items() if k not in ("ops", "ok") and v}
    line = {"ops": seen["ops"], "ok": seen["ok"], "crashed": 0, "errors": errors}
    print(json.dumps(line), flush=True)


def main():
    rate, host, ports = float(sys.argv[1]), sys.argv[3], [int(p) for p in sys.argv[4:]]
    ways = (by_urllib, in_thread, by_socket, by_asyncio)
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    said = time.monotonic()
    n = 0
    while not stopped.wait(1 / rate):
        note(ways[n % len(ways)], host, ports[n // len(ways) % len(ports)], n)
        n += 1
        if time.monotonic() - said > 10:
            said = time.monotonic()
            report()
    report()


main()
