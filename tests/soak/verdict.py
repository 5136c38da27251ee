# SPDX-License-Identifier: MIT
"""What must be true at the end of a soak, with the numbers that say so."""

import signal
import subprocess

from programs import Client

# What a program under the shim may see that its bare twin does not: a non-blocking connect that is
# throttled ends as one to a machine that is gone, which loopback never is.
BY_DESIGN = {"connect ETIMEDOUT", "timeout"}


class Verdict:
    """What has been checked."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, text):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {text}", flush=True)


def fits(program, column, warm_up):
    """Whether the least of the last third lies within what the first third saw: where descriptors
    or threads leak it does not, whatever is under way at a time. With both, for the table."""
    values = [s[column] for s in program.settled(warm_up)]
    third = max(1, len(values) // 3)
    first, last = values[:third], values[-third:]
    slack = 0 if third >= 10 else 8  # of few samples the least is no base
    return min(last) <= max(first) + slack, f"{min(first)}-{max(first)}>{min(last)}-{max(last)}"


def growth(worlds, seconds, verdict):
    """Looks for what grows, after a warm-up of a quarter of the time."""
    warm_up = min(seconds * 0.25, 300)
    # A program's own heap may settle slowly: what counts is what the shim adds to that.
    allowed = 128 * 3600 / (seconds - warm_up)
    slopes = {}
    print(f"\nafter {warm_up:.0f} s of warm-up: KiB, medians of quarters; per hour, of slopes")
    print(
        f"{'':5} {'program':18} {'samples':>7} {'anonymous':>23} {'per h':>6} "
        f"{'resident':>23} {'per h':>6} {'fds':>12} {'threads':>9}"
    )
    for world in worlds:
        for program in world.programs:
            samples = program.settled(warm_up)
            verdict.check(len(samples) > 2, f"{world.name} {program.name}: hardly seen alive")
            if len(samples) <= 2:
                continue
            slope, resident = (program.growth(c, warm_up) for c in (1, 2))
            slopes[world.name, program.name] = slope
            fds_fit, fds = fits(program, 3, warm_up)
            threads_fit, threads = fits(program, 4, warm_up)
            print(
                f"{world.name:5} {program.name:18} {len(samples):>7} "
                f"{program.quarters(1, warm_up):>23} {slope:>6.0f} "
                f"{program.quarters(2, warm_up):>23} {resident:>6.0f} {fds:>12} {threads:>9}"
            )
            if world.shim:
                verdict.check(fds_fit, f"{program.name}: descriptors grow: {fds}")
                verdict.check(threads_fit, f"{program.name}: threads grow: {threads}")
    for (world, name), slope in slopes.items():
        own = max(slopes.get(("bare", name), 0), 0)
        verdict.check(
            world == "bare" or slope <= own + allowed,
            f"{name}: memory grows by {slope:.0f} KiB per hour, bare by {own:.0f}",
        )


def end_of(client):
    """Its exit code, or a text."""
    try:
        return client.process.wait(15)
    except subprocess.TimeoutExpired:
        client.process.kill()
        return "none: it hangs"


def results(worlds, before, verdict):
    """Ends the clients and compares what they saw. before: what they had said ten seconds ago."""
    said = {}
    for world in worlds:
        clients = [p for p in world.programs if isinstance(p, Client)]
        for client in clients:
            client.process.send_signal(signal.SIGTERM)
        for client in clients:
            code, whose = end_of(client), f"{world.name} {client.name}"
            verdict.check(code == 0, f"{whose}: exit {code}")
            verdict.check(not client.errors(), f"{whose}: {client.errors()[:200]}")
            said[world.name, client.name] = client.said()
    seen_bare = set().union(*(one["errors"] for (world, _), one in said.items() if world == "bare"))
    print(f"\n{'client':14} {'exchanges':>9} {'well':>7}  otherwise")
    for (_, name), shim in list(said.items())[: len(said) // 2]:
        bare = said["bare", name]
        for world, one in (("shim", shim), ("bare", bare)):
            title = name if one is shim else ""
            print(f"{title:14} {one['ops']:>9} {one['ok']:>7}  {world} {one['errors']}")
            verdict.check(one["crashed"] == 0, f"{world} {name}: {one['crashed']} by a signal")
            verdict.check(
                not {"corrupt", "corrupt -"} & set(one["errors"]), f"{world} {name}: wrong bytes"
            )
        if name.endswith("-well"):
            verdict.check(shim["ok"] == shim["ops"] > 0, f"{name}: not all well: {shim}")
            verdict.check(bare["ok"] == bare["ops"] > 0, f"bare {name}: not all well: {bare}")
            verdict.check(shim["ops"] > 0.9 * bare["ops"], f"{name}: slower than bare")
        else:
            new = set(shim["errors"]) - seen_bare - BY_DESIGN
            verdict.check(not new, f"{name}: sees what no bare program does: {new}")
        gained = shim["ok"] - before[name]["ok"]
        verdict.check(gained > 0, f"{name}: not back after the last fault")


def tallies(worlds, verdict):
    """What the servers counted."""
    for world in worlds:
        for server in world.servers["well"] + world.servers["ill"]:
            whose = f"{world.name} {server.name}"
            verdict.check(server.process.poll() is None, f"{whose}: has gone")
            tally = server.ask("stats")
            print(f"{whose:26} {tally}")
            verdict.check(tally["crashed"] == 0, f"{whose}: {tally['crashed']} by a signal")
            server.process.stdin.close()
            code = server.process.wait(10)
            verdict.check(code == 0, f"{whose}: exit {code}")


def records(log, verdict):
    """What the shim wrote, by kind."""
    kinds = {}
    for record in log.records:
        kind = next((word for word in record.split() if word.startswith("event=")), "?")
        kinds[kind] = kinds.get(kind, 0) + 1
    print(f"records: {kinds}")
    verdict.check(kinds.get("event=throttled", 0) > 0, "the shim never held anything back")
    verdict.check(kinds.get("event=reloaded", 0) > 0, "no configuration was read again")
