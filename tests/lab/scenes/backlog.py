# SPDX-License-Identifier: MIT
from stage import PORT, back_after, peak, per_second, pool, scene, server, text_of

RATE = 30


@scene("backlog")
def backlog(quick):
    """Work is queued through an outage, 30 jobs a second, each tried until it is done, 200 ms apart: all of it meets
    the server when it returns. It answers 50/s, and nobody waits longer than a second."""
    outage, rest = (6, 12) if quick else (20, 30)
    seconds = outage + rest
    workers = RATE * (outage + 12)
    plays = {}
    for name, library in (("bare", False), ("library", True)):
        plays[name] = {
            "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": "",
            "busy": 0.15 if library else 0.5,
            "servers": [server(PORT, 50, 500, "refuse@0", f"ok@{outage}")],
            "clients": [pool(f"-n {workers} -r {RATE} -t 0 -p 200 -o 1000 -s {seconds}", f"{PORT}=h",
                             library=library)],
            "sim": {"variant": name}}

    def recovery(_, one):
        return back_after(one, PORT, RATE, outage)

    def judge(found):
        for name, one in found.items():
            back = recovery(name, one)
            load = per_second(one, "load", PORT, outage - 2, outage)
            wrong = []
            if name == "bare" and (back is not None or load < 10 * RATE):
                wrong.append(f"bare {load:.0f} attempts a second, back after {text_of(back)}: that is no storm")
            if name == "library" and (back is None or back > 12):
                wrong.append(f"back after {text_of(back)}")
            yield name, {"at the outage's end /s": round(load, 1), "peak after it /s": peak(one, PORT, outage),
                         "back after": text_of(back), "done": one["work"]["work"]["ok"]}, wrong

    return {"title": "A backlog meets the returning server", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(outage, "back")], "capacity": 50, "logarithmic": True,
            "recovery": recovery,
            "headline": ("bare", "library",
                         ("at the outage's end /s", "attempts at the outage's end /s"), ("back after", "back after")),
            "sim": {"scenario": "backlog", "tolerance": {"load": (0.35, 5)}, "set": {  # so many threads are late
                "clients.processes": 1, "clients.asked": "off", "clients.rate": f"{RATE}/s", "clients.pause": "200ms",
                "clients.even": "on",
                "clients.timeout": "1s", "server.capacity": "50/s", "server.queue": 500, "server.collapse": 0,
                "outage.from": "0", "outage.until": f"{outage}s"}}}
