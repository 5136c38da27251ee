# SPDX-License-Identifier: MIT
"""What the runs say: a line per scene while they go on, and a table at the end."""

import verdict

WORD = {"passed": "ok", "failed": "FAIL", "open": "open", "closed": "ok", "missing": "skip"}


def both(bare, under, form="{:.0f}"):
    return f"{form.format(bare)}/{form.format(under)}"


def failing_ports(scene):
    """Where the scene has servers that fail, other than those whose storm is told of anyway."""
    told = {one["port"] for one in scene.get("storm", ())}
    for server in scene["servers"]:
        place, phases = server.split(":", 1)
        port = int(place.rsplit("/", 1)[-1])
        if port not in told and not phases.startswith(("ok", "pg", "push", "dns", "mute")):
            told.add(port)
            yield port


def numbers(scene, look):
    """The numbers of one look, bare/under."""
    if "bare" not in look:
        return ""
    b, u = look["bare"], look["under"]
    parts = []
    for kind, name in (("h", "served"), ("p", "served"), ("d", "dead")):
        x, y = b["kinds"].get(kind), u["kinds"].get(kind)
        if not x:
            continue
        if not y:
            parts.append(f"{name} {x['ok']}/none")
            continue
        if kind != "d":
            parts.append(f"{name} {both(x['ok'], y['ok'])}")
            parts.append(f"per s {both(x['ok'] / b['seconds'], y['ok'] / u['seconds'], '{:.1f}')}")
        parts.append(f"{'dead ' if kind == 'd' else ''}p50 {both(x['p50'], y['p50'])}")
        parts.append(f"p99 {both(x['p99'], y['p99'])} ms")
    for port in failing_ports(scene):
        parts.append(f"at {port} {both(b['ports'][port]['syns'], u['ports'][port]['syns'])}")
    for one in scene.get("storm", ()):
        parts.append(f"storm {both(verdict.stormed(b, one), verdict.stormed(u, one))}")
    if "per_demand" in scene:
        port, kind, _, what = scene["per_demand"]
        rates = [p["ports"][port][what] / max(1, p["kinds"].get(kind, {}).get("asked", 0)) for p in (b, u)]
        parts.append(f"per demand {both(*rates, '{:.2f}')}")
    if "steady" in scene:
        parts.append(f"in the end {both(*[verdict.in_steady_state(p, scene) or 0 for p in (b, u)], '{:.2f}')}")
    if "worst" in scene:
        parts.append(f"last {both(*[p['kinds']['h']['max'] for p in (b, u) if 'h' in p['kinds']])} ms")
    if "ends" in scene:
        parts.append(f"ended {both(b['seconds'], u['seconds'], '{:.1f}')} s")
    if scene.get("cpu") and u["cpu"] is not None:
        parts.append(f"CPU {u['cpu']:.1%}")
    return ", ".join(parts)


def line(scene, result, look, why, records):
    print(f"{WORD[result]:4} {scene['name']:<30} {numbers(scene, look)}", flush=True)
    if result == "missing":
        print(f"     needs {', '.join(scene['needs'])}")
    if result == "closed":
        print("     listed as known to be red, and passed three times: off open.txt with it?")
    if result == "open":
        print(f"     known: {why}")
    for problem in look.get("once", ()):
        print(f"     once in three plays: {problem}")
    for problem in look["problems"]:
        print(f"     {problem}", flush=True)
    if records and look["problems"] and "under" in look:
        for side in ("bare", "under"):
            for said in look[side]["said"] + look[side]["records"]:
                print(f"     {side}: {said}")


def table(done):
    print(f"\n{'scene':<30} {'rule':<14} {'':<6} bare/under")
    for scene, result, look in sorted(done, key=lambda d: d[0]["name"]):
        print(f"{scene['name']:<30} {scene['rule']:<14} {WORD[result]:<6} {numbers(scene, look)}")
