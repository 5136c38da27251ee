# SPDX-License-Identifier: MIT
from stage import PORT, last_after, loops, peak, per_second, scene, server, text_of


@scene("farm")
def farm(quick):
    """A hundred processes loop around one dead server, each with a budget of its own, and all with one; then it
    comes back, and can answer a quarter of them in a second, who wait no longer than that."""
    count, outage, rest = (40, 6, 20) if quick else (100, 30, 40)
    seconds, rate = outage + rest, count // 4
    kinds = {"bare": (False, "", "bare"), "a budget each": (True, "", "per process"),
             "one budget": (True, "[retrybudget]; scope = user", "shared")}
    plays = {}
    for name, (library, policy, variant) in kinds.items():
        plays[name] = {
            "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": policy,
            "busy": 0.15 if library else 0.5,
            "servers": [server(PORT, rate, 1000, "refuse@0", f"ok@{outage}")],
            "clients": loops(count, PORT, 20, seconds, library=library),
            "sim": {"variant": variant}}

    def recovery(_, one):
        return last_after(one, PORT, outage, count)

    def judge(found):
        bare = per_second(found["bare"], "load", PORT, 3, outage)
        for name, one in found.items():
            load, back = per_second(one, "load", PORT, 3, outage), recovery(name, one)
            row = {"in the outage /s": round(load, 1), "all back after": text_of(back),
                   "peak after it /s": peak(one, PORT, outage)}
            wrong = []
            if name == "bare" and (load < 20 * count or back is not None):
                wrong.append(f"bare {load:.0f} attempts a second, all back after {text_of(back)}: that is no storm")
            if name == "one budget" and load > bare / 100:
                wrong.append(f"{load:.1f} attempts a second in the outage")
            if name != "bare" and back is None:
                wrong.append("not all came back")
            yield name, row, wrong

    return {"title": "A farm of processes", "plays": plays, "judge": judge, "plot": PORT, "capacity": rate,
            "marks": [(outage, "back")], "logarithmic": True, "recovery": recovery,
            "headline": ("bare", "one budget",
                         ("in the outage /s", "attempts in the outage /s"), ("all back after", "all back after")),
            "sim": {"scenario": "farm", "tolerance": {"recovery": (0.5, 9)}, "set": {  # it halves too often
                "clients.processes": count, "clients.timeout": "1s",
                "server.capacity": f"{rate}/s", "server.queue": 1000, "server.collapse": 0, "outage.from": "0",
                "outage.until": f"{outage}s", "outage.lose": "off"}}}
