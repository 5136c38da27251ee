# SPDX-License-Identifier: MIT
from stage import DNS, PORT, last_after, loops, per_second, scene, server, text_of

HELPS = {"fails": 0.25, "is silent": 0.75, "says nothing": 1.1}  # the load that is left, at most
WAYS = {"fails": "servfail", "is silent": "silent", "says nothing": "nodata"}


@scene("dns")
def dns(quick):
    """Programs that look their server up in a loop, at a resolver that fails at once (SERVFAIL), that never answers,
    and that answers with nothing (no address). Counted are the queries that come to the resolver. That there is no
    such address is an answer, and no failure: the library lets those lookups go."""
    count, outage, rest = (50, 6, 6) if quick else (50, 30, 20)
    seconds = outage + rest
    plays = {}
    for way, mode in WAYS.items():
        for name, library in (("bare", False), ("library", True)):
            one = {
                "seconds": seconds, "ports": [DNS], "server_ports": [PORT], "policy": "", "busy": 0.25,
                "servers": [server(PORT, 1000, 1000, "ok@0")], "dns": [[0, mode], [outage, "ok"]],
                "clients": loops(count, PORT, 50, seconds, "work.lab", library=library)}
            if mode != "nodata":
                one["sim"] = {"variant": f"{name} {'fails' if mode == 'servfail' else 'says nothing'}"}
            plays[f"{name}, {way}"] = one

    def recovery(_, one):
        return last_after(one, PORT, outage, count)

    def judge(found):
        for name, one in found.items():
            load, back = per_second(one, "load", DNS, 1, outage), recovery(name, one)
            way = name.split(", ")[1]
            bare = per_second(found[name.replace("library", "bare")], "load", DNS, 1, outage)
            row = {"queries in the outage /s": round(load, 1), "all back after": text_of(back)}
            wrong = []
            # Each is silent for a second a query.
            if name.startswith("bare") and load < (0.5 if "silent" in name else 10) * count:
                wrong.append(f"bare only {load:.0f} queries a second: that is no storm")
            # Who waits for a silent resolver asks once a second anyway.
            if name.startswith("library") and load > bare * HELPS[way]:
                wrong.append(f"{load:.1f} queries a second, bare {bare:.1f}")
            if back is None:
                wrong.append("not all came back")
            yield name, row, wrong

    return {"title": "A resolver in trouble", "plays": plays, "judge": judge, "plot": DNS, "answers": PORT,
            "marks": [(outage, "well")], "logarithmic": True, "recovery": recovery,
            "headline": ("bare, fails", "library, fails",
                         ("queries in the outage /s", "queries in the outage /s"), ("all back after", "all back after")),
            "sim": {"scenario": "dns", "set": {
                "clients.processes": count, "clients.pause": "50ms", "clients.timeout": "1s", "outage.from": "0",
                "outage.until": f"{outage}s", "outage.lose": "off"}}}
