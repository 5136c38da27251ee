# SPDX-License-Identifier: MIT
"""Servers that are clients of the failing one: proxies, preforked workers. The requests come from
here, outside the shim, and each has a unit of its own: to the server in between, even a second try
of the same page is new work."""

import http.client
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from client import HERE, Client

LISTEN = 7100


def is_listening(port):
    """Without connecting, which would be work for the server."""
    with open("/proc/net/tcp", encoding="ascii") as f:
        return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
                   for line in f.readlines()[1:])


@dataclass
class Behind(Client):
    """A server between us and the failing one. Words also: {listen} {folder} {config}."""

    template: str = ""  # a file in conf/ that becomes {config}
    words: tuple = ()  # (word, text) for the template
    together: int = 8  # requests at once
    tries: int = 1  # for each of our requests
    limit: float = 60

    def unit_of(self, stage, attempt):
        return stage.requests.unit_of(attempt)

    def works(self, stage):
        return len(stage.requests.spans)

    def load(self, stage):
        stage.requests.send_all()

    def play(self, stage):
        config = os.path.join(stage.folder, self.template)
        words = {"listen": LISTEN, "folder": stage.folder, "config": config}
        if self.template:
            with open(os.path.join(HERE, "conf", self.template), encoding="utf-8") as f:
                text = f.read()
            more = {word: value.format(port=stage.port) for word, value in self.words}
            with open(config, "w", encoding="utf-8") as f:
                f.write(text.format(**words, **more))
        stage.requests = Requests(self, stage)
        process = stage.start(self.fill(stage, **words))
        try:
            end = time.monotonic() + 20
            while not is_listening(LISTEN):
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{self.name} does not listen: {stage.complaints()[-300:]}")
                time.sleep(0.02)
            self.load(stage)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(5)
            except Exception:  # nothing may be left behind
                os.killpg(process.pid, signal.SIGKILL)


@dataclass
class Checks(Behind):
    """One that only asks its servers, again and again, how they are. A check is due with the clock,
    whether or not the one before it failed, so no failure explains it (shim/README.md): each is
    a unit of its own and a first try."""

    def unit_of(self, stage, attempt):
        return f"check {attempt.order}"

    def load(self, stage):
        """Waits for as many checks as there are units."""
        end = time.monotonic() + self.limit
        while sum("event=attempt" in record for record in stage.log.records) < len(stage.units):
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name}: too few checks in {self.limit} s")
            time.sleep(0.05)


class Requests:
    """Sends the units to the server in between. Where the failing server cannot be reached, only
    one is under way at a time: then every attempt is known to be for that one."""

    def __init__(self, client, stage):
        self.client, self.stage = client, stage
        self.spans = []  # (from, to, unit)
        self.lock = threading.Lock()
        self.outage = stage.condition.outage

    def send_all(self):
        # Spread over twice the outage, for it begins after a quarter of the answers.
        gap = 2 * self.outage / len(self.stage.units) if self.outage else 0.004
        with ThreadPoolExecutor(1 if self.outage else self.client.together) as pool:
            for unit in self.stage.units:
                pool.submit(self._work, unit, gap if self.outage else 0)
                time.sleep(0 if self.outage else gap)

    def _work(self, unit, pause):
        time.sleep(pause)
        for n in range(self.client.tries):
            if self._ask(f"{unit}.{n}"):
                break

    def _ask(self, unit):
        connection = http.client.HTTPConnection("127.0.0.1", LISTEN, timeout=20)
        began = time.monotonic_ns()
        try:
            connection.request("GET", f"/u/{unit}")
            reply = connection.getresponse()
            reply.read()
            return reply.status < 400
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
            with self.lock:
                self.spans.append((began, time.monotonic_ns(), unit))

    def unit_of(self, attempt):
        """The one request that was under way; "" if there were several."""
        found = [unit for began, ended, unit in self.spans if began <= attempt.began() <= ended]
        return found[0] if len(found) == 1 else ""
