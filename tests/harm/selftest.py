# SPDX-License-Identifier: MIT
"""Shows that a scene can fail, and that it can pass: the verdicts over plays that are made up."""

import copy

import verdict


def made(ok=100, asked=100, p99=5.0, errors=None, dead_p99=3.0, syns=5, seconds=10.0, cpu=0.0, status=0,
         by_second=()):
    work = {"asked": asked, "ok": ok, "errors": errors or {}, "p50": 1.0, "p99": p99, "max": p99}
    dead = {"asked": 50, "ok": 0, "errors": {"ECONNREFUSED": 50}, "p50": 1.0, "p99": dead_p99,
            "max": dead_p99}
    port = {"syns": syns, "connections": 0, "requests": syns, "by_second": list(by_second)}
    return {"kinds": {"h": work, "d": dead}, "ports": {9002: port}, "seconds": seconds, "cpu": cpu,
            "status": status}


PLAIN = {"seconds": 10}
STORM = {"seconds": 10, "storm": [{"port": 9002}]}
PARTIAL = {"seconds": 10, "failing": 0.2}

# What, scene, changes of bare, changes of under, whether it must be red.
CASES = [
    ("alike", PLAIN, {}, {}, False),
    ("two of a hundred missing", PLAIN, {}, {"ok": 98}, False),
    ("three of a hundred missing", PLAIN, {}, {"ok": 97}, True),
    ("one in a hundred of many missing", PLAIN, {"ok": 1000}, {"ok": 990}, False),
    ("more than one in a hundred of many missing", PLAIN, {"ok": 1000}, {"ok": 989}, True),
    ("99 ms later", PLAIN, {}, {"p99": 104.0}, False),
    ("101 ms later", PLAIN, {}, {"p99": 106.0}, True),
    ("an invented error", PLAIN, {}, {"errors": {"ETIMEDOUT": 1}}, True),
    ("an error that bare had", PLAIN, {"errors": {"EOF": 3}}, {"errors": {"ECONNRESET": 1}}, False),
    ("a wrong answer", PLAIN, {}, {"errors": {"WRONG": 1}}, True),
    ("the dead 240 ms later", PLAIN, {}, {"dead_p99": 243.0}, False),
    ("the dead 300 ms later", PLAIN, {}, {"dead_p99": 303.0}, True),
    ("bare served nothing", PLAIN, {"ok": 0}, {"ok": 0}, True),
    ("another exit", PLAIN, {}, {"status": 1}, True),
    ("a crash", PLAIN, {}, {"status": -11}, True),
    ("a storm held", STORM, {"syns": 5000}, {"syns": 14}, False),
    ("a storm let go", STORM, {"syns": 5000}, {"syns": 15}, True),
    ("no storm in bare", STORM, {"syns": 5}, {"syns": 5}, True),
    ("partial: as without a retry", PARTIAL, {"kind": "p", "asked": 1000, "ok": 990},
     {"kind": "p", "asked": 1000, "ok": 800}, False),
    ("partial: less", PARTIAL, {"kind": "p", "asked": 1000, "ok": 990},
     {"kind": "p", "asked": 1000, "ok": 700}, True),
    ("partial: asked for less, as those who wait do", PARTIAL, {"kind": "p", "asked": 1000, "ok": 990},
     {"kind": "p", "asked": 300, "ok": 290}, True),
    ("partial: an invented error", PARTIAL, {"kind": "p", "asked": 1000, "ok": 990},
     {"kind": "p", "asked": 1000, "ok": 990, "errors": {"EADDRNOTAVAIL": 1}}, True),
    ("partial: chance has no part in it", {**PARTIAL, "least": 0.8}, {"kind": "p", "asked": 1000, "ok": 990},
     {"kind": "p", "asked": 1000, "ok": 799}, True),
    ("the last 90 ms later", {**PLAIN, "worst": 95}, {}, {"p99": 95.0}, False),
    ("the last 101 ms later", {**PLAIN, "worst": 95, "later": 200}, {}, {"p99": 106.0}, True),
    ("a storm beside live work", {"seconds": 10, "storm": [{"port": 9002, "beside": "h"}]}, {"syns": 5000},
     {"syns": 117}, False),
    ("a storm beside live work let go", {"seconds": 10, "storm": [{"port": 9002, "beside": "h"}]}, {"syns": 5000},
     {"syns": 118}, True),
    ("attempts for each asked in the end", {"seconds": 10, "steady": (9002, "d", 1.2, 4)}, {},
     {"by_second": [90, 90, 90, 90, 6, 6, 6, 6, 6, 6]}, False),
    ("too many in the end", {"seconds": 10, "steady": (9002, "d", 1.2, 4)}, {},
     {"by_second": [0, 0, 0, 0, 6, 6, 6, 6, 6, 7]}, True),
    ("attempts for each asked", {"seconds": 9, "per_demand": (9002, "d", 1.2, "syns")}, {"syns": 150},
     {"syns": 60}, False),
    ("too many for each asked", {"seconds": 9, "per_demand": (9002, "d", 1.2, "syns")}, {"syns": 150},
     {"syns": 61}, True),
    ("ends in time", {"seconds": 9, "ends": 2}, {}, {"seconds": 11.9}, False),
    ("ends late", {"seconds": 9, "ends": 2}, {}, {"seconds": 12.1}, True),
    ("processor", {"seconds": 9, "cpu": 1}, {}, {"cpu": 0.02}, True),
    ("no dearer than the tries of twenty loops", {**STORM, "cpu": 20}, {"cpu": 0.9, "syns": 90000},
     {"cpu": 0.07}, False),
    ("dearer than those", {**STORM, "cpu": 20}, {"cpu": 0.9, "syns": 90000}, {"cpu": 0.09}, True),
    ("one loop is cheap whatever a try costs", {**STORM, "cpu": 1}, {"cpu": 0.9, "syns": 90000},
     {"cpu": 0.02}, True),
]

# Looks that come in turn (True: passes), whether the scene is listed as open, the result, how many.
PLAYS = [
    ([True], False, "passed", 1),
    ([False, False], False, "failed", 2),
    ([False, True, True], False, "passed", 3),
    ([False, True, False], False, "failed", 3),
    ([False], True, "open", 1),
    ([True, True, False], True, "open", 3),
    ([True, True, True], True, "closed", 3),
    ([None], True, "failed", 1),  # nothing could be played
]

# Seconds, whether beside live traffic, the bound.
BOUNDS = [(30, False, 17), (30, True, 20), (10, False, 14), (12, True, 17), (40, False, 20)]


def shaped(changes):
    changes = dict(changes)
    kind = changes.pop("kind", "h")
    play = made(**changes)
    if kind != "h":
        play["kinds"][kind] = play["kinds"].pop("h")
    return play


def settled(looks, is_open, settle):
    turn = iter(looks)
    played = []

    def look(_):
        played.append(1)
        came = next(turn)
        return {"problems": [] if came is True else ["red"], "at_once": False, "broken": came is None}

    return settle({}, is_open, look)[0], len(played)


def judge(scenes, settle):
    good, bad = 0, []
    for what, scene, bare, under, red in CASES:
        problems, _ = verdict.judge(copy.deepcopy(scene), shaped(bare), shaped(under))
        if bool(problems) == red:
            good += 1
        else:
            bad.append(f"{what}: {problems or 'passed'}")
    for looks, is_open, result, count in PLAYS:
        if settled(looks, is_open, settle) == (result, count):
            good += 1
        else:
            bad.append(f"plays {looks}, open {is_open}: {settled(looks, is_open, settle)}")
    for seconds, beside, bound in BOUNDS:
        if verdict.storm_bound(seconds, beside) == bound:
            good += 1
        else:
            bad.append(f"bound of {seconds} s is {verdict.storm_bound(seconds, beside)}, not {bound}")
    names = [scene["name"] for scene in scenes]
    if len(names) == len(set(names)):
        good += 1
    else:
        bad.append("two scenes have one name")
    for line in bad:
        print(f"harm-self: FAIL {line}")
    return good, len(bad)
