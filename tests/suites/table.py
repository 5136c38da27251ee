# SPDX-License-Identifier: MIT
"""What the comparison says: a line per part while it goes on, then the tests that are not equal,
and a table with a row per suite."""

from dataclasses import dataclass

import known
from verdict import DIFFERS, EQUAL, FLAKY, HELD, ONCE, Comparison


@dataclass
class Row:
    part: object
    comparison: Comparison
    held: int  # records of refusals in the first run under the shim
    bare_seconds: float
    shim_seconds: float

    def __post_init__(self):
        self.verdicts = self.comparison.verdicts(known.THROTTLED.get(self.part.id, ()))
        self.skipped = set(self.comparison.always("skipped"))
        self.broken = set(self.comparison.always("failed"))

    def those(self, verdict):
        return [t for t, v in self.verdicts.items() if v == verdict]


def progress(row):
    differing, flaky = row.those(DIFFERS), row.those(FLAKY) + row.those(ONCE)
    word = "FAIL" if differing else "ok"
    print(
        f"{word:4} {row.part.id}: {len(row.verdicts)} tests"
        f" ({row.bare_seconds:.1f} s bare, {row.shim_seconds:.1f} s)"
        + (f", {len(flaky)} flaky" if flaky else ""),
        flush=True,
    )
    for test in differing:
        print(f"     {row.comparison.story(test)}", flush=True)


def listed(rows, verdict, headline):
    stories = [f"  {r.part.id}: {r.comparison.story(t)}" for r in rows for t in r.those(verdict)]
    if stories:
        print(f"\n{headline}\n" + "\n".join(stories))


COLUMNS = ("tests", "equal", "differing", "retrying", "flaky", "once", "failing", "skipped")


def counts(rows):
    """The columns of the table for some rows."""
    of = dict.fromkeys(COLUMNS, 0)
    for row in rows:
        for test, verdict in row.verdicts.items():
            column = {EQUAL: "equal", DIFFERS: "differing", HELD: "retrying"}.get(verdict, verdict)
            if verdict == EQUAL and test in row.skipped:
                column = "skipped"
            elif verdict == EQUAL and test in row.broken:
                column = "failing"
            of["tests"] += 1
            of[column] += 1
    return of


def end(rows, missing, broken, seconds):
    """Prints it all; the exit status. broken: parts that could not be run or read."""
    listed(rows, FLAKY, "Flaky without the shim as well:")
    listed(rows, ONCE, "Different in a run or a few under the shim, no more often than by chance:")
    listed(rows, HELD, "Throttled, as they retry a server that they make fail (known.py):")
    listed(rows, DIFFERS, "Different under the shim:")
    print("""
equal: passed, bare and under the shim; retrying, once: see above; flaky: bare runs differ among
themselves; failing, skipped: so in every run, with the shim or without; held: records of retries
throttled while the suite ran.
""")
    print(f"{'suite':<12} {'parts':>5} " + " ".join(f"{c:>9}" for c in COLUMNS)
          + f" {'held':>5} {'bare s':>7} {'shim s':>7}")
    for suite in [*sorted({r.part.suite for r in rows}), ""]:
        of = [r for r in rows if suite in ("", r.part.suite)]
        print(f"{suite or 'all':<12} {len(of):>5} "
              + " ".join(f"{n:>9}" for n in counts(of).values())
              + f" {sum(r.held for r in of):>5} {sum(r.bare_seconds for r in of):>7.0f}"
              f" {sum(r.shim_seconds for r in of):>7.0f}")
    for suite in missing:
        print(f"skipped: {suite}: this machine does not have it")
    for part in broken:
        print(f"failed: {part}: could not be run or read")
    print(f"\n{seconds:.0f} s")
    all_of = counts(rows)
    # What fails without the shim proves nothing, nor what is flaky.
    skipped = sum(all_of[c] for c in ("retrying", "flaky", "once", "failing",
                                           "skipped")) + len(missing)
    failed = all_of["differing"] + len(broken)
    print(f"suites: {all_of['equal']} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not all_of["equal"] else 0
