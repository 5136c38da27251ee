# SPDX-License-Identifier: MIT
"""A circuit breaker in a real outage: it opens, probes, and closes when the server is back. The
kernel counts the attempts; the records must say the same."""

import sys
import time

import outage
from catalog import FAST, LOOPS, PORT, WAYS, Pace, configuration
from lab import Run, wait_until
from outage import SECOND

FAILURES, OPEN = 5, 2  # seconds
LATE = 0.1  # seconds; so much later may the witness see one SYN, and so much sooner after it the next
# Tokens for one probe and no more: the later ones go without.
SETTINGS = f"""
capacity = {FAILURES}
floor = 0
probe = 1h
breaker = on
breaker_failures = {FAILURES}
breaker_rate = 0
breaker_open = {OPEN}s
nonblocking = park
"""
WATCHED = 7.5  # seconds of the outage: three open times and a bit; two where each retry is parked
FIRSTS = 20
PAUSE = 0.25  # seconds between them: all together last longer than the breaker is open


def few(things):
    """The first of them, for a message."""
    return f"{things[:8]}{' and more' if len(things) > 8 else ''}"


def clients():
    """One that blocks, one that polls at once, one with an event loop."""
    return ("bash /dev/tcp", "python socket", "node http")


def text(lab, mode="enforce"):
    kept, _, _ = FAST.text.partition("capacity = 10\n")
    rest = "base = 10ms\ncap = 1s\nmin = 1ms\nmin_life = 200ms\n"
    pace = Pace("breaker", kept + rest + SETTINGS, 0, 0, 0)
    return configuration(pace, lab.log.path).replace("mode   = enforce", f"mode   = {mode}")


def changes(lab):
    return [
        r["event"].removeprefix("breaker-") for r in lab.log.fields()
        if r.get("event", "").startswith("breaker-")
    ]


def judge_gaps(times, problems):
    """The first few go; after that no two within one open time."""
    if len(times) < FAILURES:
        problems.append(f"{len(times)} attempts: it cannot have opened")
        return
    gaps = [(b - a) / SECOND for a, b in zip(times[FAILURES - 1:], times[FAILURES:])]
    if any(gap < OPEN - LATE for gap in gaps):
        problems.append(f"attempts within the open time: {few([round(g, 2) for g in gaps])}")
    if not gaps:
        problems.append("nobody probed: locked out")


def judge_changes(seen, least, most, problems):
    """least, most: probes before and after the log was read. The last one may be under way, or its
    record."""
    wanted = ["open"] + ["half-open", "open"] * most
    if seen != wanted[:len(seen)] or len(seen) < 2 * least:
        problems.append(f"recorded {few(seen)}, not {few(wanted)}")


def through_outage(lab, client, library):
    problems, chance = [], []
    way = WAYS["refused"]
    outage.fail(lab, way)
    run = lab.start(client, client.loop, lab.environment(library, text(lab)), lab.host(way))
    try:
        if not wait_until(lambda: lab.attempts(way) > 0, 20, step=0.002):
            return {"problems": ["made no attempt in 20 s"]}
        start = lab.syns.times(PORT)[0]
        outage.sleep_until(start + int(WATCHED * SECOND))
        times = lab.syns.times(PORT)
        judge_gaps(times, chance)
        if len(times) > FAILURES + WATCHED / OPEN:
            chance.append(f"{len(times)} attempts in {WATCHED} s")
        seen = changes(lab)
        judge_changes(seen, len(times) - FAILURES, lab.syns.count(PORT) - FAILURES, problems)
        since = outage.recover(lab, way)
        # The open time with its jitter, a parked socket's second, and a busy machine's.
        limit = OPEN * 1.1 + 4
        back = outage.back_at_work(lab, client, run, since, limit)
        if back is None:
            chance.append(f"not back within {limit} s")
        else:
            outage.judge_answer(client, run, problems)
        judge_gaps(lab.syns.times(PORT)[:len(times) + 1], chance)
        seen = changes(lab)
        if seen[-2:] != ["half-open", "closed"] or seen.count("closed") != 1:
            kind = chance if back is None else problems
            kind.append(f"recorded at the end: {few(seen[-8:])}")
    finally:
        run.kill()
    return {"attempts": len(times), "recovery": back, "problems": problems, "chance": chance}


def first_tries(lab, library):
    """First tries are throttled too."""
    problems, chance = [], []
    lab.server_mode("down")
    command = [sys.executable, f"{LOOPS}/firsts.py", "127.0.0.1", str(PORT), str(FIRSTS),
               str(PAUSE)]
    run = Run(command, lab.folder, lab.environment(library, text(lab)))
    try:
        run.wait(60)
        said = run.output().splitlines()
        if said != ["Connection refused"] * FIRSTS:
            problems.append(f"printed {said}")
    finally:
        run.kill()
    times, records = lab.syns.times(PORT), lab.log.fields()
    judge_gaps(times, chance)
    if len(times) > FIRSTS / 2:
        chance.append(f"{len(times)} attempts of {FIRSTS}")
    kinds = [r["kind"] for r in records if r.get("event") == "attempt"]
    # The breaker opens before the start is used up that goes free where nobody can say what is new.
    if len(kinds) != FIRSTS or kinds[:FAILURES + 1] != ["first"] * (FAILURES + 1):
        problems.append(f"attempts recorded: {kinds}")
    if not any(r.get("event") == "throttled" for r in records):
        problems.append("no record of what was throttled")
    return {"attempts": len(times), "problems": problems, "chance": chance}


def observe(lab, client, library):
    """Everything is decided and logged, and everything goes."""
    problems = []
    way = WAYS["refused"]
    outage.fail(lab, way)
    environment = lab.environment(library, text(lab, "observe"))
    run = lab.start(client, client.loop, environment, lab.host(way))
    try:
        wait_until(lambda: "half-open" in changes(lab), 20)
        time.sleep(0.2)
        attempts = lab.attempts(way)
    finally:
        run.kill()
    if attempts < 100:
        problems.append(f"only {attempts} attempts: was something throttled?")
    seen = changes(lab)
    if seen[:3] != ["open", "half-open", "open"]:
        problems.append(f"recorded {few(seen)}")
    events = {r.get("event") for r in lab.log.fields()}
    if "throttled" in events or "would-throttle" not in events:
        problems.append(f"events: {sorted(map(str, events))}")
    return {"attempts": attempts, "problems": problems}


def compare(lab, client, library):
    if client is None:
        return first_tries(lab, library)
    return through_outage(lab, client, library)
