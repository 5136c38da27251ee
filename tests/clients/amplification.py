# SPDX-License-Identifier: MIT
"""What retries add to the load of a failing server, through the real shim: a client that tries each
request three times (bounded.c), counted by the server."""

import os
import threading
import time

from catalog import PORT
from lab import Run

TRIES = 3
THREADS, PAUSE_MS = 16, 50
SECONDS = 30
PATTERNS = ("1", "20", "100", "flapping")  # percent of the connections that fail
FLAP = 3  # seconds up, then as long down

# The rule alone: the process-wide bucket is out of the way.
WIDE = "[budget]\ncapacity = 1000000\nfloor = 10000/s\n"
ONE_TRY = "one try, without the library"
BUDGETS = {  # as the table calls them
    "bare": None,
    ONE_TRY: None,
    "`bucket`": "",
    "`bucket`, `breaker_open = 1s`": "breaker = on\nbreaker_open = 1s\n",
    **{f"`{s}`": f"strategy = {s}\n" for s in
       ("window", "adaptive", "throttle", "probabilistic", "concurrency")},
    **{f"`preset = {p}`": f"preset = {p}\n" for p in
       ("grpc", "aws", "aws-2026", "finagle", "linkerd", "sre", "envoy", "failsafe")},
}
MARK = "<!-- make amplification -->"

# The test: defaults throughout. A retry costs a token, and a success earns a tenth of one: of
# attempts of which 80 % succeed that makes 0.08 / 0.92 = 0.087 retries for each request. On top of
# that come the ten tokens at the start and one every 5 s: 16 over the time, 0.02 of so many requests.
GOAL = 1.12
TEST_SECONDS, TEST_REQUESTS = 30, 800
# 1 + 0.2 + 0.04 = 1.24, of about a thousand requests; chance takes 0.03 of it once in thirty times, and
# 0.07 hardly ever.
BARE_LEAST = 1.17
SERVED_LEAST = 0.8  # without any retry


def configuration(lab, budget, process=WIDE):
    return (f"[retrybudget]\nreload = 0\n[log]\nsocket = {lab.log.path}\n"
            f"{process}[destination default]\n{budget}")


def flap(lab, run):
    """Well and ill in turn, until the client ends."""
    ill = 100
    while run.process.poll() is None:
        ill = 100 - ill
        lab.server.ask(f"ill {ill}")
        end = time.monotonic() + FLAP
        while time.monotonic() < end and run.process.poll() is None:
            time.sleep(0.01)


def play(lab, build, library, text, pattern, seconds=SECONDS, tries=TRIES):
    """Requests, what of them was served, and attempts as the server counted them."""
    lab.server_mode("healthy")
    lab.server.ask(f"ill {0 if pattern == 'flapping' else pattern}")
    before = lab.healthy_accepted()
    command = [os.path.join(build, "clients", "bounded"), str(PORT), str(THREADS), str(seconds),
               str(tries), str(PAUSE_MS)]
    run = Run(command, lab.folder, lab.environment(library, text))
    try:
        if pattern == "flapping":
            flapping = threading.Thread(target=flap, args=(lab, run))
            flapping.start()
        run.wait(seconds + 60)
        if pattern == "flapping":
            flapping.join()
        requests, _, served = map(int, run.output().split())
    finally:
        run.kill()
    return {"requests": requests, "served": served / requests, "rate": served / seconds,
            "load": (lab.healthy_accepted() - before) / requests}


def measure(lab, build, budget, pattern, library):
    settings = BUDGETS[budget]
    if settings is None:
        tries = 1 if budget == ONE_TRY else TRIES
        return {**play(lab, build, "", "", pattern, tries=tries), "problems": []}
    return {**play(lab, build, library, configuration(lab, settings), pattern), "problems": []}


def compare(lab, build, library):
    """The default bucket at 20 % failing, held against the goal, and against bare."""
    chance = []
    bare = play(lab, build, "", "", "20", 3)
    shim = play(lab, build, library, configuration(lab, "", ""), "20", TEST_SECONDS)
    if bare["load"] < BARE_LEAST:
        chance.append(f"bare load {bare['load']:.3f}: this client does not multiply")
    if shim["requests"] < TEST_REQUESTS:
        chance.append(f"only {shim['requests']} requests: the start would count for too much")
    if shim["load"] > GOAL:
        chance.append(f"load {shim['load']:.3f} of {shim['requests']} requests, not {GOAL}")
    if shim["served"] < SERVED_LEAST:
        chance.append(f"served {shim['served']:.3f}: no retry at all would do better")
    return {"bare": bare, "shim": shim, "problems": [], "chance": chance}


# What chance makes of two runs of a pattern: of the share, and of the requests per second.
CHANCE = 0.03


def worse_than_one_try(results):
    """The cells in which a client would have done better without any retry and without the library."""
    for (budget, pattern), cell in results.items():
        least = results.get((ONE_TRY, pattern))
        if not cell or not least or budget == ONE_TRY:
            continue
        for what, text in (("served", "of its requests"), ("rate", "requests per second")):
            if cell[what] < least[what] * (1 - CHANCE) - 0.001:
                yield (f"{budget}, {pattern}: served {cell[what]:.3g} {text}, and with one try "
                       f"{least[what]:.3g}")


def table(results):
    """The table of tests/README.md: results by (budget, pattern)."""
    patterns = [p for p in PATTERNS if any(p == q for _, q in results)]
    heads = [p if p == "flapping" else f"{p} % failing" for p in patterns]
    yield "| rule | " + " | ".join(heads) + " |"
    yield "| --- |" + " --- |" * len(patterns)
    for budget in dict.fromkeys(b for b, _ in results):
        cells = [results[budget, p] for p in patterns]
        yield f"| {budget} | " + " | ".join(
            f"{c['load']:.2f} ({c['served']:.0%}, {c['rate']:.0f}/s)" if c else "-" for c in cells) + " |"
