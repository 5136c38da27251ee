# SPDX-License-Identifier: MIT
"""What the labelled corpus prints, and the bounds it holds the shim to."""

import sys

import bounds
import marks
from join import Confusion
from stage import CONDITIONS

PARTIAL = {c.name for c in CONDITIONS if c.partial}
WHOLE = {c.name for c in CONDITIONS if c.fail == 1 or c.outage}
SHARES = "<!-- tests/clients/labelled/run -k share: --renew -->"
SHORT = "<!-- tests/clients/labelled/run --renew -->"


def share(value):
    return "n/a" if value is None else f"{value:.3f}"


def progress(results):
    if not results:
        return
    seconds = sum(r.get("seconds", 0) for r in results)
    print(f"  {results[0]['client']}: {seconds:.0f} s", file=sys.stderr, flush=True)


def number(c):
    """How many retries were called so for each that was made."""
    made = c.true_retry + c.false_first
    return f"{(c.true_retry + c.false_retry) / made:.2f}" if made else "n/a"


def line(name, condition, c, more=""):
    print(f"{name:<26} {condition:<8} {c.total():>7} {c.true_retry:>6} {c.false_retry:>6} "
          f"{c.true_first:>6} {c.false_first:>6} {c.false_lookups:>6} {c.unlabelled:>5} "
          f"{c.unseen:>6} {share(c.precision()):>9} {share(c.recall()):>6} {number(c):>6}{more}")


def heading():
    print("\nIs it a retry? The shim's guess against the truth. The columns are what was said, and")
    print("in brackets what it was, if another thing; look-up: lookups called retries, though none")
    print("fails here; ?: attempts of which nobody knows the unit; unseen: without a record; number:")
    print("retries called so per retry made. partly: 5, 20 and 50 %; wholly: 100 % and outage.")
    print(f"\n{'client':<26} {'failing':<8} {'tries':>7} {'retry':>6} {'retry':>6} {'first':>6} "
          f"{'first':>6} {'look-':>6} {'?':>5} {'unseen':>6} {'precision':>9} {'recall':>6} {'number':>6}")
    print(f"{'':<26} {'':<8} {'':>7} {'':>6} {'(frst)':>6} {'':>6} {'(rtry)':>6} {'up':>6}")


def of_client(done, client):
    """What was measured of its guesses."""
    return [r for r in done if r["client"] == client.name and r["mode"] == "observe"]


def seen_again(rows):
    """What went wrong in the looks at one client under one condition, unless it did so in one of two
    or three: what a machine that stops for a moment may do."""
    told = [r["problems"] for r in rows if r["problems"]]
    return [] if len(rows) > 1 and len(told) == 1 else [what for found in told for what in found]


def problems_of(client, done):
    """What of one client is below its bounds."""
    results = of_client(done, client)
    total, partly = sum_of(results, {c.name for c in CONDITIONS}), sum_of(results, PARTIAL)
    found = []
    for name in dict.fromkeys(r["condition"] for r in results):
        rows = [r for r in results if r["condition"] == name]
        found += [f"{name}: {what}" for what in seen_again(rows)]
    made = partly.true_retry + partly.false_first
    if client.name in bounds.SHORT:
        low, high = bounds.NUMBER
        if made >= bounds.ENOUGH and not low <= (partly.true_retry + partly.false_retry) / made <= high:
            found.append(f"{partly.true_retry + partly.false_retry} retries called so, {made} made")
    elif made:  # a client that never retries has neither; its false alarms count in the whole
        called = partly.true_retry + partly.false_retry
        for what, value, n in (("precision", partly.precision(), called),
                               ("recall", partly.recall(), made)):
            least = bounds.least(n)
            if value is None or value < least:
                found.append(f"{what} {share(value)} of {n}, at least {least:.3f} is held to "
                             f"({bounds.EACH} is the goal)")
    known = total.total()
    if total.unlabelled > bounds.UNLABELLED * (known + total.unlabelled):
        found.append(f"{total.unlabelled} attempts without a known unit, {known} with one")
    if total.unseen:
        found.append(f"{total.unseen} connections that the shim did not judge")
    if not client.retries and total.true_retry + total.false_first:
        found.append(f"{total.true_retry + total.false_first} retries by a client that makes none")
    return found


def refusals(done):
    """What a budget costs the clients that never retry: (client, condition, requests, served,
    refused, seconds, problems, stopped, ok or FAIL or short), for each of their conditions."""
    found = {}
    for r in done:
        if r["mode"] == "enforce":
            found.setdefault((r["client"], r["condition"]), []).append(r)
    for (client, condition), rows in found.items():
        requests, served, refused, seconds = (sum(r.get(what, 0) for r in rows) for what in
                                              ("requests", "served", "refused", "seconds"))
        problems = seen_again(rows)
        most = bounds.REFUSED_AT_HALF if condition == "50 %" else bounds.REFUSED
        failed = bool(problems) or not requests or refused > max(1, most * requests)
        short = refused > bounds.REFUSED * requests
        yield (client, condition, requests, served, refused, seconds, problems,
               any(r.get("stopped") for r in rows), "FAIL" if failed else "short" if short else "")


def print_refusals(done):
    """The rows of the clients that never retry; returns (passed, failed)."""
    rows = list(refusals(done))
    if not rows:
        return 0, 0
    print("\nWhat the budget costs clients that never retry, with the built-in defaults: requests")
    print(f"refused (at most {bounds.REFUSED:.0%} is the goal), and the time that all of them took.")
    print(f"\n{'client':<26} {'failing':<8} {'requests':>9} {'served':>7} {'refused':>8} "
          f"{'share':>7} {'seconds':>8}")
    for client, condition, requests, served, refused, seconds, problems, stopped, verdict in rows:
        print(f"{client:<26} {condition:<8} {requests:>9} {served:>7} "
              f"{refused:>8} {refused / requests if requests else 0:>7.1%} "
              f"{seconds:>7.1f}{'+' if stopped else ' '}{'  ' + verdict if verdict else ''}")
        for p in problems:
            print(f"    {p}")
    bad = sum(row[-1] == "FAIL" for row in rows)
    return len(rows) - bad, bad


def sum_of(rows, conditions):
    total = Confusion()
    for r in rows:
        if r["condition"] in conditions:
            total += Confusion(**r.get("confusion", {}))
    return total


def of_shares(done, clients):
    """What was measured of the loops of many processes."""
    names = {c.name for c in clients if c.shares}
    return [r for r in done if r["client"] in names and r["mode"] == "observe"]


def shares(done, clients):
    """They have bounds of their own; returns (passed, failed)."""
    good = bad = 0
    clients = [c for c in clients if c.name not in bounds.SHARED_BUT]
    for conditions, when in ((PARTIAL, bounds.PARTLY), (WHOLE, bounds.WHOLLY)):
        total = sum_of(of_shares(done, clients), conditions)
        for what, value in (("precision", total.precision()), ("recall", total.recall())):
            fine = value is not None and value >= bounds.SHARED
            good, bad = good + fine, bad + (not fine)
            print(f"{'ok' if fine else 'FAIL':4} {what} over the loops of many processes, {when} failing: "
                  f"{share(value)}, at least {bounds.SHARED}")
    return good, bad


def markdown(done, clients):
    """A table of tests/README.md: the loops of many processes."""
    yield ("| loop | tries | precision, partly | recall, partly | precision, outage | recall, outage | "
           "the evidence that is missing |")
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    rows = of_shares(done, [c for c in clients if c.name not in bounds.SHARED_BUT])
    missing = {**bounds.SHORT, **bounds.MISSING}
    named = [(c.name, of_client(done, c)) for c in clients if c.shares]
    for name, mine in [*named, ("**all that are held to 0.95**", rows)]:
        partly, wholly = sum_of(mine, PARTIAL), sum_of(mine, WHOLE)
        yield (f"| {name.removeprefix('share: ')} | {partly.total() + wholly.total()} | "
               f"{share(partly.precision())} | {share(partly.recall())} | {share(wholly.precision())} | "
               f"{share(wholly.recall())} | {missing.get(name, '')} |")


def of_short(done, clients):
    """Another: who is short of the goal, and for want of which evidence."""
    yield "| client | tries | precision | recall | called retries, for one made | the evidence that is missing |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for client in clients:
        if client.name in bounds.SHORT and not client.shares:
            c = sum_of(of_client(done, client), PARTIAL)
            yield (f"| {client.name} | {c.total()} | {share(c.precision())} | {share(c.recall())} | "
                   f"{number(c)} | {bounds.SHORT[client.name]} |")


def renew(done, clients):
    """Writes those tables anew of which there is something to tell."""
    tables = {}
    if any(c.shares for c in clients):
        tables[SHARES] = markdown(done, clients)
    if any(c.name in bounds.SHORT and not c.shares for c in clients):
        tables[SHORT] = of_short(done, clients)
    marks.renew(tables)


def overall(done):
    """The whole corpus against its bounds and the goals; returns (passed, failed)."""
    good = bad = 0
    for name, conditions in ((bounds.PARTLY, PARTIAL), (bounds.WHOLLY, WHOLE)):
        total = sum_of([r for r in done if r["mode"] == "observe"], conditions)
        for what, value, least in zip(("precision", "recall"),
                                      (total.precision(), total.recall()), bounds.HELD_TO[name]):
            fine = value is not None and value >= least
            good, bad = good + fine, bad + (not fine)
            short = ", short of the goal" if fine and value < bounds.OVERALL else ""
            print(f"{'ok' if fine else 'FAIL':4} {what} over all clients, {name} failing: "
                  f"{share(value)}, at least {least} (goal {bounds.OVERALL}{short})")
    return good, bad


def fallen(done, clients):
    """The clients that are below a bound."""
    refused = {row[0] for row in refusals(done) if row[-1] == "FAIL"}
    return [c for c in clients if c.name in refused or problems_of(c, done)]


def print_all(done, clients, everyone, wrong, seconds):
    """Prints everything of those of everyone that were measured; wrong: in what the measure itself fails
    (selftest.py). Returns the number of failures."""
    heading()
    passed, failed = int(not wrong), int(bool(wrong))
    complaints = []
    for client in clients:
        rows = of_client(done, client)
        for condition in dict.fromkeys(r["condition"] for r in rows):
            line(client.name, condition, sum_of(rows, {condition}))
        found = problems_of(client, done)
        line(client.name, "partly", sum_of(rows, PARTIAL), "  FAIL" if found else
             "  short" if client.name in bounds.SHORT else "")
        if found:
            complaints.append((client.name, found, rows))
        passed, failed = passed + (not found), failed + bool(found)
    print()
    watched = [r for r in done if r["mode"] == "observe"]
    line("all clients", "partly", sum_of(watched, PARTIAL))
    line("all clients", "wholly", sum_of(watched, WHOLE))
    good, bad = print_refusals(done)
    passed, failed = passed + good, failed + bad
    print()
    for client in clients:
        if client.name in bounds.SHORT:
            print(f"short of the goal: {client.name}: {bounds.SHORT[client.name]}")
    print(f"{'FAIL' if wrong else 'ok':4} the measure itself, on stories whose truth is plain: "
          f"{'; '.join(wrong) or 'right'}")
    for name, found, rows in complaints:
        print(f"FAIL {name}: {'; '.join(found)}")
        for r in rows:
            for told in r.get("story", []):
                print(f"    {r['condition']}: {told}")
    for r in done:
        for what in r["problems"] if r["client"] not in {name for name, _, _ in complaints} else ():
            print(f"seen once: {r['client']}, {r['condition']}: {what}")
    if all(c in clients for c in everyone if c.shares):
        good, bad = shares(done, clients)
        passed, failed = passed + good, failed + bad
    if len(clients) == len(everyone):
        good, bad = overall(done)
        passed, failed = passed + good, failed + bad
    print(f"{len(done)} runs in {seconds:.0f} s")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed
