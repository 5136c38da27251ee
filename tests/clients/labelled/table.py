# SPDX-License-Identifier: MIT
"""What the labelled corpus prints, and the bounds it holds the shim to."""

import sys

from join import Confusion

OVERALL = 0.95  # precision and recall each, over all clients together
EACH = 0.85  # and for each client over all of its conditions
REFUSED = 0.01  # of the requests of a client that never retries
UNLABELLED = 0.05  # of the attempts; beyond, the measurement says too little


def share(value):
    return "n/a" if value is None else f"{value:.3f}"


def progress(results):
    if not results:
        return
    seconds = sum(r.get("seconds", 0) for r in results)
    print(f"  {results[0]['client']}: {seconds:.0f} s", file=sys.stderr, flush=True)


def line(name, condition, c, more=""):
    print(f"{name:<26} {condition:<8} {c.total():>7} {c.true_retry:>6} {c.false_retry:>6} "
          f"{c.true_first:>6} {c.false_first:>6} {c.false_lookups:>6} {c.unlabelled:>5} "
          f"{c.unseen:>6} {share(c.precision()):>9} {share(c.recall()):>6}{more}")


def heading():
    print("\nIs it a retry? The shim's guess against the truth. The columns are what was said, and")
    print("in brackets what it was, if another thing; look-up: lookups called retries, though none")
    print("fails here; ?: attempts of which nobody knows the unit; unseen: without a record.")
    print(f"\n{'client':<26} {'failing':<8} {'tries':>7} {'retry':>6} {'retry':>6} {'first':>6} "
          f"{'first':>6} {'look-':>6} {'?':>5} {'unseen':>6} {'precision':>9} {'recall':>6}")
    print(f"{'':<26} {'':<8} {'':>7} {'':>6} {'(frst)':>6} {'':>6} {'(rtry)':>6} {'up':>6}")


def problems_of(client, results, total):
    """What of one client is below its bounds."""
    found = [f"{r['condition']}: {p}" for r in results for p in r["problems"]]
    for what, value in (("precision", total.precision()), ("recall", total.recall())):
        # A client that never retried has neither; its false alarms count in the whole.
        if value is not None and value < EACH and total.true_retry + total.false_first:
            found.append(f"{what} {value:.3f}, at least {EACH} is the goal")
    known = total.total()
    if total.unlabelled > UNLABELLED * (known + total.unlabelled):
        found.append(f"{total.unlabelled} attempts without a known unit, {known} with one")
    if total.unseen:
        found.append(f"{total.unseen} connections that the shim did not judge")
    if not client.retries and total.true_retry + total.false_first:
        found.append(f"{total.true_retry + total.false_first} retries by a client that makes none")
    return found


def refusals(done):
    """The rows of the clients that never retry; returns (passed, failed)."""
    rows = [r for r in done if r["mode"] == "enforce"]
    if not rows:
        return 0, 0
    print("\nWhat the budget costs clients that never retry, with the built-in defaults: requests")
    print(f"refused (at most {REFUSED:.0%} is the goal), and the time that all of them took.")
    print(f"\n{'client':<26} {'failing':<8} {'requests':>9} {'served':>7} {'refused':>8} "
          f"{'share':>7} {'seconds':>8}")
    bad = 0
    for r in rows:
        requests, refused = r.get("requests", 0), r.get("refused", 0)
        failed = bool(r["problems"]) or not requests or refused > REFUSED * requests
        bad += failed
        print(f"{r['client']:<26} {r['condition']:<8} {requests:>9} {r.get('served', 0):>7} "
              f"{refused:>8} {refused / requests if requests else 0:>7.1%} "
              f"{r.get('seconds', 0):>7.1f}{'+' if r.get('stopped') else ' '}"
              f"{'  FAIL' if failed else ''}")
        for p in r["problems"]:
            print(f"    {p}")
    return len(rows) - bad, bad


def print_all(done, clients, wrong, seconds):
    """Prints everything; wrong: in what the measure itself fails (selftest.py). Returns the number
    of failures."""
    heading()
    passed, failed = int(not wrong), int(bool(wrong))
    everything, complaints = Confusion(), []
    for client in clients:
        rows = [r for r in done if r["client"] == client.name and r["mode"] == "observe"]
        total = Confusion()
        for r in rows:
            c = Confusion(**r.get("confusion", {}))
            line(client.name, r["condition"], c)
            total += c
        found = problems_of(client, rows, total)
        line(client.name, "all", total, "  FAIL" if found else "")
        everything += total
        if found:
            complaints.append((client.name, found, rows))
        passed, failed = passed + (not found), failed + bool(found)
    print()
    line("all clients", "all", everything)
    good, bad = refusals(done)
    passed, failed = passed + good, failed + bad
    print()
    print(f"{'FAIL' if wrong else 'ok':4} the measure itself, on stories whose truth is plain: "
          f"{'; '.join(wrong) or 'right'}")
    for name, found, rows in complaints:
        print(f"FAIL {name}: {'; '.join(found)}")
        for r in rows:
            for told in r.get("story", []):
                print(f"    {r['condition']}: {told}")
    if len(clients) > 3:
        for what, value in (("precision", everything.precision()), ("recall", everything.recall())):
            fine = value is not None and value >= OVERALL
            passed, failed = passed + fine, failed + (not fine)
            print(f"{'ok' if fine else 'FAIL':4} {what} over all clients: {share(value)} "
                  f"(goal: at least {OVERALL})")
    print(f"{len(done)} runs in {seconds:.0f} s")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed
