# SPDX-License-Identifier: MIT
"""Shows that the judges of the lab can say no: each is held against plays that are made up. No bare storm, or no
help by the library, must be told; and so must a simulation that is far from what was measured."""

import beside
import pictures
import whole_herd
from stage import BUSY, PORT, TAIL, USED, cycles, disturbed, scenes, told_open


def made(case, load, answered, ok=None, begin=0, took=5.0, in_vain=0):
    """A play in which so many came, at each port or at one (by port), and were answered in each tenth of a second; from
    `begin` seconds on. Each piece of work took so many ms."""
    count = int(case["seconds"] * 10)
    quiet = int(begin * 10)
    work = {"asked": 100, "ok": 100 if ok is None else ok, "errors": {}, "p50": took, "p99": took,
            "by kind": {"h": {"p50": took, "p99": took}}, "each": [[took, 1]] * 100}
    loads = {port: load.get(port, 1) if isinstance(load, dict) else load for port in case["ports"]}
    return {"seconds": case["seconds"], "work": {client.get("group", "work"): work for client in case["clients"]},
            "load": {str(port): [some] * count for port, some in loads.items()},
            "in_vain": {str(port): [in_vain] * count for port in case["server_ports"]},
            "answered": {str(port): [0] * quiet + [answered] * (count - quiet) for port in case["server_ports"]}}


def verdicts(scene, of):
    """What is wrong with each variant, when `of` (by variant) made the plays."""
    found = {variant: of(variant, case) for variant, case in scene["plays"].items()}
    return {variant: wrong for variant, _, wrong in scene["judge"](found)}


def in_a_chain(variant, case, library=1, took=5.0, **more):
    """As it should be: bare three tries at each hop, if the tail is not up half of the time."""
    storm = 243 / (2 if "flapping" in variant else 1)
    return made(case, {TAIL + 1: storm if "bare" in variant else library}, 1, 50,
                took=took if "library" in variant else 5.0, **more)


def of_shares(variant, case, bare=1.0):
    """As it should be: tries without the library by the sum."""
    kind, share = variant.split(", ")
    share = int(share.split()[0]) / 100
    load = bare * (1 + share + share ** 2) if kind == "bare" else 1
    ok = 100 * (1 - share ** 3) if kind == "bare" else 100 * (1 - share)
    return made(case, load * 100 / (case["seconds"] * 10), 9, ok)


def at_a_front(variant, case, took=5.0, answered=1):
    """As it should be: callers, and what they make of the backend."""
    return made(case, {PORT: 30 if variant == "bare" else 1, PORT + 100: 1}, answered,
                took=5.0 if variant == "bare" else took)


ALL_DNS = ["bare, fails", "library, fails", "bare, is silent", "library, is silent", "bare, says nothing",
           "library, says nothing"]

TAILS = ["dead", "closing", "hanging", "slow", "flapping", "returning", "dead, behind proxies"]

# Scene, what makes its plays, the variants that must be found wanting (of those that it has, short or whole).
CASES = [
    ("blip", lambda v, c: made(c, 30, 10), ["bare, 83 %", "bare, 98 %"]),  # bare answers all the time
    ("blip", lambda v, c: made(c, 30, 0), ["library, 83 %", "library, 98 %"]),  # nobody ever comes back
    ("blip", lambda v, c: made(c, 30, 10 if "library" in v else 0), []),
    ("chain", in_a_chain, []),
    ("chain", lambda v, c: made(c, 1, 1, 50), [f"bare, {way}" for way in TAILS]),  # one attempt a hop
    ("chain", lambda v, c: in_a_chain(v, c, library=50), [f"{who}, {way}" for who in ("library", "two hops of five")
                                                         for way in TAILS if (who, way) != ("library", "flapping")]),
    ("chain", lambda v, c: in_a_chain(v, c, took=506.0), [f"library, {way}" for way in TAILS]),
    ("chain", lambda v, c: {**in_a_chain(v, c), **({"answered": {str(TAIL + 1): [0] * 300}}
                                                    if "returning" in v else {})}, ["library, returning"]),
    ("chain", lambda v, c: made(c, {TAIL + 1: 243 if "bare" in v else 1}, 1, 5 if v == "library, flapping" else 50),
     ["library, flapping", "bare, flapping"]),
    ("partial", of_shares, []),
    ("partial", lambda v, c: of_shares(v, c, bare=1.6), [f"bare, {share} %" for share in (1, 10, 20, 50)]),
    ("partial", lambda v, c: made(c, 20, 9, 10) if v == "library, 50 %" else of_shares(v, c), ["library, 50 %"]),
    ("farm", lambda v, c: made(c, 0 if v == "one budget" else 200, 0 if v == "bare" else 9), []),
    ("farm", lambda v, c: made(c, 1, 0), ["bare", "a budget each", "one budget"]),
    ("herd", lambda v, c: made(c, 100, 0 if v == "bare" else 9), []),
    ("herd", lambda v, c: made(c, 100, 9 if v == "bare" else 0), ["bare", "library", "one share"]),
    ("dns", lambda v, c: made(c, 100 if "bare" in v or "nothing" in v else 1, 9), []),
    ("dns", lambda v, c: made(c, 1, 0), ALL_DNS),
    ("dns", lambda v, c: made(c, 100, 9), ["library, fails", "library, is silent"]),
    ("today", lambda v, c: made(c, 100 if v == "nothing" else 1, 0 if v == "nothing" else 3), []),
    ("today", lambda v, c: made(c, 100, 0), ["library", "library, one share"]),
    ("backlog", lambda v, c: made(c, 100, 0 if v == "bare" else 3), []),
    ("backlog", lambda v, c: made(c, 1, 0), ["bare", "library"]),
    ("fifty", lambda v, c: made(c, 100 if v == "three at once" else 25, 25), []),
    ("fifty", lambda v, c: made(c, 50, 25), ["three at once", "budget", "all three",
                                                           "all three, one share"]),
]

FRONTS = ["library", "callers too", "ten tries", "hold = 0"]


def parking(variant, case, storm=16, held=0.3, answered=0.4, parked=2000.0, redirected=5.0):
    return made(case, storm if variant == "bare" else held, answered,
                took={"library": parked, "it blocks": 3 * parked}.get(variant, redirected))


# The same of the cycles.
CYCLES = [
    ("reply_timeout", lambda v, c: made(c, 20 if "bare" in v else 5, 0 if "bare" in v else 10), []),
    ("reply_timeout", lambda v, c: made(c, 20, 10), ["bare, its own timeout", "reply_timeout"]),  # asked for ever
    ("reply_timeout", lambda v, c: made(c, 5, 0), ["reply_timeout"]),  # never back
    ("admission", lambda v, c: made(c, 20 if v == "bare" else 15, 10), []),
    ("admission", lambda v, c: made(c, 15, 10), ["bare"]),
    ("admission", lambda v, c: made(c, 20, 10), ["library"]),
    ("admission", lambda v, c: made(c, 20 if v == "bare" else 15, 5), ["library"]),  # what is admitted is not used
    ("breaker", lambda v, c: made(c, 100 if v == "bare" else 2, 0 if v == "bare" else 1), []),
    ("breaker", lambda v, c: made(c, 100, 1), ["bare", "breaker"]),  # all at once
    ("breaker", lambda v, c: made(c, 2, 0), ["breaker"]),  # it opens for ever
    ("redirected", lambda v, c: made(c, 30 if v == "bare" else 1, 4), []),
    ("redirected", lambda v, c: made(c, 1, 4), ["bare"]),
    ("redirected", lambda v, c: made(c, 30, 4), ["library"]),
    ("redirected", lambda v, c: made(c, 30 if v == "bare" else 1, 0), ["library"]),
    ("parked", parking, []),
    ("parked", lambda v, c: parking(v, c, storm=0.3), ["bare"]),
    ("parked", lambda v, c: parking(v, c, held=16), ["library", "redirect", "it blocks"]),
    ("parked", lambda v, c: parking(v, c, answered=0), ["library", "redirect", "it blocks"]),
    ("parked", lambda v, c: parking(v, c, parked=5.0), ["library", "it blocks"]),  # nobody was
    ("parked", lambda v, c: parking(v, c, redirected=1500.0), ["bare", "redirect"]),
    ("kept", lambda v, c: made(c, 1, 6, in_vain=18 if v == "bare" else 1), []),
    ("kept", lambda v, c: made(c, 1, 6, in_vain=1), ["bare"]),
    ("kept", lambda v, c: made(c, 1, 6, in_vain=18), ["library"]),
    ("kept", lambda v, c: made(c, 10, 6, in_vain=18 if v == "bare" else 1), ["library"]),  # connects for jobs
    ("kept", lambda v, c: made(c, 1, 0, in_vain=18 if v == "bare" else 1), ["bare", "library"]),
    ("hold", at_a_front, []),
    ("hold", lambda v, c: made(c, 1, 1), ["bare"]),
    ("hold", lambda v, c: made(c, 3, 1), ["bare", *FRONTS]),
    ("hold", lambda v, c: at_a_front(v, c, took=600.0), FRONTS),
    ("hold", lambda v, c: at_a_front(v, c, answered=0), ["bare", *FRONTS]),
    ("reconnect_spread", lambda v, c: made(c, 100 if v == "bare" else 0.5, 0 if v == "bare" else 1), []),
    ("reconnect_spread", lambda v, c: made(c, 0.5, 1), ["bare"]),
    ("reconnect_spread", lambda v, c: made(c, 100, 1), ["bare", "it blocks", "it does not block"]),
    ("reconnect_spread", lambda v, c: made(c, 100 if v == "bare" else 0.5, 0), ["it blocks", "it does not block"]),
    ("reconnect_spread", lambda v, c: made(c, 100 if v == "bare" else 0.5, 0 if v == "bare" else 1, in_vain=1),
     ["it blocks"]),
    ("ramp", lambda v, c: made(c, 2, 0 if v == "bare" else 1, in_vain=int(v == "bare")), []),
    ("ramp", lambda v, c: made(c, 2, 1), ["bare"]),
    ("ramp", lambda v, c: made(c, 2, 0, in_vain=int(v == "bare")), ["way back"]),
    ("ramp", lambda v, c: made(c, 10, 0 if v == "bare" else 1, in_vain=int(v == "bare")), ["way back"]),  # its peak
    ("ramp", lambda v, c: made(c, 2, 0 if v == "bare" else 1, in_vain=1), ["way back"]),
]


def far_off():
    """What the comparison with the simulator says, when it is right, and when it is not."""
    scene = scenes["blip"](True)
    variant, case = next(iter(scene["plays"].items()))
    for load, answered, wanted in ((30, 10, 0), (31, 10, 0), (60, 10, 1), (30, 0, 2)):
        _, wrong = beside.compare(scene, variant, made(case, 30, 10), [made(case, load, answered)])
        if len(wrong) != wanted:
            yield f"simulated {load}, {answered} beside 30, 10: {len(wrong)} found wanting, not {wanted}"


def at_an_edge():
    """Where seeds do not agree, all that they say is told, and what lies between is not far off."""
    scene = scenes["blip"](True)
    variant, case = next(iter(scene["plays"].items()))
    seeds = [made(case, load, 10) for load in (30, 30, 60)]
    row, wrong = beside.compare(scene, variant, made(case, 45, 10), seeds)
    if wrong or row["load, simulated"] != "300.0/s (300.0 to 600.0)" or row["goodput, simulated"] != "100.0/s":
        yield f"simulated 30, 30, 60 beside 45: {row}, {wrong}"
    row, _ = beside.compare(scene, variant, made(case, 30, 10), [made(case, 30, 0), *[made(case, 30, 10)] * 2])
    if not row["recovery, simulated"].endswith(" to never)"):
        yield f"simulated never, once: {row}"


def known():
    """What is listed as open counts as that, and nothing else of its variant; where no chance decides it has to be."""
    for why, problems, wanted in (("by chance", ["late: 3", "more"], (["more"], 1)), ("by chance", [], ([], 0)),
                                  ("always", ["late: 3"], ([], 1)), ("always", [], (["is well now"], 0))):
        (_, _, wrong, told), = told_open({"open": {"one": ("late", why)}}, [("one", {}, problems)])
        if len(wrong) != len(wanted[0]) or not all(text in one for text, one in zip(wanted[0], wrong)) \
                or len(told) != wanted[1]:
            yield f"open ({why}), {problems}: {wrong}, {told}"


def not_alone():
    """A machine that others keep busy is told of, and one that is not, is not."""
    if disturbed(3.9, 2) or "load 200 on 2 cores" not in disturbed(200, 2):
        yield f"load 3.9: {disturbed(3.9, 2)!r}; load 200: {disturbed(200, 2)!r}"


def told_in_the_picture():
    """A picture of two panels says what its colours are, side by side and in its width."""
    texts = ["attempts that reach the resolver", "answered", "dotted: the simulator's",
             "grey: what it can answer, 1000/s"]
    labels = list(pictures.Drawing("", "").key([("#000000", "-", text) for text in texts], 2 * pictures.WIDTH, 250))
    places = [float(label.split(" at screen ")[1].split(",")[0]) * 2 * pictures.WIDTH for label in labels]
    ends = [place + 6 * len(text) for place, text in zip(places, texts)]
    if not all(text in label for text, label in zip(texts, labels)) or ends[-1] > 2 * pictures.WIDTH \
            or any(end >= place for end, place in zip(ends, places[1:])):
        yield f"what the colours say does not fit: {labels}"


def herd_in_full():
    """What tests/herd/run finds wrong is wrong with its row, and a run that does not come to its end is that."""
    played = "200/s: 70 attempts, 1.2/s; after the return 200 of 200 back in 2.0 s, 1.0 s after the first answer; " \
        "at most 90 arrived in a second, 0 collapses\n"
    bare = played.replace("200/s: 70", "bare: 90000")  # it all comes back
    worse = "herd: 200/s: 3 clients ended early, or badly\n"
    for text, wanted in ((played + "1 passed, 0 failed, 0 skipped\n", []),
                         (played + worse + "0 passed, 1 failed, 0 skipped\n", ["200/s"]),
                         (played + "0 passed, 1 failed, 0 skipped\n", ["the run itself"]),
                         (worse + "0 passed, 1 failed, 0 skipped\n", ["the run itself"]),
                         (bare + played + "1 passed, 0 failed, 0 skipped\n", ["bare"]),
                         (played, ["the run itself"]), ("", ["the run itself"])):
        said = [name for name, _, wrong, _ in whole_herd.rows_of(text) if wrong]
        if said != wanted:
            yield f"of {text!r}: {said} found wanting, not {wanted}"


def too_long():
    """Minutes that are promised for the short form and for the whole, on two cores, if nothing is played again."""
    for quick, minutes in ((True, 5), (False, 40)):
        busy = sum(play.get("busy", BUSY) * (play["seconds"] + 3)
                   for make in scenes.values() for play in make(quick)["plays"].values())
        takes = busy / (2 * USED) + (0 if quick else whole_herd.TAKES)
        if takes > minutes * 60:
            yield f"{'the short form' if quick else 'the whole'} takes {takes:.0f} s, not {minutes} minutes"


def unlike(cases, of):
    """Of these judges, what finds wanting another variant than it should."""
    for name, make, wanted in cases:
        for quick in (True, False):
            scene = of[name](quick)
            said = {variant for variant, wrong in verdicts(scene, make).items() if wrong}
            if said != (want := set(wanted) & set(scene["plays"])):
                yield f"{name}: {sorted(said)} found wanting, not {sorted(want)}"
    yield from (f"{name} is judged by nothing made up" for name in of if name not in {case[0] for case in cases})


def judge():
    """(passed, failed)"""
    bad = [*unlike(CASES, scenes), *unlike(CYCLES, cycles), *far_off(), *at_an_edge(), *known(), *not_alone(),
           *told_in_the_picture(), *herd_in_full(), *too_long()]
    for line in bad:
        print(f"lab-self: FAIL {line}")
    passed = len(CASES) + len(CYCLES) + 8 - len(bad)
    print(f"lab-self: {passed} passed, {len(bad)} failed, 0 skipped")
    return passed, len(bad)
