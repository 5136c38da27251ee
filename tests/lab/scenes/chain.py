# SPDX-License-Identifier: MIT
from stage import PORT, TAIL, pool, scene, server

HOPS = [PORT + 100 + i for i in range(5)]


def hops(library, tries=3):
    """Five hops before the tail; library: which of them."""
    return [{"command": ["{B}/harm/serve", "-M", "perconn", "-l", port, "-h", to, "-d", to, "-t", tries,
                         "-o", 2000 - 300 * i], "library": i in library}
            for i, (port, to) in enumerate(zip(HOPS, [*HOPS[1:], TAIL + 1]))]


@scene("chain")
def chain(quick):
    """Five hops, three tries each, before a tail that is dead, hangs, is too slow, or is up and down each two
    seconds; with the library nowhere, at the two hops nearest to the tail, and at all. How many attempts come to each
    hop for one request of a client. (The simulator plays the dead tail.)"""
    start, seconds = 3, 11 if quick else 30
    ways = {"dead": ["ok@0", f"refuse@{start}"], "hanging": ["ok@0", f"hang@{start}"],
            "slow": ["ok@0", f"slow=900@{start}"],
            "flapping": [f"{'refuse' if i % 2 else 'ok'}@{2 * i}" for i in range(seconds // 2)]}
    if quick:
        del ways["hanging"]
    plays = {}
    for way, phases in ways.items():
        for name, library in (("bare", ()), ("two hops of five", (3, 4)), ("library", range(5))):
            plays[f"{name}, {way}"] = {
                "seconds": seconds, "policy": "", "hops": hops(set(library)), "busy": 0.2 if library else 0.5,
                "ports": [*HOPS, TAIL + 1], "server_ports": [TAIL + 1],
                "servers": [server(TAIL + 1, 2000, 2000, *phases)],
                "clients": [pool(f"-n 16 -r 5 -o 10000 -s {seconds}", f"{HOPS[0]}=d")]}
            if way == "dead":
                plays[f"{name}, {way}"]["sim"] = {"variant": name}

    def judge(found):
        for name, one in found.items():
            work = one["work"]["work"]
            # The first two seconds of an outage are what tells that there is one.
            begin = start + 2
            requests = max(1, sum(one["load"][str(HOPS[0])][begin * 10:]))
            each = [sum(one["load"][str(port)][begin * 10:]) / requests for port in [*HOPS[1:], TAIL + 1]]
            row = {f"hop {i + 2}": round(n, 2) for i, n in enumerate(each[:-1])}
            row["tail"] = round(each[-1], 2)
            row["p50 ms"] = round(work["p50"] or 0)
            row["p99 ms"] = round(work["p99"] or 0)
            row["answered"] = f"{work['ok']}/{max(1, work['asked'])}"
            wrong = []
            if name.startswith("bare, dead") and each[-1] < 100:
                wrong.append(f"bare only {each[-1]:.0f} attempts for a request: that is no storm")
            # A try that is in vain takes a second or so: in a few seconds those of the beginning weigh more.
            most = 2.5 if quick and "dead" not in name else 1.2
            if name.startswith("library") and "flapping" not in name and each[-1] > most:
                wrong.append(f"{each[-1]:.2f} attempts at the tail for a request, not {most}")
            bare = found[name.replace("library", "bare")]["work"]["work"]
            if name == "library, flapping" and work["ok"] < 0.8 * bare["ok"]:
                wrong.append(f"bare {bare['ok']} are answered")
            if name == "library, dead" and work["p99"] > bare["p99"] + 500:
                wrong.append(f"p99 is {work['p99']:.0f} ms, bare {bare['p99']:.0f}")
            yield name, row, wrong

    def bars(rows):
        """Attempts for a request, at each hop."""
        where = [*(f"hop {i}" for i in range(2, 6)), "tail"]
        for way in ways:
            yield (f"tail {way}", "attempts a request", True, where,
                   [(name, [rows[f"{name}, {way}"][one] for one in where])
                    for name in ("bare", "two hops of five", "library")])

    # The first hop is what the scenario calls the clients, and so on: five that try, and the tail.
    timeouts = dict(zip(("clients", "server.a", "server.b", "server.c", "server.d"),
                        (f"{2000 - 300 * i}ms" for i in range(5))))
    return {"title": "A chain of five hops with three tries each", "plays": plays, "judge": judge,
            "plot": TAIL + 1, "bars": bars,
            "headline": ("bare, dead", "library, dead",
                         ("tail", "attempts at a dead tail for a request"), ("p99 ms", "99 of 100 answered in ms")),
            "sim": {"scenario": "chain", "set": {
                **{f"{who}.timeout": value for who, value in timeouts.items()}, "clients.even": "on",
                "clients.from": "1s",
                "outage.from": f"{start}s", "outage.until": "1h"}}}
