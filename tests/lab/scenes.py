# SPDX-License-Identifier: MIT
"""The storms. A scene is played once for each of its variants; then it says what must be true of them: that
the bare one is a storm, and what the library makes of it."""

PORT, LIVE, TAIL = 8001, 8002, 8005
scenes = {}


def scene(name):
    def add(make):
        scenes[name] = make
        return make
    return add


def pool(options, target, **more):
    return {"command": ["{B}/harm/pool", *options.split(), *target.split()], "library": False, **more}


def server(port, rate, queue, *phases):
    return ["{B}/lab/server", port, rate, queue, *phases]


def per_second(found, name, port, start, end):
    """The mean of a count at a server between two moments, per second."""
    count = found[name][str(port)][int(start * 10):int(end * 10)]
    return sum(count) * 10 / max(1, len(count))


def back_after(found, port, rate, moment):
    """Seconds from a moment until the server answers nine of ten that are asked, for three seconds on end; None:
    it never does."""
    answered = found["answered"][str(port)]
    at = int(moment * 10)
    while at + 30 <= len(answered):
        if sum(answered[at:at + 30]) >= 0.9 * 3 * rate:
            return (at - moment * 10) / 10
        at += 1
    return None


def text_of(seconds):
    return "never" if seconds is None else f"{seconds:.1f} s"


@scene("blip")
def blip(quick):
    """A server that answers 100/s hangs for a while, in which clients with three tries come at 83 and at 98 % of
    what it can do. Bare it stays collapsed: it works for clients that have given up, and they try again."""
    outage, rest = (6, 11) if quick else (30, 40)
    start, end = 4, 4 + outage
    seconds = end + rest
    plays = {}
    for share in (98,) if quick else (83, 98):
        for name, library in ((f"bare, {share} %", False), (f"library, {share} %", True)):
            plays[name] = {
                "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": "",
                "servers": [server(PORT, 100, 500, "ok@0", f"hang@{start}", f"ok@{end}")],
                "clients": [pool(f"-n 150 -r {share / 2} -t 3 -o 1000 -s {seconds}", f"{PORT}=h",
                                 library=library, group=f"clients {i}") for i in (1, 2)]}

    def judge(found):
        for name, one in found.items():
            rate = float(name.split()[-2])
            back = back_after(one, PORT, rate, end)
            load = per_second(one, "load", PORT, start + 2, end)
            late = per_second(one, "answered", PORT, seconds - 5, seconds)
            row = {"back after": text_of(back), "load in the outage /s": round(load, 1),
                   "answered in the end /s": round(late, 1),
                   "load in the end /s": round(per_second(one, "load", PORT, seconds - 5, seconds), 1)}
            wrong = []
            if "bare" in name and back is not None:
                wrong.append(f"bare it came back after {back:.1f} s: that is no storm")
            if "library" in name and (back is None or back > 10):
                wrong.append(f"it is back after {text_of(back)}, not within 10 s")
            yield name, row, wrong

    return {"title": "A blip at a server that is well used", "plays": plays, "judge": judge,
            "plot": PORT, "marks": [(start, "hangs"), (end, "back")], "capacity": 100}


def hops(library, tries=3):
    """Five hops before the tail; library: which of them."""
    found = []
    for i in range(5):
        to = TAIL + 1 if i == 4 else PORT + 100 + i + 1
        found.append({"command": ["{B}/harm/serve", "-M", "perconn", "-l", PORT + 100 + i, "-h", to, "-d", to,
                                  "-t", tries, "-o", 2000 - 300 * i], "library": i in library})
    return found


@scene("chain")
def chain(quick):
    """Five hops, three tries each, before a tail that is dead, hangs, is too slow, or is up and down each two seconds. How many
    attempts come to each hop for one request of a client."""
    seconds = 9 if quick else 30
    ways = {"dead": ["refuse@0"], "hanging": ["ok@0", "hang@1"],
            "slow": ["slow=900@0"],
            "flapping": [f"{'refuse' if i % 2 else 'ok'}@{2 * i}" for i in range(seconds // 2)]}
    plays = {}
    for way in ("dead", "flapping") if quick else ways:
        for name, library in (("bare", ()), ("two hops of five", (3, 4)), ("library", range(5))):
            plays[f"{name}, {way}"] = {
                "seconds": seconds, "policy": "", "hops": hops(set(library)),
                "ports": [PORT + 100 + i for i in range(5)] + [TAIL + 1], "server_ports": [TAIL + 1],
                "servers": [server(TAIL + 1, 2000, 2000, *ways[way])],
                "clients": [pool(f"-n 16 -r 5 -o 10000 -s {seconds}", f"{PORT + 100}=d")]}

    def judge(found):
        for name, one in found.items():
            asked = max(1, one["work"]["work"]["asked"])
            # The first second of an outage is what tells that there is one.
            begin = 3
            requests = max(1, sum(one["load"][str(PORT + 100)][begin * 10:]))
            each = [sum(one["load"][str(port)][begin * 10:]) / requests
                    for port in [PORT + 100 + i for i in range(1, 5)] + [TAIL + 1]]
            row = {f"hop {i + 2}": round(n, 2) for i, n in enumerate(each[:-1])}
            row["tail"] = round(each[-1], 2)
            row["p50 ms"] = round(one["work"]["work"]["p50"] or 0)
            row["p99 ms"] = round(one["work"]["work"]["p99"] or 0)
            row["answered"] = f"{one['work']['work']['ok']}/{asked}"
            wrong = []
            if name.startswith("bare, dead") and each[-1] < 100:
                wrong.append(f"bare only {each[-1]:.0f} attempts for a request: that is no storm")
            if name.startswith("library") and "flapping" not in name and each[-1] > 1.2:
                wrong.append(f"{each[-1]:.2f} attempts at the tail for a request, not 1.2")
            bare = found.get("bare, flapping")
            if name == "library, flapping" and one["work"]["work"]["ok"] < 0.8 * bare["work"]["work"]["ok"]:
                wrong.append(f"bare {bare['work']['work']['ok']} are answered")
            yield name, row, wrong

    return {"title": "A chain of five hops with three tries each", "plays": plays, "judge": judge,
            "plot": TAIL + 1, "marks": [],
            "logarithmic": True}


ENVOY = "[destination default]; preset = envoy"
GRPC = "[destination default]; preset = grpc"


@scene("partial")
def partial(quick):
    """One server fails some of what it is asked; clients with three tries. What retries add to its load, and what
    they are worth."""
    seconds = 6 if quick else 20
    kinds = {"no retry": ("-t 1", False, ""), "bare": ("-t 3", False, ""), "library": ("-t 3", True, ""),
             "preset envoy": ("-t 3", True, ENVOY), "preset grpc": ("-t 3", True, GRPC)}
    plays = {}
    for share in (1, 50) if quick else (1, 10, 20, 50):
        for name, (tries, library, policy) in kinds.items():
            if quick and share == 1 and policy:
                continue
            plays[f"{name}, {share} %"] = {
                "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": policy,
                "servers": [server(PORT, 2000, 2000, f"fail={share}@0")],
                "clients": [pool(f"-n 32 -r 60 -p 20 {tries} -o 2000 -s {seconds}", f"{PORT}=p", library=library)]}

    def judge(found):
        for name, one in found.items():
            work = one["work"]["work"]
            share = name.split(", ")[1]
            served = work["ok"] / max(1, work["asked"])
            least = found[f"no retry, {share}"]["work"]["work"]
            least = least["ok"] / max(1, least["asked"])
            wrong = []
            # What fails is chance: three standard deviations of the difference.
            margin = 3 * (2 * least * (1 - least) / max(1, work["asked"])) ** 0.5
            if served < least - margin:
                wrong.append(f"{served:.3f} served, without any retry {least:.3f}")
            if name == "bare, 50 %" and sum(one["load"][str(PORT)]) < 1.5 * work["asked"]:
                wrong.append("bare it is no storm")
            yield name, {"served": round(served, 3), "served /s": round(work["ok"] / one["seconds"], 1),
                         "load": round(sum(one["load"][str(PORT)]) / max(1, work["asked"]), 2),
                         "p99 ms": round(work["p99"] or 0)}, wrong

    return {"title": "Partial failure", "plays": plays, "judge": judge, "plot": PORT, "marks": []}


@scene("farm")
def farm(quick):
    """A hundred processes loop around one dead server, each with a budget of its own, and all with one; then it
    comes back, and answers 200/s."""
    count, outage, rest = (40, 6, 10) if quick else (100, 30, 30)
    seconds = outage + rest
    kinds = {"bare": (False, ""), "a budget each": (True, ""), "one budget": (True, "[retrybudget]; scope = user")}
    plays = {}
    for name, (library, policy) in kinds.items():
        plays[name] = {
            "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": policy,
            "servers": [server(PORT, 200, 400, "refuse@0", f"ok@{outage}")],
            "clients": [pool(f"-n 1 -w -p 10 -o 3000 -s {seconds}", f"{PORT}=h", library=library)
                        for _ in range(count)]}

    def judge(found):
        bare = per_second(found["bare"], "load", PORT, 3, outage)
        for name, one in found.items():
            load = per_second(one, "load", PORT, 3, outage)
            work = one["work"]["work"]
            last = max((i for i, n in enumerate(one["answered"][str(PORT)]) if n), default=-1)
            row = {"attempts in the outage /s": round(load, 1), "back": f"{work['ok']} of {count}",
                   "the last one after": text_of(last / 10 - outage if last >= 0 else None)}
            wrong = []
            if name == "bare" and load < 20 * count:
                wrong.append(f"bare only {load:.0f} attempts a second: that is no storm")
            if name == "one budget" and load > bare / 100:
                wrong.append(f"{load:.1f} attempts a second in the outage")
            if name == "one budget" and work["ok"] < count:
                wrong.append(f"{count - work['ok']} did not come back")
            yield name, row, wrong

    return {"title": "A farm of processes", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(outage, "back")], "logarithmic": True}


@scene("today")
def today(quick):
    """What an operator would do today: a service asks a dead and a healthy backend, and beside it a thread loops
    around the dead one; with nothing, a limit of the firewall, a firewall that refuses, and the library."""
    seconds = 6 if quick else 20
    rule = ["nft", "add", "rule", "ip", "lab", "out", "tcp", "dport", str(PORT), "tcp", "flags", "&", "(syn|ack)",
            "==", "syn"]
    table = [["nft", "add", "table", "ip", "lab"],
             ["nft", "add", "chain", "ip", "lab", "out", "{ type filter hook output priority 0 ; }"]]
    kinds = {"nothing": (False, []), "a limit that drops": (False, [*table, [*rule, "limit", "rate", "over", "1/second", "drop"]]),
             "a limit that rejects": (False, [*table, [*rule, "limit", "rate", "over", "1/second", "reject", "with", "tcp", "reset"]]),
             "library": (True, [])}
    plays = {}
    for name, (library, before) in kinds.items():
        plays[name] = {
            "seconds": seconds, "ports": [PORT, LIVE], "server_ports": [PORT, LIVE], "policy": "", "before": before,
            "servers": [server(PORT, 1000, 1000, "refuse@0"), server(LIVE, 1000, 1000)],
            "clients": [pool(f"-n 8 -r 40 -t 2 -o 2000 -s {seconds} -g {PORT}:0", f"{LIVE}=hx3 {PORT}=d",
                             library=library)]}

    def judge(found):
        for name, one in found.items():
            text = one["work"]["work"]
            load = per_second(one, "load", PORT, 1, seconds)
            wrong = []
            if name == "nothing" and load < 500:
                wrong.append(f"bare only {load:.0f} attempts a second: that is no storm")
            healthy = per_second(one, "answered", LIVE, 1, seconds)
            if name == "library":
                if healthy < 0.97 * per_second(found["nothing"], "answered", LIVE, 1, seconds):
                    wrong.append(f"healthy work: {healthy:.1f}/s")
                if load > 30:
                    wrong.append(f"{load:.1f} attempts a second")
            yield name, {"attempts that the host makes /s": round(load, 1), "healthy work /s": round(healthy, 1),
                         "p99 of all work ms": round(text["p99"] or 0)}, wrong

    return {"title": "What an operator would do today", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [], "logarithmic": True}


@scene("backlog")
def backlog(quick):
    """Work is queued through an outage: fifty workers, each with a job that it tries until it is done, meet the
    server when it returns."""
    outage, rest = (6, 10) if quick else (20, 25)
    seconds = outage + rest
    plays = {}
    for name, library in (("bare", False), ("library", True)):
        plays[name] = {
            "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": "",
            "servers": [server(PORT, 50, 100, "refuse@0", f"ok@{outage}")],
            "clients": [pool(f"-n 50 -r 30 -t 0 -p 20 -o 2000 -s {seconds}", f"{PORT}=h", library=library)]}

    def judge(found):
        for name, one in found.items():
            after = one["load"][str(PORT)][outage * 10:]
            peak = max((sum(after[i:i + 10]) for i in range(max(1, len(after) - 9))), default=0)
            back = back_after(one, PORT, 30, outage)
            outage_load = per_second(one, "load", PORT, 2, outage)
            wrong = []
            if name == "bare" and outage_load < 500:
                wrong.append(f"bare only {outage_load:.0f} attempts a second: that is no storm")
            if name == "library" and (back is None or back > 12):
                wrong.append(f"back after {text_of(back)}")
            yield name, {"attempts in the outage /s": round(outage_load, 1),
                         "the most in a second after it": peak, "back after": text_of(back),
                         "done": one["work"]["work"]["ok"]}, wrong

    return {"title": "A backlog meets the returning server", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(outage, "back")], "capacity": 50, "logarithmic": True}


@scene("instances")
def instances(quick):
    """Fifty instances at 10,000 requests a second in all, a dead server, three immediate retries: here a tenth of
    the instances and a fortieth of the traffic."""
    outage, rest = (4, 6) if quick else (30, 15)
    count, rate = 5, 50
    start = 3
    seconds = start + outage + rest
    plays = {}
    for name, library, tries, pause in (("no retry", False, 1, 0), ("three at once", False, 4, 0),
                                        ("three, 100 ms apart", False, 4, 100), ("three, under the library", True, 4, 0)):
        plays[name] = {
            "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": "",
            "servers": [server(PORT, 400, 800, "ok@0", f"refuse@{start}", f"ok@{start + outage}")],
            "clients": [pool(f"-n 30 -r {rate} -t {tries} -p {pause} -o 1000 -s {seconds}", f"{PORT}=h", library=library)
                        for _ in range(count)]}

    def judge(found):
        for name, one in found.items():
            load = per_second(one, "load", PORT, start + 1, start + outage)
            extra = (load - count * rate) * outage
            back = back_after(one, PORT, count * rate, start + outage)
            wrong = []
            if name == "three at once" and load < 3 * count * rate:
                wrong.append(f"bare only {load:.0f} a second: that is no storm")
            if name == "three, under the library" and load > 1.2 * count * rate:
                wrong.append(f"{load:.0f} attempts a second for {count * rate} requests")
            yield name, {"load in the outage /s": round(load, 1), "extra attempts": round(max(0, extra)),
                         "back after": text_of(back), "answered": one["work"]["work"]["ok"]}, wrong

    return {"title": "Instances with three immediate retries", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(start, "dead"), (start + outage, "back")]}
