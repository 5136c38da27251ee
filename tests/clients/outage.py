# SPDX-License-Identifier: MIT
"""One client against one kind of failure, bare or under the shim. What is counted is counted by the
server, the name server or the kernel; the shim's own records are only compared with that."""

import time

import errors
from catalog import NAME, PORT, WAYS, configuration
from lab import quickness, wait_until

BARE_SECONDS, BARE_ATTEMPTS = 1.0, 20000
# Per second, where programs start quickly, and where they do not; a client that is slow by itself would
# prove nothing.
BARE_LEAST, BARE_SLOW = 10, 5
SECOND = 1_000_000_000
LIST = 6  # entries of a list that go free in an outage


def fail(lab, way):
    lab.dns_mode(way.dns)
    lab.server_mode(way.server)
    if way.server == "silent":
        lab.few_syns()


def recover(lab, way):
    """Returns the moment from which on an attempt would succeed."""
    if way.counted == "dns":
        return lab.dns_mode("ok")
    if way.counted == "unix":
        return int(lab.server.ask(f"unix {lab.host(way)}").split()[2])
    return lab.server_mode("healthy")


def back_at_work(lab, client, run, since, limit):
    """Seconds from the server's return to the client's first answer, or None."""
    answered = wait_until(
        lambda: run.process.poll() is not None or run.printed() > 0, limit, step=0.01
    )
    if not answered:
        return None
    if client.endless:
        return (time.monotonic_ns() - since) / SECOND
    run.wait(max(1.0, limit - (time.monotonic_ns() - since) / SECOND))
    return (time.monotonic_ns() - since) / SECOND


def judge_answer(client, run, problems):
    """The end of a run: the right answer and the right exit code."""
    output = run.output()
    code = run.process.poll()
    if client.endless or client.feed:
        if not output.startswith(client.answer):
            problems.append(f"printed {output[:60]!r}")
    elif output != client.answer:
        problems.append(f"printed {output[:60]!r}, not {client.answer!r}")
    if not client.endless and code != 0:
        problems.append(f"exit code {code}")


def bare(lab, client, failure):
    """How fast it goes without the shim, and that it is a sound client at all."""
    problems = []
    way = WAYS[failure]
    fail(lab, way)
    run = lab.start(client, client.loop, lab.environment(), lab.host(way))
    try:
        if not wait_until(lambda: lab.attempts(way) > 0, 20):
            return {"problems": ["made no attempt in 20 s"]}
        start = time.monotonic()
        wait_until(lambda: lab.attempts(way) >= BARE_ATTEMPTS, BARE_SECONDS)
        count, elapsed = lab.attempts(way), time.monotonic() - start
        cpu_seconds, said = run.cpu(), run.errors()
        if count / elapsed < BARE_LEAST and count / elapsed < max(BARE_SLOW, BARE_LEAST * quickness()):
            problems.append(f"only {count / elapsed:.1f} attempts per second: this is no storm")
        if run.printed() or run.process.poll() is not None:
            problems.append(f"stopped by itself during the outage: {run.output()[:60]!r}")
        since = recover(lab, way)
        recovery = back_at_work(lab, client, run, since, 10)
        if recovery is None:
            problems.append("no answer within 10 s of the server's return")
        else:
            judge_answer(client, run, problems)
    finally:
        run.kill()
    return {
        "attempts": count,
        "rate": count / elapsed,
        "recovery": recovery,
        "watched": elapsed,
        "cpu_seconds": cpu_seconds,
        **errors.summary(said),
        "problems": problems,
    }


def shim(lab, client, failure, pace, library, scope="process"):
    """The same under the shim, held against the promises of the pace. chance: what a busy machine may
    do as well, once."""
    problems, chance = [], []
    way = WAYS[failure]
    fail(lab, way)
    text = configuration(pace, lab.log.path, scope)
    run = lab.start(client, client.loop, lab.environment(library, text), lab.host(way))
    try:
        if not wait_until(lambda: lab.attempts(way) > 0, 20, step=0.002):
            return {"problems": ["made no attempt in 20 s"]}
        start = (lab.dns.times(1) if way.counted == "dns" else lab.syns.times(PORT))[0]
        sleep_until(start + SECOND // 2)  # interpreters and just-in-time compilers settle
        cpu, cpu_since = run.cpu(), time.monotonic()
        sleep_until(start + int(pace.first * SECOND))
        middle = time.monotonic_ns()
        first = lab.attempts(way)
        sleep_until(start + int((pace.first + pace.after) * SECOND))
        after = lab.attempts(way, middle)
        after_rate = after / ((time.monotonic_ns() - middle) / SECOND)
        cpu = (run.cpu() - cpu) / (time.monotonic() - cpu_since)
        cpu_seconds, said = run.cpu(), run.errors()
        parked = lab.syns.count(0)
        if run.printed() or run.process.poll() is not None:
            problems.append(f"claimed success during the outage: {run.output()[:60]!r}")
        in_outage = len(lab.log.fields())
        since = recover(lab, way)
        recovery = back_at_work(lab, client, run, since, pace.cap + 10)
        # A parked socket is given back by a timer of the kernel that takes at least a second, so
        # non-blocking clients learn of the end of a short delay up to a second late.
        limit = pace.cap + (2 if parked else 1)
        if recovery is None:
            problems.append(f"no answer within {pace.cap + 10} s of the server's return")
        else:
            judge_answer(client, run, problems)
            if recovery > limit:
                chance.append(f"back after {recovery:.1f} s, not {limit} s")
        if first > pace.most_first:
            problems.append(f"{first} attempts in the first {pace.first} s")
        if after > pace.most_after:
            problems.append(f"{after} attempts in the next {pace.after} s")
        if cpu > client.cpu_bound(way):
            chance.append(f"{cpu:.0%} of a processor while waiting")
        if lab.syns.count(-1):
            problems.append(f"{lab.syns.count(-1)} connections to addresses nobody asked for")
        records = lab.log.fields()
        judge_records(records, problems)
        ours = f"dns:{NAME}" if way.counted == "dns" else f":{PORT}"
        # Of two families of a name one comes back first, and each try at it is new work then.
        kinds = [r.get("kind") for r in records[:in_outage] if r.get("dest", "").endswith(ours)]
        wanted = client.lookups if way.counted == "dns" else 1
        # One client that loops has one first try. Of a list some entries more are free. And on a busy
        # machine two late tries may look like a pause, after which the next seem to be something
        # else; how rare that is, the mean over all runs says (report.averages).
        most = wanted + (LIST if client.entries else 1)
        if kinds.count("first") < wanted:
            problems.append(f"{kinds.count('first')} attempts were taken for first tries")
        elif kinds.count("first") > most:
            chance.append(f"{kinds.count('first')} attempts were taken for first tries")
    finally:
        run.kill()
    return {
        "attempts": first,
        "after": after,
        "after_rate": after_rate,
        "cpu": cpu,
        "watched": pace.first + pace.after,
        "watched_attempts": first + after,
        "cpu_seconds": cpu_seconds,
        **errors.summary(said),
        "recovery": recovery,
        "parked": parked,
        "records": len(records),
        "first_tries": kinds.count("first"),
        "too_free": 0 if client.entries else kinds.count("first") - wanted,
        "retries": kinds.count("retry"),
        "problems": problems,
        "chance": chance,
    }


def judge_records(records, problems):
    events = {r.get("event") for r in records}
    if not events & {"throttled", "retrying", "exhausted"}:
        problems.append(f"no record of what was throttled (events: {sorted(map(str, events))})")
    if "recovered" not in events:
        problems.append("no record of the recovery")
    if "config-error" in events:
        problems.append("the configuration was not understood")


def sleep_until(moment):
    time.sleep(max(0, (moment - time.monotonic_ns()) / SECOND))
