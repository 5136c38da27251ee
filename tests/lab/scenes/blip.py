# SPDX-License-Identifier: MIT
from stage import PORT, back_after, per_second, pool, scene, server, text_of

KINDS = {"bare": False, "library": True}


@scene("blip")
def blip(quick):
    """A server that answers 100/s hangs for a while, in which clients with three tries come at 83 and at 98 % of
    what it can do. Bare it stays collapsed: it works for clients that have given up, and they try again."""
    outage, rest = (6, 11) if quick else (30, 40)
    start, end = 4, 4 + outage
    seconds = end + rest
    plays = {}
    for share in (98,) if quick else (83, 98):
        for kind, library in KINDS.items():
            name = f"{kind}, {share} %"
            plays[name] = {
                "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": "", "rate": share, "each": True,
                "servers": [server(PORT, 100, 500, "ok@0", f"hang@{start}", f"ok@{end}")],
                "clients": [pool(f"-n 150 -r {share / 2} -t 3 -o 1000 -s {seconds}", f"{PORT}=h",
                                 library=library)] * 2,
                "sim": {"variant": name.replace(",", ""), "set": {"clients.rate": f"{share}/s"}}}

    def recovery(name, one):
        return back_after(one, PORT, plays[name]["rate"], end)

    def judge(found):
        for name, one in found.items():
            back = recovery(name, one)
            row = {"back after": text_of(back),
                   "load in the outage /s": round(per_second(one, "load", PORT, start + 2, end), 1),
                   "answered in the end /s": round(per_second(one, "answered", PORT, seconds - 5, seconds), 1),
                   "load in the end /s": round(per_second(one, "load", PORT, seconds - 5, seconds), 1)}
            wrong = []
            if "bare" in name and back is not None:
                wrong.append(f"bare it came back after {back:.1f} s: that is no storm")
            if "library" in name and (back is None or back > 10):
                wrong.append(f"it is back after {text_of(back)}, not within 10 s")
            yield name, row, wrong

    def latencies(found):
        for share in dict.fromkeys(play["rate"] for play in plays.values()):
            yield f"{share} %", [(kind, found[f"{kind}, {share} %"]["work"]["work"]["each"]) for kind in KINDS]

    return {"title": "A blip at a server that is well used", "plays": plays, "judge": judge,
            "plot": PORT, "marks": [(start, "hangs"), (end, "back")], "capacity": 100,
            "headline": ("bare, 98 %", "library, 98 %",
                         ("back after", "back after"), ("load in the end /s", "load in the end, of 98/s")),
            "recovery": recovery, "latencies": latencies,
            "sim": {"scenario": "blip", "set": {
                "clients.processes": 2, "clients.asked": "off", "clients.timeout": "1s",
                "server.capacity": "100/s", "server.queue": 500,
                "outage.from": f"{start}s", "outage.until": f"{end}s"}}}
