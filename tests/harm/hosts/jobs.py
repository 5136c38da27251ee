#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Jobs in Python: jobs.py MANNER SECONDS RATE TRIES PORT=KIND...
MANNER: threads (8, http.client), prefork (6 processes, each replaced after five jobs), asyncio,
queue (jobs come as lines from the last port, a broker), requests (urllib3's own retries), pq (libpq
with all the ports as one list of hosts), lookup (NAME=KIND...: the resolver threads of an event loop)."""

import asyncio
import ctypes
import errno
import http.client
import itertools
import os
import socket
import sys
import threading
import time

manner, seconds, rate, tries = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
targets = [word.split("=") for word in sys.argv[5:]]
if manner != "lookup":
    targets = [(int(port), kind) for port, kind in targets]
started = time.monotonic()


def name(error):
    if isinstance(error, (http.client.RemoteDisconnected, asyncio.IncompleteReadError)):
        return "EOF"
    return errno.errorcode.get(getattr(error, "errno", None), type(error).__name__)


def note(kind, due, word):
    print(kind, f"{(time.monotonic() - due) * 1e3:.2f}", word)


def ask(port, path):
    word = "ok"
    for _ in range(tries):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            reply = connection.getresponse()
            body = reply.read().decode()
            word = f"HTTP{reply.status}" if reply.status != 200 else "ok" if body == path else "WRONG"
        except (OSError, http.client.HTTPException) as error:
            word = name(error)
        finally:
            connection.close()
        if word == "ok":
            break
        time.sleep(0.01)
    return word


def threads(do):
    numbers, lock = itertools.count(), threading.Lock()

    def work():
        while True:
            with lock:
                number = next(numbers)
            due = started + number / rate
            if due > started + seconds:
                return
            time.sleep(max(0, due - time.monotonic()))
            port, kind = targets[number % len(targets)]
            note(kind, due, do(port, f"/{kind}{number}"))

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def prefork():
    """Every worker takes the number of the next job from a pipe."""
    numbers, more = os.pipe()
    os.write(more, b"".join(number.to_bytes(4, "big") for number in range(int(seconds * rate))))
    os.close(more)

    def work():
        for _ in range(5):
            number = int.from_bytes(os.read(numbers, 4) or b"\xff" * 4, "big")
            due = started + number / rate
            if due > started + seconds:
                return 1
            time.sleep(max(0, due - time.monotonic()))
            port, kind = targets[number % len(targets)]
            note(kind, due, ask(port, f"/{kind}{number}"))
            sys.stdout.flush()
        return 0

    workers = 0
    while True:
        while workers < 6:
            workers += 1
            if os.fork() == 0:
                os._exit(work())
        _, status = os.wait()
        workers -= 1
        if status:
            break
    while workers:
        os.wait()
        workers -= 1


async def ask_later(port, kind, path, due):
    word = "ok"
    for _ in range(tries):
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            text = (await reader.read()).decode()
            writer.close()
            word = "EOF" if not text else "ok" if text.endswith("\r\n\r\n" + path) else "WRONG"
        except OSError as error:
            word = name(error)
        if word == "ok":
            break
        await asyncio.sleep(0.01)
    note(kind, due, word)


async def look_up(host, kind, _path, due):
    word = "ok"
    try:
        await asyncio.get_running_loop().getaddrinfo(host, 80)
    except OSError as error:
        word = f"GAI{error.errno}"
    note(kind, due, word)


async def loop(do):
    jobs = []
    for number in range(int(seconds * rate)):
        due = started + number / rate
        await asyncio.sleep(max(0, due - time.monotonic()))
        port, kind = targets[number % len(targets)]
        jobs.append(asyncio.create_task(do(port, kind, f"/{kind}{number}", due)))
    await asyncio.wait(jobs, timeout=10)


def queue():
    """Work that comes by a connection that the program made itself."""
    broker = socket.create_connection(("127.0.0.1", targets.pop()[0]))
    pending = b""
    for number in itertools.count():
        while b"\n" not in pending:
            pending += broker.recv(100)
        due, pending = time.monotonic(), pending.split(b"\n", 1)[1]
        if due > started + seconds:
            return
        port, kind = targets[number % len(targets)]
        note(kind, due, ask(port, f"/{kind}{number}"))


def with_requests():
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util.retry import Retry

    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=Retry(tries, backoff_factor=0)))

    def do(port, path):
        try:
            return "ok" if session.get(f"http://127.0.0.1:{port}{path}").text == path else "WRONG"
        except requests.RequestException as error:
            return type(error).__name__

    threads(do)


def libpq():
    pq = ctypes.CDLL("libpq.so.5")
    pq.PQconnectdb.restype = pq.PQexec.restype = ctypes.c_void_p
    hosts = ",".join("127.0.0.1" for _ in targets)
    text = f"host={hosts} port={','.join(str(p) for p, _ in targets)} user=u dbname=d sslmode=disable " \
        "gssencmode=disable connect_timeout=5"

    def do(_port, _path):
        connection = ctypes.c_void_p(pq.PQconnectdb(text.encode()))
        good = pq.PQstatus(connection) == 0
        if good:
            result = ctypes.c_void_p(pq.PQexec(connection, b"SELECT 1"))
            good = pq.PQresultStatus(result) == 1
            pq.PQclear(result)
        pq.PQfinish(connection)
        return "ok" if good else "FAILED"

    threads(do)


if manner == "asyncio":
    asyncio.run(loop(ask_later))
elif manner == "lookup":
    asyncio.run(loop(look_up))
elif manner == "queue":
    queue()
elif manner == "prefork":
    prefork()
elif manner == "requests":
    with_requests()
elif manner == "pq":
    libpq()
else:
    threads(ask)
