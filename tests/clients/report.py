# SPDX-License-Identifier: MIT
"""What the runs say: a line per case while they go on, then tables, bare beside shim."""

from statistics import stdev

import blackhole
import catalog
import matrix
import mixed
import secure
import secure_well
import statuses


def progress(case):
    problems = case["result"]["problems"]
    unjudged = case["result"].get("unjudged", ())
    verdict = "FAIL" if problems else "skip" if unjudged else "ok"
    print(f"{verdict:4} {case['id']} ({case['result']['seconds']:.1f} s)", flush=True)
    for problem in problems:
        print(f"     {problem}", flush=True)
    for problem in unjudged:
        print(f"     not judged on a slow machine: {problem}", flush=True)
    for problem in case["result"].get("once", ()):
        print(f"     once in three runs: {problem}", flush=True)
    if "trace" in case["result"]:
        print("     " + case["result"]["trace"].strip().replace("\n", "\n     "), flush=True)


FEW, MANY = 10, 40  # runs: fewer say nothing about a mean; fewer leave much of it to chance


def number(value, form="{:.0f}"):
    return "-" if value is None else form.format(value)


def outage_table(done):
    outages = [c for c in done if c["kind"] == "outage"]
    bare = {(c["client"], c["failure"]): c["result"] for c in outages if c["phase"] == "bare"}
    rows = [c for c in outages if c["phase"] == "shim"]
    if not rows and bare:
        print(f"\n{'client':<16} {'failure':<11} {'bare/s':>8} {'back':>6}")
        for (client, failure), r in bare.items():
            print(f"{client:<16} {failure:<11} {number(r.get('rate')):>8} "
                  f"{number(r.get('recovery'), '{:.2f}'):>6}")
        return
    if not rows:
        return
    print("\nOutage. bare/s: attempts per second without the shim; first and then/s: attempts in the")
    print("first 30 s and per second after (fast: in 3 s, ten times the pace); back: seconds from the")
    print("server's return to the answer; free: attempts that the shim took for first tries; parked:")
    print("connects that were throttled without a wait.")
    print(f"\n{'client':<16} {'failure':<11} {'pace':<8} {'bare/s':>8} {'first':>6} {'then/s':>7} "
          f"{'CPU':>6} {'back':>6} {'free':>5} {'parked':>7}")
    for case in sorted(rows, key=lambda c: (c["pace"], c["client"], c["failure"])):
        r = case["result"]
        b = bare.get((case["client"], case["failure"]), {})
        print(
            f"{case['client']:<16} {case['failure']:<11} {case['pace']:<8} "
            f"{number(b.get('rate')):>8} {number(r.get('attempts')):>6} "
            f"{number(r.get('after_rate'), '{:.2f}'):>7} {number(r.get('cpu'), '{:.1%}'):>6} "
            f"{number(r.get('recovery'), '{:.2f}'):>6} {number(r.get('first_tries')):>5} "
            f"{number(r.get('parked')):>7}"
            f"{'  FAIL' if r['problems'] else ''}"
        )


def averages(done):
    """The goals that hold for the mean: full jitter lets a single run pass them by chance. Clients
    that wait and clients whose sockets are parked are two groups, or the slower would hide the
    faster. Each mean is a test of its own; returns how many passed and failed."""
    passed = failed = 0
    runs = [c for c in done if "pace" in c and "after_rate" in c["result"]]
    for pace in catalog.PACES.values():
        for manner, parked in (("waiting", False), ("parked", True)):
            group = [
                c["result"] for c in runs
                if c["pace"] == pace.name and bool(c["result"]["parked"]) == parked
            ]
            if len(group) < FEW:
                continue
            for what, key, most in (
                (f"attempts in the first {pace.first} s", "attempts", pace.mean_first),
                ("attempts per second after that", "after_rate", pace.mean_after_rate),
                ("retries taken for first tries", "too_free", catalog.MEAN_TOO_FREE),
            ):
                runs_of = [r[key] for r in group]
                mean = sum(runs_of) / len(group)
                # Three standard errors: what chance does to a mean of few.
                chance = 3 * stdev(runs_of) / len(group) ** 0.5 if len(group) < MANY else 0
                good = mean <= most + chance
                passed, failed = passed + good, failed + (not good)
                print(f"{'ok' if good else 'FAIL':4} {pace.name}, {manner}: {what}: "
                      f"mean {mean:.2f} of {len(group)} runs (goal: at most {most}"
                      + (f", and {chance:.2f} by chance)" if chance else ")"))
    return passed, failed


def healthy_table(done):
    rows = [c for c in done if c["kind"] == "healthy"]
    if rows:
        print("\nHealthy server: same output, exit code and bytes as bare, nothing throttled.")
        print(f"\n{'client':<16} {'requests':>9} {'connections':>12} {'bytes':>9} {'recorded':>9} "
              f"{'throttled':>10}")
    for case in rows:
        r = case["result"]
        print(f"{case['client']:<16} {number(r.get('requests')):>9} "
              f"{number(r.get('connections')):>12} {number(r.get('bytes')):>9} "
              f"{number(r.get('recorded')):>9} {number(r.get('throttled')):>10}"
              f"{'  FAIL' if r['problems'] else ''}")
    for case in (c for c in done if c["kind"] == "first-tries"):
        r = case["result"]
        print(f"50 {case['crowd']} at once, server down: {r.get('attempts', '-')} attempts, "
              f"{r.get('first_tries', '-')} of them first tries")
    for case in (c for c in done if c["kind"] == "deepbind"):
        seen = case["result"].get("seen", {})
        print("PHP's curl extension, attempts seen: " +
              "; ".join(f"{what}: {n}" for what, n in seen.items()))


def left_out(done, clients):
    shown = {c["client"] for c in done if c["kind"] in ("outage", "matrix")}
    for client in clients:
        if client.why_not and client.name in shown:
            known = (*client.failures, *client.further, "unix", "udp")
            absent = [w for w in catalog.WAYS if w not in known]
            print(f"not in the table: {client.name} against {', '.join(absent)}: {client.why_not}")


def tables(done, seconds, clients):
    """Prints everything; returns the number of failures."""
    outage_table(done)
    healthy_table(done)
    mixed.report(done)
    statuses.report(done)
    blackhole.report(done)
    secure.report(done)
    secure_well.report(done)
    matrix.blocks(done)
    matrix.overview(done, clients)
    left_out(done, clients)
    print()
    good, bad = averages(done)
    for case in (c for c in done if c["result"]["problems"]):
        print(f"FAIL {case['id']}: {'; '.join(case['result']['problems'])}")
        bad += 1
    sound = [c["result"] for c in done if not c["result"]["problems"]]
    skipped = sum("unjudged" in result for result in sound)
    good += len(sound) - skipped
    print(f"{len(done)} runs in {seconds:.0f} s")
    print(f"{good} passed, {bad} failed, {skipped} skipped")
    return bad
