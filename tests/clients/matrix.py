# SPDX-License-Identifier: MIT
"""The matrix: every client against every way of failing, bare and under the shim side by side."""

import errors
from catalog import WAYS

ROUNDS = 3
PAUSELESS = 50  # attempts per second of a client that does not pause between them, at least

# A client under the shim may also speak of these: a parked socket ends as one that was not answered,
# whatever the client makes of that, and a redirected one as one that was refused.
PARKED = {"timeout", "refused"}
# And of the failure itself by its right name: how much of a reset a client sees is a matter of
# microseconds, bare as well.
RIGHT_NAME = {
    "refused": {"refused"},
    # A repeat that is refused is told as a refused connect, where no connect has failed.
    "reset": {"broken", "refused"},
    "close": {"broken", "refused"},
    "read-close": {"broken", "refused"},
    "half-reset": {"broken"},
    "unix": {"missing"},
}


def pairs(done):
    """(client, way): [bare, shim] for every cell that ran under the shim at the fast pace."""
    cells = {}
    for case in done:
        if case["kind"] not in ("outage", "matrix") or case.get("pace", "fast") != "fast":
            continue
        cell = cells.setdefault((case["client"], case["failure"]), [None, None])
        shim = case.get("shim", case["phase"] == "shim")
        cell[shim] = case
    return cells


def compare(done, clients, again):
    """Adds to each run under the shim what it does worse than the same client bare. No two bare runs
    are quite alike on a busy machine, so a difference counts if one of two more pairs of runs differs
    as well, or if it must not happen once. again: runs a case once more and returns its result."""
    by_name = {c.name: c for c in clients}
    cells = pairs(done)
    for (name, way_name), (bare, shim) in cells.items():
        if not bare or not shim or "attempts" not in bare["result"] or shim["result"]["problems"]:
            continue
        result, bares = shim["result"], [bare["result"]]
        unanswered = cells.get((name, "silent"), [None])[0]
        unanswered = unanswered["result"].get("meanings", ()) if unanswered else ()
        cell = (by_name[name], way_name, unanswered)
        first = new_in(result, bares, cell)
        found = []
        while first and not found and len(bares) < ROUNDS:
            bares.append(again(bare))
            found = new_in(again(shim), bares, cell)
        if found or never(result, bares):
            result["problems"] += dict.fromkeys(first + found)
        elif first:
            print(f"once in {ROUNDS} {shim['id']}: {'; '.join(first)}", flush=True)


def never(s, bares):
    """What must not happen once: a crash, or the belief that it was served, but for those who do so
    bare."""
    return (crashed(s) and not any(crashed(b) for b in bares)) or (
        bool(s.get("believes")) and not any(b.get("believes") for b in bares))


def new_in(run, bares, cell):
    """How this run under the shim differs from the bare run that is most like it."""
    if run["problems"]:
        return run["problems"]
    bares = [bare for bare in bares if "attempts" in bare]
    return min((differences(*cell, bare, run) for bare in bares), key=len)


def differences(client, way_name, unanswered, b, s):
    """What the run s under the shim does worse than the bare run b. unanswered: what the client says,
    bare, where nothing answers."""
    found, way = [], WAYS[way_name]
    if crashed(s) and not crashed(b):
        found.append(f"crashed: exit {s['ended']}: {s['said']!r}")
    allowed = set(b["meanings"]) | RIGHT_NAME.get(way_name, set())
    if s.get("parked"):
        allowed |= PARKED | set(unanswered)
    if new := set(s["meanings"]) - allowed:
        found.append(f"speaks of {', '.join(sorted(new))}, never of that bare: {s['said']!r}")
    if (client.gives_up or way.nature == "free") and s.get("ended") != b.get("ended"):
        found.append(f"ends with {s.get('ended')}, bare with {b.get('ended')}")
    if s.get("believes") != b.get("believes"):
        found.append(f"believes {s.get('believes')!r}, bare {b.get('believes')!r}")
    if client.gives_up and s["attempts"] > b["attempts"]:
        found.append(f"{s['attempts']} tries, bare {b['attempts']}")
    if way.counted == "udp" and s["attempts"] != b["attempts"]:
        found.append(f"{s['attempts']} datagrams, bare {b['attempts']}")
    # A connect to a unix socket that must not wait fails at once, and only the program itself
    # could pace it (shim/pace/refuse.c): one that tries without a pause bare may spin.
    if way.counted == "unix" and b["attempts"] < PAUSELESS * b["watched"]:
        if s.get("cpu", 0) > client.most_cpu:
            found.append(f"spins: {s['cpu']:.0%} of a processor, and does not bare")
    if way.nature == "slow":
        if s["attempts"] > 1.1 * b["attempts"] + 2:
            found.append(f"{s['attempts']} attempts, bare only {b['attempts']}")
        # socat reads an end that it is told to ignore again and again.
        if not client.gives_up and s.get("cpu", 0) > max(client.most_cpu, 1.5 * b.get("cpu", 0)):
            found.append(f"spins: {s['cpu']:.0%} of a processor, bare {b.get('cpu', 0):.0%}")
    return found


def crashed(result):
    """It, or one of the processes that it starts, which it speaks of (loops/until.sh)."""
    code = result.get("ended")
    by_signal = code is not None and (code < 0 or 128 < code < 160)
    return by_signal or "crash" in result.get("meanings", ())


def per_second(result):
    """A rate that fits into five characters; a number of tries for one that ends by itself."""
    attempts = result.get("watched_attempts", result.get("attempts"))
    if attempts is None:
        return "?"
    if result.get("ended") is not None:
        return f"{attempts}x"
    rate = attempts / max(result["watched"], 0.001)
    if rate >= 10000:
        return f"{rate / 1000:.0f}k"
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}"


def blocks(done):
    """A block for each way of failing, with what each client did and said."""
    cells = pairs(done)
    for name, way in WAYS.items():
        rows = [(client, cell) for (client, w), cell in cells.items() if w == name and cell[1]]
        if not rows:
            continue
        print(f"\nAgainst {name}{f' ({way.why})' if way.why else ''}:")
        print(f"{'':<18}{'bare':>23}   {'under the shim':>23}  {'back':>5}  "
              f"{'the client says: bare':<44}  and under the shim")
        print(f"{'client':<18}{'attempts':>9}{'in s':>6}{'CPU s':>8}   {'attempts':>9}{'in s':>6}"
              f"{'CPU s':>8}  {'s':>5}")
        for client, cell in rows:
            print(f"{client:<18}{numbers(cell[0])}   {numbers(cell[1])}  "
                  f"{number(cell[1]['result'].get('recovery'), '{:.1f}'):>5}  "
                  f"{says(cell[0], 44):<44}  {says(cell[1], 44)}"
                  f"{'  FAIL' if cell[1]['result']['problems'] else ''}".rstrip())


def number(value, form):
    return "-" if value is None else form.format(value)


def numbers(case):
    r = case["result"] if case else {}
    return (f"{number(r.get('watched_attempts', r.get('attempts')), '{}'):>9}"
            f"{number(r.get('watched'), '{:.1f}'):>6}{number(r.get('cpu_seconds'), '{:.2f}'):>8}")


def says(case, room):
    return errors.short(case["result"].get("said") or "-", room) if case else "-"


def overview(done, clients):
    """One row per client, one column per way."""
    cells = pairs(done)
    ways = [w for w in WAYS if any(w == way for _, way in cells)]
    rows = [c.name for c in clients if any(c.name == name for name, _ in cells)]
    if not rows:
        return
    print("\nThe matrix. Attempts per second, bare > under the shim, while the server fails in the way")
    print("of the column (the shim at ten times its usual pace). 12x: the client ended by itself after")
    print("12 attempts; -: it does not know that way; half, half-reset, error and udp are not to be throttled.")
    print(f"\n{'client':<17}" + "".join(f"{w:>11}" for w in ways))
    for name in rows:
        line = f"{name:<17}"
        for way in ways:
            bare, shim = cells.get((name, way), (None, None))
            text = "-"
            if bare or shim:
                both = [case["result"] if case else {} for case in (bare, shim)]
                text = ">".join(map(per_second, both))
                text += "!" if any(r.get("problems") for r in both) else ""
            line += f"{text:>11}"
        print(line.rstrip())
    print(f"{len(rows)} clients, {len(ways)} ways of failing, {len(cells)} cells; ! marks a failure")
