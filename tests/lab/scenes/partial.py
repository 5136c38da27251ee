# SPDX-License-Identifier: MIT
from stage import PORT, pool, scene, server

# Options of the clients, the library, its policy, the simulator's variant.
KINDS = {
    "no retry": ("-t 1", False, "", "no retry 20 %"),
    "bare": ("-t 3", False, "", "bare 20 %"),
    "library": ("-t 3", True, "", "library 20 %"),
    "preset envoy": ("-t 3", True, "[destination default]; preset = envoy", "envoy 20 %"),
    "preset grpc": ("-t 3", True, "[destination default]; preset = grpc", "grpc 20 %"),
}
SHARES = (1, 10, 20, 50)


def unlike_the_sum(share, asked, load, served):
    """Three tries bare make 1 + share + share^2 attempts of a request and leave share^3 unserved. That is no collapse:
    where little fails they add little and serve nearly all, and where half fails they add three quarters. As far as
    chance goes, four standard deviations."""
    sums = 1 + share + share ** 2, 1 - share ** 3
    squares = 1 + 3 * share + 5 * share ** 2  # the mean of the tries' square
    margins = (4 * ((squares - sums[0] ** 2) / asked) ** 0.5, 4 * (sums[1] * (1 - sums[1]) / asked) ** 0.5)
    for what, value, wanted, margin in zip(("attempts a request", "served"), (load, served), sums, margins):
        if abs(value - wanted) > margin + 0.005:
            yield f"bare {value:.3f} {what}, not {wanted:.3f}"


@scene("partial")
def partial(quick):
    """One server fails 1, 10, 20 and 50 % of what it is asked; clients with one try, and with three. What the retries
    add to its load, and what they are worth."""
    seconds = 8 if quick else 30
    plays = {}
    for share in SHARES:
        for name, (tries, library, policy, variant) in KINDS.items():
            plays[f"{name}, {share} %"] = {
                "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": policy, "busy": 0.1,
                "servers": [server(PORT, 2000, 2000, f"fail={share}@0")],
                "clients": [pool(f"-n 32 -r 60 -p 20 {tries} -o 2000 -s {seconds}", f"{PORT}=p", library=library)],
                "sim": {"variant": variant, "set": {"outage.fails": f"{share}%"}}}

    def judge(found):
        for name, one in found.items():
            work, share = one["work"]["work"], name.split(", ")[1]
            asked = max(1, work["asked"])
            served = work["ok"] / asked
            least = found[f"no retry, {share}"]["work"]["work"]
            least = least["ok"] / max(1, least["asked"])
            load = sum(one["load"][str(PORT)]) / asked
            wrong = []
            # What fails is chance: three standard deviations of the difference.
            margin = 3 * (2 * least * (1 - least) / asked) ** 0.5
            if served < least - margin:
                wrong.append(f"{served:.3f} served, without any retry {least:.3f}")
            if name.startswith("bare"):
                wrong += unlike_the_sum(int(share.split()[0]) / 100, asked, load, served)
            yield name, {"served": f"{served:.3f}", "served /s": round(work["ok"] / one["seconds"], 1),
                         "load": f"{load:.2f}", "p99 ms": round(work["p99"] or 0)}, wrong

    def bars(rows):
        for what, label in (("load", "attempts a request"), ("served", "share")):
            yield what, label, False, [f"{share} %" for share in SHARES], [
                (name, [float(rows[f"{name}, {share} %"][what]) for share in SHARES]) for name in KINDS]

    return {"title": "Partial failure", "plays": plays, "judge": judge, "plot": PORT, "bars": bars,
            "headline": ("bare, 50 %", "library, 50 %", ("load", "where half fails, attempts for a request"),
                         ("served", "share that is served")),
            "sim": {"scenario": "partial", "set": {
                "clients.processes": 1, "clients.rate": "60/s", "clients.even": "on", "clients.pause": "20ms",
                "clients.timeout": "2s", "server.capacity": "2000/s", "server.queue": 2000, "outage.from": "0",
                "outage.until": "1h"}}}
