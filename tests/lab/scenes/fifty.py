# SPDX-License-Identifier: MIT
from stage import PORT, back_after, peak, per_second, pool, scene, server, text_of

COUNT, RATE = 5, 50
OUTAGE = 30  # s, of the whole
ADMISSION = f"[admission lab]; listen = 127.0.0.1:{PORT}; rate = 300/s; burst = 30; reply = http"
# Tries, pause (ms), drawn or not, the library at the clients, admission at the server, the simulator's variant.
KINDS = {
    "no retry": (1, 0, False, False, False, "none"),
    "three at once": (4, 0, False, False, False, "none"),
    "backoff and jitter": (4, 100, True, False, False, "pauses"),
    "budget": (4, 0, False, True, False, "budget"),
    "admission": (4, 0, False, False, True, "admission"),
    "all three": (4, 100, True, True, True, "all three"),
    "all three, one share": (4, 100, True, True, True, "all three, one share"),
}


def compared(found, name_of_ours, measures, alone=("backoff and jitter", "budget", "admission")):
    """What beats all three together, in words."""
    ours = measures(found[name_of_ours])
    for name in alone:
        for (what, less_is_better, margin), value, best in zip(MEASURES, measures(found[name]), ours):
            if (value < best - margin * best) if less_is_better else (value > best + margin * best):
                yield f"{name} alone has the better {what}: {value:.4g}, all three {best:.4g}"


MEASURES = (("peak load", True, 0.1), ("goodput", False, 0.02))


def whole(found):
    """Rows of what the simulator makes of it in full."""
    for name, one in found.items():
        row = {"peak /s": round(one["peak"]), "load in the outage /s": round(one["in-outage"] / OUTAGE),
               "goodput /s": round(one["goodput"]), "attempts a request": f"{one['ampl']:.2f}",
               "back after": text_of(None if one["recovery"] < 0 else one["recovery"]),
               "peak after it /s": round(one["peak-after"])}
        if name.startswith("all three"):
            row["beaten by"] = "; ".join(compared(found, name, lambda some: (some["peak"], some["goodput"]),
                                                  ("pauses", "budget", "admission"))) or "none"
        yield name, row


@scene("fifty")
def fifty(quick):
    """Fifty instances at 10,000 requests a second in all, a server that is dead (it says nothing), three immediate
    retries: 900,000 requests too many on paper. Here a tenth of the instances and a fortieth of the traffic, and below
    the whole (conf/scenarios/fifty.ini, where the server is gone, and says so) by the simulator. What helps, each alone
    and all three together. With a budget each, every instance has to find out by itself that the server is back, and
    some try it seconds later than others: so long fewer are answered than with admission alone, at which all go on
    trying. In one share the first answer is news to all; what is still lost are the jobs between the return and the
    next try that the backoff lets go, part of a second, while admission alone has a thousand tries a second in the
    outage and so misses nothing."""
    start, outage, rest = (3, 5, 12) if quick else (5, 30, 15)
    end, rate = start + outage, COUNT * RATE
    seconds = end + rest
    plays = {}
    for name, (tries, pause, jitter, library, admission, variant) in KINDS.items():
        command = server(PORT, 400, 800, "ok@0", f"hang@{start}", f"ok@{end}")
        drawn = "-j" if jitter else ""
        plays[name] = {
            "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "busy": 0.25,
            "policy": "[retrybudget]; scope = user" if "one share" in name else "",
            "servers": [{"command": command, "policy": ADMISSION} if admission else command],
            "clients": [pool(f"-n 150 -r {RATE} -t {tries} -p {pause} {drawn} -o 500 -s {seconds}", f"{PORT}=h",
                             library=library) for _ in range(COUNT)],
            "sim": {"variant": variant, "set": {"clients.tries": tries,
                                                "server.admission": "300/s" if admission else "0/s"}}}

    def recovery(_, one):
        return back_after(one, PORT, rate, end)

    def measures(one):
        return peak(one, PORT), sum(one["answered"][str(PORT)]) / seconds

    def judge(found):
        for name, one in found.items():
            load = per_second(one, "load", PORT, start + 1, end)
            most, goodput = measures(one)
            row = {"peak /s": most, "load in the outage /s": round(load, 1), "goodput /s": round(goodput, 1),
                   "back after": text_of(recovery(name, one)), "peak after it /s": peak(one, PORT, end)}
            wrong = []
            if name == "three at once" and load < 3 * rate:
                wrong.append(f"bare only {load:.0f} a second: that is no storm")
            if name == "budget" and load > 1.2 * rate:
                wrong.append(f"{load:.0f} attempts a second for {rate} requests")
            if name.startswith("all three"):
                row["beaten by"] = "; ".join(compared(found, name, measures)) or "none"
                if most > 0.8 * peak(found["three at once"], PORT):
                    wrong.append(f"a peak of {most}/s")
            yield name, row, wrong

    return {"title": "Instances with three immediate retries", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(start, "dead"), (end, "back")], "capacity": 400,
            "headline": ("three at once", "all three",
                         ("peak /s", "peak, of 250/s"), ("goodput /s", "answered /s")),
            "recovery": recovery,
            "full": {"scenario": "fifty", "rows": whole, "plot": "all", "marks": [(30, "dead"), (60, "back")],
                     "capacity": 12000},
            "sim": {"scenario": "fifty", "set": {
                "clients.timeout": "500ms", "outage.hangs": "100%",
                "clients.processes": COUNT, "clients.asked": "off", "clients.rate": f"{rate}/s",
                "server.capacity": "400/s",
                "server.queue": 800, "outage.from": f"{start}s",
                "outage.until": f"{end}s"}}}
