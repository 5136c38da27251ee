# SPDX-License-Identifier: MIT
"""Real clients in retry loops against an HTTP server that rejects the first requests with a
status and Retry-After: bare they ask again at once (or when they please), under the shim no sooner
than the server has asked for, and soon after. And the loop that only the status can stop: five kept
connections of a client that asks as fast as it can."""

import email.utils
import json
import os
import shutil
import socket
import threading
import time

from catalog import LOOPS, PATH
from catalog import PORT as LOUD_PORT
from lab import Run, wait_until

PORT = 8080
PAGE = "hello\n"
LATER = 3  # seconds; longer than wget pauses by itself
REJECTED = 2
EARLY = 0.01  # the two ends read the clock at different moments
ENDS_WITHIN = 100  # seconds; three hundred refused connects take 30 on a machine that has nothing else to do
LATE = 4  # of the jitter (0.3 s), a park (1 s at least), a client's own pause, a slow machine

CONFIGURATION = """[retrybudget]
deepbind = strip
scope  = user
share  = statuses
reload = 0
[log]
socket   = {log}
interval = 0
[destination default]
base = 10ms
cap  = 100ms
{more}
"""


class Server:
    """Replies `status` to the first requests, then 200. Notes when each came, and by which
    connection. With a context of the ssl module it speaks TLS."""

    def __init__(self, status, kept, dated, port=PORT, context=None):
        self.status, self.kept, self.dated, self.context = status, kept, dated, context
        self.requests = []  # (time, connection)
        self.due = []  # until when each that was rejected was asked to stay away
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        number = 0
        while True:
            try:
                peer = self.listener.accept()[0]
            except OSError:
                return
            number += 1
            threading.Thread(target=self._serve, args=(peer, number), daemon=True).start()

    def _later(self):
        if not self.dated:
            self.due.append(time.time() + LATER)
            return str(LATER)
        self.due.append(int(time.time()) + LATER + 1)
        return email.utils.formatdate(self.due[-1], usegmt=True)

    def reply(self):
        """The pieces of the next reply, the first of which ends in the status line."""
        good = len(self.requests) > REJECTED
        body = PAGE if good else "come back later\n"
        head = f"HTTP/1.1 {'200 OK' if good else f'{self.status} Not now'}\r\n"
        head += f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
        if not good:
            head += f"Retry-After: {self._later()}\r\n"
        head += "\r\n" if self.kept else "Connection: close\r\n\r\n"
        return head[:20].encode(), (head[20:] + body).encode()

    def _serve(self, peer, number):
        try:
            with self.context.wrap_socket(peer, server_side=True) if self.context else peer as peer:
                while self._answer(peer, number):
                    pass
                if self.context:
                    peer.settimeout(1)
                    peer.unwrap()  # or some would take the end for a broken one
        except OSError:
            pass

    def _answer(self, peer, number):
        """Reads one request and replies to it. False: no more will come."""
        data = b""
        while b"\r\n\r\n" not in data:
            part = peer.recv(4096)
            if not part:
                return False
            data += part
        self.requests.append((time.time(), number))
        first, *rest = self.reply()
        peer.sendall(first)
        for piece in rest:
            time.sleep(0.002)
            peer.sendall(piece)
        return self.kept and b"\r\nconnection: close" not in data.lower()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # or accept() would keep it open
        self.listener.close()
        self.thread.join()


def programs(build):
    """Each prints the page and ends well as soon as it is served."""
    url = f"http://127.0.0.1:{PORT}/"
    host, port = "127.0.0.1", str(PORT)
    python = ["/usr/bin/python3", os.path.join(LOOPS, "status_loop.py")]
    java = ["java", "-cp", os.path.join(build, "clients", "classes"), "StatusLoop"]
    until = ["sh", "-c"]
    return {
        # Fails on a status of failure, begins anew.
        "curl": until + [f"until curl -sSf {url}; do :; done"],
        # The same URL again and again, by one kept connection. Of those that are refused twenty take
        # no time and one a second: these outlast what the server asks for.
        "curl, one process": until + [
            f"curl -sS {' '.join([url] * 300)} | grep -m1 -x hello"
        ],
        "curl --retry": ["curl", "-sSf", "--retry", "20", url],
        # Connects that are refused it takes for final by itself.
        "wget": ["wget", "-nv", "-O", "-", "--tries=20", "--retry-on-http-error=429,500,503",
                 "--retry-connrefused", url],
        "python http.client": python + ["http.client", host, port],
        "python http.client, timeout": python + ["http.client", host, port, "20"],
        "python requests, timeout": python + ["requests", host, port, "20"],
        "python urllib": python + ["urllib", host, port],
        "node": ["node", os.path.join(LOOPS, "status_loop.js"), host, port],
        "php curl": ["php", os.path.join(LOOPS, "status_loop.php"), host, port],
        "java URL": java + ["url", host, port],
        "java URL, timeout": java + ["url", host, port, "20000"],
        "java HttpClient": java + ["client", host, port],
    }


# They obey Retry-After without us; then we must not be in the way.
OBEDIENT = ("curl --retry",)

# A process for each try, or another thread of a pool, may be new work, and a server's wish binds
# repeats alone: as many go as the destination answers.
FRESH = ("curl", "java HttpClient", "wget, a process for each")

SCENES = (
    ("503", True, False),
    ("503", False, False),
    ("429", True, True),
    ("500", False, True),
)


def missing():
    return [p for p in ("curl", "wget", "node", "php", "java", "wrk") if not shutil.which(p, path=PATH)]


def serve_one(lab, command, environment, server):
    """Runs a client to its end; the gaps between its requests, and by how much they were late."""
    run = Run(command, lab.folder, environment)
    try:
        code = run.wait(ENDS_WITHIN)
    finally:
        run.kill()
        server.stop()
    times = [at for at, _ in server.requests]
    return {
        "code": code,
        "out": run.output(),
        "requests": len(times),
        "connections": len({number for _, number in server.requests}),
        "gaps": [round(b - a, 3) for a, b in zip(times, times[1:])][:8],
        "late": [round(at - due, 3) for at, due in zip(times[1:], server.due)],
    }


def label_of(scene):
    status, kept, dated = scene
    return f"{status}{', kept' if kept else ''}{', date' if dated else ''}"


def compare(lab, build, name, scene, library):
    return judge(lab, programs(build)[name], name, [scene], library)


def judge(lab, command, name, scenes, library, more="", port=PORT, context=None):
    """A client through the scenes, bare and under the shim; `more` ends the configuration."""
    problems, chance = [], []
    result = {"problems": problems, "chance": chance, "seen": {}}
    text = CONFIGURATION.format(log=lab.log.path, more=more)
    for scene in scenes:
        label = label_of(scene)
        bare, shim = {}, {}
        for way, one, environment in (
            ("bare", bare, lab.environment()),
            ("shim", shim, lab.environment(library, text)),
        ):
            before = len(lab.log.fields())
            one.update(serve_one(lab, command, environment, Server(*scene, port, context)))
            if one["code"] != 0 or PAGE not in one["out"]:
                problems.append(f"{label}, {way}: exit {one['code']}, {one['out'][-60:]!r}")
        result["seen"][label] = {"bare": bare, "shim": shim}
        if name not in OBEDIENT and min(bare["late"], default=0) > -0.5:
            chance.append(f"{label}: bare it waits by itself: {bare['late']}")
        if name not in FRESH and min(shim["late"], default=-1) < -EARLY:
            problems.append(f"{label}: before the time that the server asked for: {shim['late']}")
        if max(shim["late"], default=99) > LATE:
            chance.append(f"{label}: long after it: {shim['late']}")
        if name in FRESH and max(shim["gaps"], default=0) < LATER / 2:
            continue  # all went at once, as new work: there is nothing to tell
        records = [r for r in lab.log.fields()[before:] if r.get("dest", "").endswith(f":{port}")]
        if not any(r.get("event") in ("retrying", "throttled") and r.get("class") == "status" for r in records):
            problems.append(f"{label}: no record of what was throttled")
        if not any(r.get("event") == "recovered" for r in records):
            problems.append(f"{label}: no record of the recovery")
    return result


# --- five connections ---

SECONDS = 8
BARE_SECONDS = 1
MOST = 40  # five first tries, ten tokens, what time gives, a few for connections made anew
LEAST_BARE = 2000


def requests_at(lab):
    return json.loads(lab.server.ask("stats"))["error"]["requests"]


def loud(lab, library):
    """wrk on five connections against 503 without a Retry-After, then the recovery."""
    problems, chance, counts = [], [], {}
    text = CONFIGURATION.format(log=lab.log.path, more="base = 100ms\ncap = 10s\nhttp = on")
    text = text.replace("base = 10ms\ncap  = 100ms\n", "")
    for way, seconds in (("bare", BARE_SECONDS), ("shim", SECONDS)):
        environment = lab.environment() if way == "bare" else lab.environment(library, text)
        lab.server_mode("error")
        before = requests_at(lab)
        run = Run(
            ["wrk", "-t1", "-c5", f"-d{seconds + 30}s", f"http://127.0.0.1:{LOUD_PORT}/"],
            lab.folder, environment,
        )
        try:
            wait_until(lambda: requests_at(lab) > before, 10, step=0.005)
            time.sleep(seconds)
            counts[way] = requests_at(lab) - before
            lab.server_mode("healthy")
            if way == "shim":
                at = time.monotonic()
                good = json.loads(lab.server.ask("stats"))["healthy"]["requests"]
                back = wait_until(lambda: json.loads(lab.server.ask("stats"))["healthy"]["requests"]
                                  > good + 100, 25, step=0.05)
                counts["back"] = round(time.monotonic() - at, 1)
                if not back:
                    chance.append("not back within 25 s of the server's recovery")
            if run.process.poll() is not None:
                problems.append(f"{way}: ended with {run.process.poll()}")
        finally:
            run.kill()
    if counts["bare"] < LEAST_BARE:
        chance.append(f"only {counts['bare']} requests bare: nothing to throttle")
    if counts["shim"] > MOST:
        chance.append(f"{counts['shim']} requests in {SECONDS} s, not {MOST}")
    return {"problems": problems, "chance": chance, "counts": counts}


def report(done):
    rows = [c for c in done if c["kind"] in ("status", "tls-status")]
    if rows:
        print(f"\nHTTP: an answer of failure, with Retry-After: {LATER} or a date. Seconds between")
        print("the requests at the server, bare and under the shim.")
    for case in rows:
        for label, seen in case["result"].get("seen", {}).items():
            client = case["client"] + (", TLS" if case["kind"] == "tls-status" else "")
            print(f"{client:<31} {label:<16} bare {seen['bare']['gaps']}, "
                  f"shim {seen['shim']['gaps']} by {seen['shim']['connections']} connections")
    for case in (c for c in done if c["kind"] == "loud"):
        counts = case["result"].get("counts", {})
        print(f"five connections of wrk against 503: bare {counts.get('bare')} requests in "
              f"{BARE_SECONDS} s, shim {counts.get('shim')} in {SECONDS} s, back after "
              f"{counts.get('back')} s")
