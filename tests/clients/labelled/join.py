# SPDX-License-Identifier: MIT
"""Joins the shim's guesses with the truth.

Three tellers: the shim's record of each judged attempt, the witness's line of the same thread just
after it (witness.c), and the server's log of what each connection carried. An attempt is a retry if
an earlier attempt for the same unit of work had failed before it was made; another address that
this unit has not tried yet is a failover, which is a first try."""

import re
from collections import defaultdict
from dataclasses import dataclass

HEADER = re.compile(r"^<\d+>retrybudget\[(\d+)\]: ")
EINTR = 4


@dataclass
class Attempt:
    order: int  # among all records, which is the order in time of one thread
    pid: int
    thread: int
    guess: bool  # the shim said retry
    address: str
    destination: str
    why: str = ""  # the rule that decided
    line: dict = None  # the witness's
    connection: object = None  # the server's
    unit: str = ""
    said: str = ""  # unit as the program told it
    truth: bool = None  # a retry indeed
    failed_at: int = 0  # monotonic ns, 0 = it did not fail, or what came of it is not known

    def began(self):
        return int(self.line["when"]) if self.line else 0

    def lost_at(self):
        """When it failed without a request, 0 if it did not: refused, perhaps only after connect
        had returned; or accepted by the kernel or the server, and reset when the listener went."""
        if self.connection:
            return 0 if self.connection.requests else self.connection.broken
        return self.began() if self.line and int(self.line["errno"]) != EINTR else 0


@dataclass
class Joined:
    attempts: list  # connection attempts that the shim judged
    lookups: list  # lookups that it judged
    unseen: int  # connects that came without a record
    disagreements: list  # unit told by the program and by the server differ
    failures: dict  # unit: when one of its tries failed, monotonic ns


def fields(record):
    found = dict(word.split("=", 1) for word in record.split() if "=" in word)
    header = HEADER.match(record)
    if header:
        found["pid"] = header.group(1)
    return found


def read(records, port):
    """Attempts with the witness's lines and the program's own words attached, from the raw
    datagrams in the order in which they came."""
    attempts, lookups, unseen = [], [], []
    open_attempt = {}  # thread: the attempt that waits for its line
    unit, tries, cookies = {}, defaultdict(list), set()
    for order, record in enumerate(records):
        f = fields(record)
        event, thread = f.get("event"), int(f.get("thread", 0))
        if event == "unit":
            unit[thread] = f["unit"]
        elif event == "try":
            tries[thread].append(f["unit"])
        elif event == "attempt":
            attempt = Attempt(order, int(f["pid"]), thread, f["kind"] == "retry",
                              f.get("addr", ""), f["dest"], f.get("why", ""))
            if "addr" not in f:
                lookups.append(attempt)
            elif f["addr"].endswith(f":{port}"):
                attempts.append(attempt)
                open_attempt[thread] = attempt
                attempt.said = tries[thread].pop(0) if tries[thread] else unit.get(thread, "")
        elif event == "connect" and int(f.get("to", 0)) == port:
            attempt = open_attempt.pop(thread, None)
            if attempt:
                attempt.line = f
                attempt.said = attempt.said or unit.get(int(f["ppid"]), "")
                cookies.add(f["cookie"])
            elif f["cookie"] not in cookies:  # else the program only asks how it went
                cookies.add(f["cookie"])
                unseen.append(f)
    return attempts, lookups, unseen


def attach(attempts, connections):
    """Finds the server's connection of each attempt: the same local port, accepted after the
    connect began and before the next connect from that port did."""
    by_port = defaultdict(list)
    for attempt in attempts:
        if attempt.line and attempt.line["refused"] == "0":
            by_port[int(attempt.line["port"])].append(attempt)
    for port in by_port:
        by_port[port].sort(key=Attempt.began)
    for connection in connections:
        earlier = [a for a in by_port[connection.port] if a.began() <= connection.when]
        if earlier and not earlier[-1].connection:
            earlier[-1].connection = connection


def label(attempts, unit_of):
    """Says of each attempt which unit it was for and whether it was a retry. unit_of: tells the
    unit of an attempt that never reached the server, "" if it does not know."""
    failures = defaultdict(list)  # unit: when one of its attempts failed, monotonic ns
    answers = defaultdict(list)  # unit: when one was answered
    disagreements = []
    for a in attempts:
        requests = a.connection.requests if a.connection else []
        otherwise = unit_of(a)
        a.unit = requests[0].unit if requests else a.said or otherwise
        if requests and a.said and a.said != requests[0].unit:
            disagreements.append(f"{a.said} is {requests[0].unit}")
        for request in requests:
            if not request.failed:
                answers[request.unit].append(request.when)
            else:
                failures[request.unit].append(request.when)
                a.failed_at = request.when
        if a.lost_at():
            a.failed_at = a.lost_at()
            failures[a.unit].append(a.failed_at)
    tried = defaultdict(set)  # unit: addresses
    for a in attempts:
        for request in a.connection.requests if a.connection else []:
            tried[request.unit].add((a.address, a.began()))
        tried[a.unit].add((a.address, a.began()))
    for a in attempts:
        if not a.unit or not a.line:
            continue
        # An address that this unit has not been sent to is a failover, not a retry.
        known = any(address == a.address and when < a.began() for address, when in tried[a.unit])
        # What comes after an answer is new work, as for a subscriber whose unit is its name.
        failed = max((when for when in failures[a.unit] if when < a.began()), default=0)
        answered = max((when for when in answers[a.unit] if when < a.began()), default=0)
        a.truth = known and failed > answered
    return disagreements, failures


def join(records, connections, port, unit_of=lambda attempt: ""):
    attempts, lookups, unseen = read(records, port)
    attach(attempts, connections)
    return Joined(attempts, lookups, len(unseen), *label(attempts, unit_of))


@dataclass
class Confusion:
    true_retry: int = 0
    false_retry: int = 0
    true_first: int = 0
    false_first: int = 0  # a retry taken for a first try
    unlabelled: int = 0
    unseen: int = 0
    false_lookups: int = 0  # lookups taken for retries; no lookup fails here

    def __add__(self, other):
        return Confusion(*(a + b for a, b in zip(vars(self).values(), vars(other).values())))

    def total(self):
        return self.true_retry + self.false_retry + self.true_first + self.false_first

    def precision(self):
        """Of those called retries, the share that were. None: none was called one."""
        called = self.true_retry + self.false_retry + self.false_lookups
        return self.true_retry / called if called else None

    def recall(self):
        """Of the retries, the share that were called so. None: there were none. A connect that the
        shim never saw may have been one."""
        were = self.true_retry + self.false_first
        return self.true_retry / were if were else None


def confusion(joined):
    c = Confusion(unseen=joined.unseen, false_lookups=sum(a.guess for a in joined.lookups))
    for a in joined.attempts:
        if a.truth is None:
            c.unlabelled += 1
        elif a.truth:
            c.true_retry += a.guess
            c.false_first += not a.guess
        else:
            c.false_retry += a.guess
            c.true_first += not a.guess
    return c


def story(joined, limit=12):
    """The first wrong guesses, each with the failures of its unit and the last one before it."""
    lines = []
    began = min((a.began() for a in joined.attempts if a.line), default=0)
    everything = sorted((when, unit) for unit in joined.failures for when in joined.failures[unit])
    for a in joined.attempts:
        if a.truth is None or a.truth == a.guess:
            continue
        own = [f"{(when - began) / 1e6:.1f}" for when in joined.failures.get(a.unit, [])
               if when < a.began()]
        last = [f"{(when - began) / 1e6:.1f} (unit {unit})" for when, unit in everything
                if when < a.began()]
        lines.append(
            f"{(a.began() - began) / 1e6:9.1f} ms thread {a.thread}: unit {a.unit}: a "
            f"{'retry' if a.truth else 'first try'}, called a "
            f"{'retry' if a.guess else 'first try'} by {a.why}; it failed before at ms: "
            f"{', '.join(own) or 'never'}; last failure of any: {last[-1] if last else 'none'}"
        )
    return lines[:limit] + ([f"and {len(lines) - limit} more"] if len(lines) > limit else [])
