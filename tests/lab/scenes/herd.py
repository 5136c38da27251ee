# SPDX-License-Identifier: MIT
from stage import PORT, last_after, loops, peak, per_second, scene, server, text_of


@scene("herd")
def herd(quick):
    """Many clients hold a connection each, and lose them all at once; two seconds later the server is back. It can
    greet a quarter of them in a second, who wait no longer than that: bare it greets those that have gone."""
    count, start, rest = (100, 6, 18) if quick else (200, 6, 50)
    rate = count // 4
    end = start + 2
    seconds = end + rest
    kinds = {"bare": (False, ""), "library": (True, ""), "one share": (True, "[retrybudget]; scope = user")}
    plays = {}
    for name, (library, policy) in kinds.items():
        plays[name] = {
            "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": policy,
            "busy": 0.15 if library else 0.5,
            "servers": [server(PORT, rate, 1000, "ok@0", f"cut@{start}", f"ok@{end}")],
            "clients": [one for i in range(count)
                        for one in loops(1, PORT, 50, seconds, "", 5 * i / count, library=library)],
            "sim": {"variant": name}}

    def recovery(_, one):
        return last_after(one, PORT, end, count)

    def judge(found):
        for name, one in found.items():
            load, back = per_second(one, "load", PORT, start, end), recovery(name, one)
            row = {"in the outage /s": round(load, 1), "all back after": text_of(back),
                   "peak after it /s": peak(one, PORT, end)}
            wrong = []
            if name == "bare" and back is not None:
                wrong.append(f"bare all are back after {back:.1f} s: that is no storm")
            if name != "bare" and back is None:
                wrong.append("not all came back")
            yield name, row, wrong

    return {"title": "A herd that loses its connections at once", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(start, "cut off"), (end, "back")], "capacity": rate, "logarithmic": True, "recovery": recovery,
            "headline": ("bare", "library",
                         ("all back after", "all back after"), ("in the outage /s", "attempts in the outage /s")),
            "sim": {"scenario": "herd", "tolerance": {"recovery": (0.5, 9)}, "set": {  # it halves too often
                "clients.processes": count, "clients.pause": "50ms", "clients.timeout": "1s",
                "clients.spread": "5s", "server.capacity": f"{rate}/s", "server.queue": 1000, "server.collapse": 0,
                "outage.from": f"{start}s", "outage.until": f"{end}s"}}}
