# SPDX-License-Identifier: MIT
"""Shows that the judges of the lab can say no: each is held against plays that are made up. No bare storm, or no
help by the library, must be told."""

from scenes import scenes


def made(case, load, answered, ok=None, begin=0):
    """A play in which so many came and were answered in each tenth of a second; from `begin` seconds on."""
    count = int(case["seconds"] * 10)
    quiet = int(begin * 10)
    work = {"asked": 100, "ok": 100 if ok is None else ok, "errors": {}, "p50": 5.0, "p99": 50.0}
    return {"seconds": case["seconds"], "work": {"work": work},
            "load": {str(port): [load] * count for port in case["ports"]},
            "answered": {str(port): [0] * quiet + [answered] * (count - quiet) for port in case["server_ports"]}}


def verdicts(name, of):
    """What is wrong with each variant, when `of` (by variant) made the plays."""
    scene = scenes[name](True)
    found = {variant: of(variant, case) for variant, case in scene["plays"].items()}
    return {variant: wrong for variant, _, wrong in scene["judge"](found)}


# Scene, what makes its plays, the variants that must be found wanting.
CASES = [
    ("blip", lambda v, c: made(c, 30, 10), ["bare, 98 %"]),  # bare answers all the time
    ("blip", lambda v, c: made(c, 30, 0), ["library, 98 %"]),  # nobody ever comes back
    ("blip", lambda v, c: made(c, 30, 10 if "library" in v else 0), []),
    ("chain", lambda v, c: made(c, 1, 1, 50), ["bare, dead"]),  # one attempt a hop
    ("chain", lambda v, c: made(c, 1, 1, 5 if v == "library, flapping" else 50), ["bare, dead", "library, flapping"]),
    ("partial", lambda v, c: made(c, 20, 9, 50), []),
    ("partial", lambda v, c: made(c, 20, 9, 10 if v == "library, 50 %" else 50), ["library, 50 %"]),
    ("farm", lambda v, c: made(c, 200 if v == "bare" else 0, 9), []),
    ("farm", lambda v, c: made(c, 1, 9), ["bare", "one budget"]),
    ("today", lambda v, c: made(c, 100 if v == "nothing" else 1, 3), []),
    ("today", lambda v, c: made(c, 100, 0 if v == "library" else 3), ["library"]),
    ("backlog", lambda v, c: made(c, 100, 3, begin=7), []),
    ("backlog", lambda v, c: made(c, 1, 0), ["bare", "library"]),
    ("instances", lambda v, c: made(c, 100 if v == "three at once" else 25, 25), []),
    ("instances", lambda v, c: made(c, 50, 25), ["three at once", "three, under the library"]),
]


def judge():
    """(passed, failed)"""
    bad = []
    for name, of, wanted in CASES:
        said = [variant for variant, wrong in verdicts(name, of).items() if wrong]
        if sorted(said) != sorted(wanted):
            bad.append(f"{name}: {said} found wanting, not {wanted}")
    bad += [f"{name} is judged by nothing made up" for name in scenes if name not in {case[0] for case in CASES}]
    for line in bad:
        print(f"lab-self: FAIL {line}")
    print(f"lab-self: {len(CASES) + 1 - len(bad)} passed, {len(bad)} failed, 0 skipped")
    return len(CASES) + 1 - len(bad), len(bad)
