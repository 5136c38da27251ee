# SPDX-License-Identifier: MIT
"""One cell of the matrix: a client and a way of failing, bare or under the shim. What must hold:
no client hangs, spins, crashes, or believes that a server which failed has served it."""

import time

import errors
import outage
from catalog import FAST, PORT, WAYS, configuration
from lab import wait_until

SECOND = outage.SECOND
LOUD_SECONDS = 0.5  # of a storm that nobody throttles
ENDS_WITHIN = 40  # seconds, for a client that gives up by itself


def first_seen(lab, way):
    if way.counted == "unix":
        return time.monotonic_ns()
    return (lab.dns.times(1) if way.counted == "dns" else lab.syns.times(PORT))[0]


def watch(lab, client, name, library):
    way, problems, chance = WAYS[name], [], []
    outage.fail(lab, way)
    environment = lab.environment()
    if library:
        text = configuration(FAST, lab.log.path, client.scope) + client.policy
        environment = lab.environment(library, text)
    run = lab.start(client, client.loop, environment, lab.host(way))
    try:
        if way.counted == "udp" or client.gives_up:
            result = until_end(lab, way, run, problems)
        else:
            result = through_outage(lab, client, way, run, bool(library), problems)
        if library and not problems:
            judge(lab, client, way, result, problems, chance)
    finally:
        run.kill()
    return {**result, "problems": problems, "chance": chance}


def until_end(lab, way, run, problems):
    """A client with a number of tries: it ends, with a failure, and made as many tries as bare."""
    start = time.monotonic()
    cpu = [0.0]
    code = wait_until(
        lambda: (cpu.append(run.cpu()), run.process.poll())[1] is not None, ENDS_WITHIN, step=0.05
    )
    if not code:
        problems.append(f"did not end in {ENDS_WITHIN} s")
    return {
        "attempts": lab.attempts(way),
        "watched": time.monotonic() - start,
        "cpu_seconds": max(cpu),
        "ended": run.process.poll(),
        "parked": lab.syns.count(0),
        **errors.summary(run.errors()),
    }


def answered(lab, client, run):
    if client.foreign:
        return lab.healthy_accepted() > 0
    return run.printed() > 0 and client.answer in run.output()


def through_outage(lab, client, way, run, shim, problems):
    if not wait_until(lambda: lab.attempts(way) > 0, 20, step=0.005):
        said = errors.summary(run.errors())["said"]
        problems.append(f"made no attempt in 20 s (exit {run.process.poll()}: {said})")
        return {}
    start = first_seen(lab, way)
    seconds = way.seconds
    if way.nature == "free" or (way.nature == "storm" and not shim):
        seconds = LOUD_SECONDS * (4 if client.calm else 1)
    time.sleep(0.5 if seconds > 1 else 0.1)  # interpreters and just-in-time compilers settle
    cpu, since = run.cpu(), time.monotonic()
    while time.monotonic_ns() < start + seconds * SECOND and run.process.poll() is None:
        if not shim and lab.attempts(way) >= outage.BARE_ATTEMPTS:
            break
        time.sleep(0.05)
    result = {
        "attempts": lab.attempts(way),
        "watched": (time.monotonic_ns() - start) / SECOND,
        "cpu_seconds": run.cpu(),
        "cpu": (run.cpu() - cpu) / max(0.1, time.monotonic() - since),
        "parked": lab.syns.count(0),
        "ended": run.process.poll(),
        **errors.summary(run.errors()),
    }
    if shim:  # before a reset by the returning server, which is a failure like any other
        result["records"] = lab.log.fields()
    if (not client.foreign and client.answer in run.output()) or run.process.poll() == 0:
        result["believes"] = run.output()[-60:]
    if run.process.poll() is not None:
        result["gave_up"] = run.process.poll()
    if way.nature != "free":
        # The server has said nothing at all, so there is nothing to misunderstand.
        if "believes" in result:
            problems.append(f"believes that it was served: {result['believes']!r}")
        elif "gave_up" in result:
            problems.append(f"gave up in the outage: exit {result['gave_up']}: {result['said']}")
    if "gave_up" in result:
        return result
    since = outage.recover(lab, way)
    # The kernel repeats an unanswered SYN after 1, 3 and 7 s.
    limit = 10 + (8 if way.nature == "slow" else 0)
    back = wait_until(
        lambda: answered(lab, client, run) or run.process.poll() is not None, limit, step=0.02
    )
    result["recovery"] = (time.monotonic_ns() - since) / SECOND if back else None
    if not back:
        problems.append(f"hangs: not back within {limit} s of the server's return")
    elif not answered(lab, client, run):
        problems.append(f"gave up after the server's return: exit {run.process.poll()}: "
                        f"{errors.summary(run.errors())['said']}")
    elif not client.endless and not client.foreign and run.wait(10) != 0:
        problems.append(f"exit code {run.process.poll()} after the answer")
    return result


def judge(lab, client, way, result, problems, chance):
    """What the shim alone must answer for; what it must not change is judged by matrix.compare.
    chance: what a busy machine may do as well, once."""
    records = result.pop("records", None) or lab.log.fields()
    attempts, watched = result["attempts"], result["watched"]
    throttled = sum(r.get("event") in ("throttled", "retrying", "exhausted") for r in records)
    result["throttled"] = throttled
    if any(r.get("event") == "config-error" for r in records):
        problems.append("the configuration was not understood")
    if lab.syns.count(-1):
        problems.append(f"{lab.syns.count(-1)} connections to addresses nobody asked for")
    if way.nature == "free" and throttled:
        problems.append(f"{throttled} records of something throttled, where the server answered")
    if way.nature == "storm" and not client.gives_up:
        most = FAST.most_first * client.lookups + client.excused * watched
        if attempts > most:
            problems.append(f"{attempts} attempts in {watched:.1f} s, not {most:.0f}")
    # On a unix socket, or where the server is only slow, it may spin if it does bare
    # (matrix.compare).
    paced = way.nature == "storm" and way.counted != "unix" and not client.gives_up
    if paced and result["cpu"] > client.cpu_bound(way):
        chance.append(f"spins: {result['cpu']:.0%} of a processor while waiting")
