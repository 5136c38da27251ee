# SPDX-License-Identifier: MIT
"""Resolvers of their own, by UDP: what the name server gets of one that does not answer, without the
shim, under it with udp = off, and with udp = on; and that nothing is throttled where it answers."""

import os

from catalog import HERE, NAME
from lab import Run, wait_until

TYPE_A = 1
TRIES = 5  # of one query; each program is told so, and c-ares waits twice as long each time
QUERIES = 20
# ms until the first repetition: of a server that answers none is to come, on a busy machine either.
LONG, SHORT = "3000", "250"

# One token and no more while it is tested: of a query that is not answered the first datagram and
# one retry go out, and later one per `probe`, so that each of the following is a lost one.
CONFIGURATION = """[retrybudget]
mode   = enforce
reload = 0
[log]
socket   = {log}
interval = 0
attempts = on
[destination default]
capacity = 1
floor    = 0/s
earn     = 0
probe    = 30s
base     = 1ms
cap      = 1ms
min      = 1ms
[destination name-server]
match = 127.0.0.1:53
{udp}
"""
MOST = 3

NODE = """
const r = new (require("dns").Resolver)({ timeout: +process.argv[2], tries: %d });
r.setServers(["127.0.0.1"]);
const next = (n) => n && r.resolve4("%s", (e, a) => { console.log(e ? e.code : a[0]); next(n - 1); });
next(+process.argv[1]);
"""


def programs():
    """The command for n queries, one after the other."""
    def timeout(n):
        return LONG if n > 1 else SHORT

    return {
        "kdig": lambda n: ["kdig", f"+retry={TRIES - 1}", f"+time={3 if n > 1 else 1}", "+short",
                           "@127.0.0.1"] + [NAME] * n,
        "c-ares in python": lambda n: [
            "/usr/bin/python3", os.path.join(HERE, "loops", "cares.py"), NAME, str(n), str(TRIES),
            timeout(n),
        ],
        "c-ares in node": lambda n: ["node", "-e", NODE % (TRIES, NAME), str(n),
                                     timeout(n)],
    }


def one(lab, command, environment, limit):
    """Runs a command to its end; what it printed, and the datagrams that the name server got."""
    since = lab.dns_mode(lab.mode)
    run = Run(command, lab.folder, environment)
    try:
        code = run.wait(limit)
        return {"code": code, "out": run.output(), "datagrams": lab.dns.count(TYPE_A, since)}
    finally:
        run.kill()


def differs(mode, way, seen, bare):
    """What is dropped ends as what nobody answers does: after a SERVFAIL, too, which is a failure."""
    if mode == "silent":
        return False
    if mode == "servfail" and way == "on":
        return seen["code"] != bare["code"]
    return said(seen) != said(bare)


def said(run):
    return run["code"], run["out"]


def compare(lab, name, library):
    problems, chance = [], []
    make = programs()[name]
    off = CONFIGURATION.format(log=lab.log.path, udp="")
    on = CONFIGURATION.format(log=lab.log.path, udp="udp = on\nudp_deny = drop")
    ways = {"bare": ("", ""), "off": (library, off), "on": (library, on)}
    result = {"problems": problems, "chance": chance}
    for mode, queries in (("ok", QUERIES), ("servfail", 1), ("silent", 1)):
        lab.mode = mode
        seen = {}
        for way, (shim, text) in ways.items():
            lab.log.fields()
            seen[way] = one(lab, make(queries), lab.environment(shim, text), 40)
            if seen[way]["code"] is None:
                chance.append(f"{mode}, {way}: still running after 40 s")
            elif seen[way]["code"] < 0 or differs(mode, way, seen[way], seen["bare"]):
                problems.append(f"{mode}, {way}: {said(seen[way])}, bare {said(seen['bare'])}")
        result[mode] = {way: seen[way]["datagrams"] for way in seen}
        if seen["off"] != seen["bare"]:
            chance.append(f"{mode}: off {seen['off']}, bare {seen['bare']}")
        if mode != "servfail" and seen["on"]["out"] != seen["bare"]["out"]:
            chance.append(f"{mode}: on prints {seen['on']['out']!r}")
        if mode == "ok" and seen["on"] != seen["bare"]:
            chance.append(f"{mode}: on {seen['on']}, bare {seen['bare']}")
        if mode == "servfail" and seen["on"]["datagrams"] > seen["bare"]["datagrams"]:
            problems.append(f"{mode}: on {seen['on']}, bare {seen['bare']}")
        if mode == "ok" and seen["bare"]["out"] != "127.0.0.1\n" * queries:
            problems.append(f"bare prints {seen['bare']['out'][:60]!r}")
    if result["silent"]["bare"] < TRIES - 1:
        chance.append(f"only {result['silent']['bare']} datagrams bare: nothing to throttle")
    if not 1 <= result["silent"]["on"] <= MOST:
        chance.append(f"{result['silent']['on']} datagrams to a silent server, not 1 to {MOST}")
    records = [r for r in lab.log.fields() if r.get("dest") == "udp:127.0.0.1:53"]
    if not any(r.get("event") == "throttled" for r in records):
        problems.append("no record of what was throttled")
    result["attempts"] = result["silent"]["on"]
    recovery(lab, make, on.replace("30s", "1s"), library, problems, chance)
    return result


def recovery(lab, make, text, library, problems, chance):
    """The server comes back in the middle of the tries of one query, and it is answered."""
    lab.mode = "silent"
    since = lab.dns_mode("silent")
    run = Run(make(1), lab.folder, lab.environment(library, text))
    try:
        wait_until(lambda: lab.dns.count(TYPE_A, since) > 0, 20, step=0.01)
        lab.dns_mode("ok")
        code = run.wait(40)
        if code is not None and code < 0:
            problems.append(f"the server is back, and it ends with {code}")
        if run.output() != "127.0.0.1\n":
            chance.append(f"the server is back, and it prints {run.output()[:60]!r}")
    finally:
        run.kill()
