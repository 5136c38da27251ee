#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Work beside tries that fail, as old programs do it: beside.py MANNER SECONDS LIVE DEAD
MANNER: poll (8 workers ask LIVE for one URL again and again), filter (each item goes to DEAD and to a
file), lock (a pool's lock is held over each connect), monitor (LIVE is connected to, and left),
long-polls (6 workers give up each poll of LIVE after a second, beside short calls)."""

import errno
import http.client
import os
import socket
import sys
import tempfile
import threading
import time

manner, seconds, live, dead = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
started = time.monotonic()


def note(kind, since, word):
    print(kind, f"{(time.monotonic() - since) * 1e3:.2f}", word, flush=True)


def left():
    return time.monotonic() < started + seconds


def connect(port):
    """A socket that blocks, as that of a program which never heard of timeouts."""
    plain = socket.socket()
    try:
        plain.connect(("127.0.0.1", port))
    except OSError as error:
        plain.close()
        return None, error
    return plain, None


def poll():
    def work():
        connection = None
        while left():
            since = time.monotonic()
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", live, timeout=5)
                connection.request("GET", "/next")
                reply = connection.getresponse()
                reply.read()
                word = "ok" if reply.status == 200 else f"HTTP{reply.status}"
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                connection, word = None, "closed" if isinstance(error, http.client.RemoteDisconnected) else "EOF"
            note("p", since, word)
            time.sleep(0.05)

    in_threads([work] * 8)


def filter_():
    with tempfile.TemporaryFile(buffering=0) as out:
        number = 0
        while left():
            due = started + number / 100
            time.sleep(max(0, due - time.monotonic()))
            relay, _error = connect(dead)
            if relay:
                relay.close()
            os.write(out.fileno(), b"item\n")
            note("h", due, "ok")
            number += 1


def lock():
    pool = threading.Lock()

    def for_the_dead():
        while left():
            with pool:
                connect(dead)
            time.sleep(0.001)

    def healthy():
        number = 0
        while left():
            due = started + number / 20
            time.sleep(max(0, due - time.monotonic()))
            with pool:
                plain, _error = connect(live)
            plain.sendall(b"GET /h HTTP/1.0\r\n\r\n")
            note("h", due, "ok" if plain.recv(1000) else "EOF")
            plain.close()
            number += 1

    in_threads([for_the_dead, healthy])


def monitor():
    while left():
        since = time.monotonic()
        plain, error = connect(live)
        if plain:
            plain.close()
        note("p", since, "ok" if plain else "ECONNREFUSED")
        time.sleep(max(0, since + 0.25 - time.monotonic()))


def long_polls():
    def ask(path, timeout):
        since, word = time.monotonic(), "ok"
        connection = http.client.HTTPConnection("127.0.0.1", live, timeout=timeout)
        try:
            connection.request("GET", path)
            connection.getresponse().read()
        except TimeoutError:
            word = "ok" if path == "/d" else "LATE"
        except OSError as error:
            word = errno.errorcode.get(error.errno, "EOF")
        connection.close()
        note("h", since, word)

    def poller():
        while left():
            ask("/d", 1)

    def caller():
        while left():
            ask("/h", 2)
            time.sleep(0.1)

    in_threads([poller] * 6 + [caller] * 2)


def in_threads(all_of_them):
    threads = [threading.Thread(target=one) for one in all_of_them]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


{"poll": poll, "filter": filter_, "lock": lock, "monitor": monitor,
 "long-polls": long_polls}[manner]()
