# SPDX-License-Identifier: MIT
"""What a play of a scene must have been like: pure arithmetic over what bare and under did.

A play is {"kinds": {KIND: {"asked", "ok", "errors": {NAME: COUNT}, "p50", "p99", "max"}},
"ports": {PORT: {"syns", "connections", "requests", "by_second"}}, "seconds", "cpu", "status"}.
"""

import math

LATER = 100  # ms that the p99 of healthy work may be later
LATER_FOR_DEAD = 250  # ms for work that cannot succeed, where somebody waits for it
STORM = 17  # attempts in the first 30 s
STORM_BESIDE = 20  # where the same destination also answers others
THEN = 0.3  # attempts per second afterwards
EACH = 6.0  # seconds between two attempts by then: half a cap to a cap
CPU = 0.01  # of a processor that a storm may cost the host
ASKS = 4  # tries a second of a thread that is held
COSTS = 10  # tries of bare that a refused one may cost: it looks at /proc, sleeps and wakes

# How the end of a connection is told depends on whether our bytes were still under way. HALF is not
# among them: a part of an answer that never came is something else.
ALIKE = {"EPIPE": "closed", "ECONNRESET": "closed", "EOF": "closed"}
# What the shim may tell of a destination that fails already: a redirect, a park.
TOLD_OF_THE_DEAD = {"ECONNREFUSED", "ETIMEDOUT", "closed"}


def storm_bound(seconds, beside=False):
    """The most attempts in so many seconds: the bound for 30 s scaled, then the rate."""
    most = STORM_BESIDE if beside else STORM
    if seconds >= 30:
        return most + math.floor((seconds - 30) * THEN)
    return most - math.floor((30 - seconds) / EACH)


def alike(errors):
    found = {}
    for name, count in errors.items():
        name = ALIKE.get(name, name)
        found[name] = found.get(name, 0) + count
    return found


def enough(under, bare):
    """0.99 of what bare served; of small counts one or two may miss."""
    return under >= 0.99 * bare or under >= bare - 2


def latest(bare, under, worst):
    if worst is not None and under["max"] > bare["max"] + worst:
        return [f"the last after {under['max']:.0f} ms, bare {bare['max']:.0f} ms"]
    return []


def invented(bare, under, allowed=frozenset()):
    new = set(alike(under["errors"])) - set(alike(bare["errors"])) - allowed - {"LATE"}
    return [f"errors that bare had not: {', '.join(sorted(new))}"] if new else []


def healthy(bare, under, later):
    problems = []
    if not bare["ok"]:
        problems.append("void: bare served nothing")
    if not enough(under["ok"], bare["ok"]):
        problems.append(f"served {under['ok']} of bare's {bare['ok']}")
    if under["p99"] > bare["p99"] + later:
        problems.append(f"p99 {under['p99']:.0f} ms, bare {bare['p99']:.0f} ms")
    return problems + invented(bare, under)


def for_the_dead(bare, under, later):
    problems = []
    if later is not None and under["p99"] > bare["p99"] + later:
        problems.append(f"work for the dead: p99 {under['p99']:.0f} ms, bare {bare['p99']:.0f} ms")
    return problems + invented(bare, under, TOLD_OF_THE_DEAD)


def partial(bare, under, scene, later):
    """At least what the same client serves without any retry, of as many requests as bare asked."""
    asked, failing = bare["asked"], scene["failing"]
    chance = 0 if "least" in scene else 3 * math.sqrt(asked * failing * (1 - failing))
    least = asked * scene.get("least", 1 - failing)
    problems = []
    if under["ok"] < least - chance:
        problems.append(f"served {under['ok']} of {asked}, not {least:.0f}")
    if under["p99"] > bare["p99"] + later:
        problems.append(f"p99 {under['p99']:.0f} ms, bare {bare['p99']:.0f} ms")
    return problems + invented(bare, under, TOLD_OF_THE_DEAD)


def stormed(play, one):
    """Attempts at a storm's port, without those of the live work beside it."""
    live = play["kinds"].get(one.get("beside"), {"asked": 0})["asked"]
    return play["ports"][one["port"]][one.get("what", "syns")] - live


def storm(bare, under, one, seconds):
    problems = []
    bound = storm_bound(seconds, "beside" in one) + one.get("more", 0)
    if stormed(bare, one) <= bound:
        problems.append(f"void: bare made {stormed(bare, one)} attempts, no storm")
    if stormed(under, one) > bound:
        problems.append(f"storm: {stormed(under, one)} attempts in {seconds:g} s, not {bound}")
    return problems


def processor_bound(scene, bare):
    """CPU, or where a try costs more than that on this machine, what the tries of all its loops may."""
    if not bare["cpu"]:
        return CPU
    tries = sum(bare["ports"][one["port"]][one.get("what", "syns")] for one in scene.get("storm", ()))
    each = bare["cpu"] * bare["seconds"] / max(1, tries)
    return max(CPU, ASKS * scene["cpu"] * COSTS * each)


def per_demand(play, port, kind, what):
    asked = play["kinds"].get(kind, {}).get("asked", 0)
    return play["ports"][port][what] / asked if asked else None


def in_steady_state(play, scene):
    """Connects for each piece of work from a second on."""
    port, kind, _, since = scene["steady"]
    asked = play["kinds"].get(kind, {}).get("asked", 0) * (1 - since / scene["seconds"])
    return sum(play["ports"][port]["by_second"][since:]) / asked if asked else None


def judge(scene, bare, under):
    """Returns what is wrong, and whether it counts at once (a crash, a wrong answer)."""
    problems, at_once = [], False
    later = scene.get("later", LATER)
    for kind, b in bare["kinds"].items():
        u = under["kinds"].get(kind, {"asked": 0, "ok": 0, "errors": {}, "p50": 0, "p99": 0, "max": 0})
        if "WRONG" in u["errors"] and "WRONG" not in b["errors"]:
            problems.append("wrong answers")
            at_once = True
        if kind == "h":
            problems += healthy(b, u, later) + latest(b, u, scene.get("worst"))
        elif kind == "d":
            problems += for_the_dead(b, u, scene.get("dead_later", LATER_FOR_DEAD))
        elif kind == "p":
            problems += partial(b, u, scene, later)
    if not bare["kinds"] and not scene.get("storm") and "ends" not in scene:
        problems.append("void: bare did no work")
    for one in scene.get("storm", ()):
        problems += storm(bare, under, one, scene["seconds"])
    if "per_demand" in scene:
        port, kind, most, what = scene["per_demand"]
        rate = per_demand(under, port, kind, what)
        if rate is None or rate > most:
            problems.append(f"{rate if rate is None else round(rate, 2)} attempts for each asked, not {most}")
    if "steady" in scene:
        rate, most = in_steady_state(under, scene), scene["steady"][2]
        if rate is None or rate > most:
            problems.append(f"{rate if rate is None else round(rate, 2)} attempts for each asked in the end, not {most}")
    if "ends" in scene and under["seconds"] > bare["seconds"] + scene["ends"]:
        problems.append(f"ended after {under['seconds']:.1f} s, bare {bare['seconds']:.1f} s")
    if scene.get("cpu") and under["cpu"] is not None and under["cpu"] > processor_bound(scene, bare):
        problems.append(f"processor {under['cpu']:.1%}, not {processor_bound(scene, bare):.1%}")
    if bare["status"] is not None and under["status"] is not None and under["status"] != bare["status"]:
        problems.append(f"ended with {under['status']}, bare with {bare['status']}")
        at_once = under["status"] < 0
    return problems, at_once
