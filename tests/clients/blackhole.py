# SPDX-License-Identifier: MIT
"""Blocking clients without a timeout of their own against an address where SYNs vanish. Bare, each
sits in its one connect for as long as the kernel likes; with connect_timeout it hears ETIMEDOUT, tries
again as often as the budget allows, and is served when the address is there."""

import os
import shutil
import socket
import subprocess
import threading
import time

import errors
from catalog import LOOPS, PATH, Pace, configuration
from lab import Run, wait_until
from outage import sleep_until

HOLE, PORT = "198.51.100.7", 80  # of a network that is for examples only (RFC 5737)
ELSEWHERE, REPEATED = -1, -3  # keys of syns
SECOND = 1_000_000_000

LIMIT = 1  # seconds, connect_timeout
BARE_SECONDS = 3.6  # more than LATE, and long enough for two repeats of the SYN
LATE = 3.5  # a connect that LIMIT ended, on a busy machine
SHIM_SECONDS = 8
EVERY = 4  # seconds of the floor for a token
MOST = 2 + SHIM_SECONDS // EVERY + 1  # the first try, the token there is, what time gives
START = 5  # and of a process for each try, which may be new work, a few
SETTINGS = f"""
[destination default]
connect_timeout = {LIMIT}s
capacity = 1
floor = {1 / EVERY}/s
earn = 0
probe = 1h
base = 1ms
cap = 1ms
min = 1ms
"""


def programs(build):
    """Each tries until it is served, without a pause."""
    url = f"http://{HOLE}:{PORT}/"
    host, port = HOLE, str(PORT)

    def loop(file):
        return os.path.join(LOOPS, file)

    def until(command):
        return ["sh", "-c", f"until {command} | grep .; do :; done"]

    return {
        "bash /dev/tcp": ["bash", loop("devtcp.bash"), "loop", host, port],
        "python": ["/usr/bin/python3", loop("create_connection.py"), host, port],
        "perl IO::Socket": ["perl", loop("iosocket.pl"), "loop", host, port],
        "php sockets": ["php", loop("sockets.php"), host, port],
        "tcl socket": ["tclsh", loop("socket.tcl"), "loop", host, port],
        "gawk /inet": ["gawk", "-f", loop("inet.awk"), "loop", host, port],
        "java Socket": ["java", "-Xmx64m", "-cp", os.path.join(build, "clients", "classes"),
                        "SocketLoop", "loop", host, port],
        "wget": ["wget", "--no-config", "--no-proxy", "-nv", "--tries=0", "--waitretry=0", "-O", "-",
                 url],
        "until busybox nc": until(f"echo hello | busybox nc {host} {port}"),
        "until busybox wget": until(f"busybox wget -q -O - {url}"),
        "until socat": until(f"echo hello | socat -T 5 - TCP4:{host}:{port}"),
    }


def missing():
    words = ("perl", "php", "tclsh", "gawk", "java", "wget", "ip", "busybox", "socat")
    return [p for p in words if not shutil.which(p, path=PATH)]


def ip(words):
    subprocess.run(["ip", *words.split()], check=True, env={"PATH": PATH})


def dig():
    """Packets for the address go out by lo, and come back in as somebody else's: dropped."""
    ip(f"route add {HOLE} dev lo")


def fill_in():
    """From now on this machine has the address, and somebody listens there. Returns since when."""
    listener = socket.create_server(("", PORT), backlog=64)
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    ip(f"address add {HOLE}/32 dev lo")
    return time.monotonic_ns()


def serve(listener):
    while True:
        with listener.accept()[0] as peer:
            line = peer.recv(4096)
            if line.startswith(b"GET "):
                line = b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"
            peer.sendall(line)


def bare(lab, command, problems, chance):
    run = Run(command, lab.folder, lab.environment())
    try:
        if not wait_until(lambda: lab.syns.count(ELSEWHERE) > 0, 20):
            problems.append(f"bare: made no attempt in 20 s: {run.errors()[-200:]!r}")
            return
        time.sleep(BARE_SECONDS)
        attempts, repeats = lab.syns.count(ELSEWHERE), lab.syns.count(REPEATED)
        if attempts != 1 or repeats < 1:
            chance.append(f"bare: {attempts} attempts, {repeats} repeats: it does not just wait")
        if run.process.poll() is not None or run.printed():
            problems.append(f"bare: ended, or printed {run.output()[:60]!r}")
    finally:
        run.kill()


def bounded(lab, command, library, problems, chance):
    pace = Pace("black hole", SETTINGS, 0, 0, 0)
    # Some start a process per attempt; PHP hides its extension.
    text = configuration(pace, lab.log.path, "user").replace("reload", "deepbind = strip\nreload", 1)
    since = time.monotonic_ns()
    run = Run(command, lab.folder, lab.environment(library, text))
    seen = {}
    try:
        if not wait_until(lambda: lab.syns.count(ELSEWHERE, since) > 0, 20):
            problems.append(f"made no attempt in 20 s: {run.errors()[-200:]!r}")
            return seen
        sleep_until(lab.syns.times(ELSEWHERE, since)[0] + SHIM_SECONDS * SECOND)
        times = lab.syns.times(ELSEWHERE, since)
        gaps = [(b - a) / SECOND for a, b in zip(times, times[1:])]
        seen = {"attempts": len(times), "gaps": [round(gap, 2) for gap in gaps],
                "repeats": lab.syns.count(REPEATED, since), **errors.summary(run.errors())}
        judge(lab, seen, MOST + (START if command[0] == "sh" else 0), problems, chance)
        if run.process.poll() is not None or run.printed():
            problems.append(f"ended, or printed {run.output()[:60]!r}")
        filled = fill_in()
        # A token, a connect that is under way, a busy machine.
        code = run.wait(EVERY + LIMIT + 5)
        if code != 0 or "hello" not in run.output():
            kind = chance if code is None else problems
            kind.append(f"when the address was there: exit {code}, "
                        f"{run.output()[:60]!r}, {run.errors()[-200:]!r}")
        seen["back"] = round((time.monotonic_ns() - filled) / SECOND, 2)
    finally:
        run.kill()
    return seen


def judge(lab, seen, most, problems, chance):
    # The second had its token, so nothing but the first connect lies between them.
    if not seen["gaps"] or not 0.9 * LIMIT < seen["gaps"][0] < LATE:
        chance.append(f"its first connect did not take {LIMIT} s: {seen['gaps']}")
    if seen["attempts"] > most:
        chance.append(f"{seen['attempts']} attempts in {SHIM_SECONDS} s, not {most}")
    if seen["repeats"] > seen["attempts"]:
        chance.append(f"{seen['repeats']} repeats of {seen['attempts']} SYNs")
    if lab.syns.count(0):
        problems.append("a socket was parked: it does not block")
    if seen["meanings"] != ["timeout"]:
        problems.append(f"speaks of {seen['meanings']}: {seen['said']!r}")
    told = {r.get("errno") for r in lab.log.fields() if r.get("event") in ("throttled", "exhausted")}
    if not told or told - {None, "ETIMEDOUT"}:
        problems.append(f"told: {told}")
    classes = {r.get("class") for r in lab.log.fields() if r.get("event") == "retrying"}
    if classes != {"timeout"}:
        problems.append(f"recorded as {classes}")


def compare(lab, build, name, library):
    problems, chance = [], []
    command = programs(build)[name]
    dig()
    bare(lab, command, problems, chance)
    seen = bounded(lab, command, library, problems, chance)
    return {"problems": problems, "chance": chance, "seen": seen}


def report(done):
    rows = [c for c in done if c["kind"] == "black-hole"]
    if rows:
        print(f"\nSYNs that vanish: bare, one connect that lasts; with connect_timeout = {LIMIT}s and "
              "a token each")
        print(f"{EVERY} s, of {SHIM_SECONDS} s: attempts, seconds between them, and what the client says.")
    for case in rows:
        seen = case["result"].get("seen", {})
        print(f"{case['client']:<20} {seen.get('attempts', '-'):>2} {str(seen.get('gaps')):<20} "
              f"back {seen.get('back', '-'):>5} s  {errors.short(seen.get('said', '-'), 50)}")
