# SPDX-License-Identifier: MIT
from stage import LIVE, PORT, back_after, loops, per_second, pool, scene, server, text_of

PROXY = PORT + 200
LOOPS, WORK = 20, 10  # programs that loop; requests a second of the service to the backend that dies
SYN = ["tcp", "dport", str(PORT), "tcp", "flags", "&", "(syn|ack)", "==", "syn"]
TABLE = [["nft", "add", "table", "ip", "lab"],
         ["nft", "add", "chain", "ip", "lab", "out", "{ type filter hook output priority 0 ; }"]]
# What xt_hashlimit is in nft: a bucket for each address and port.
METER = ["nft", "add", "set", "ip", "lab", "seen",
         "{ type ipv4_addr . inet_service ; flags dynamic ; timeout 60s ; }"]
OVER = ["nft", "add", "rule", "ip", "lab", "out", *SYN, "add", "@seen",
        "{ ip daddr . tcp dport limit rate over 20/second burst 5 packets }"]
REJECT = ["reject", "with", "tcp", "reset"]
HAPROXY = f"""
defaults
  mode http
  timeout connect 500ms
  timeout client 60s
  timeout server 60s
  timeout queue 500ms
  retries 0
listen backend
  bind 127.0.0.1:{PROXY}
  server one 127.0.0.1:{PORT} maxconn 10 check inter 1s fall 2 rise 2
"""


@scene("today")
def today(quick):
    """What an operator would do today. A service asks a healthy and a dying backend, and beside it twenty programs
    loop around the dying one; when it is back it answers 12/s, of the 10/s that the service asks of it. With nothing;
    a limit of the firewall (20/s) that drops, and one that rejects; a firewall that fails fast, with an operator who
    sets it after two seconds and lifts it three after the return; a local HAProxy with a limit of connections and
    health checks; a service manager that restarts with a pause that grows to ten seconds; and the library."""
    outage, rest = (8, 12) if quick else (25, 25)
    seconds = outage + rest
    fast = [[2, ["nft", "add", "rule", "ip", "lab", "out", *SYN, *REJECT]],
            [outage + 3, ["nft", "flush", "chain", "ip", "lab", "out"]]]
    kinds = {
        "nothing": {"sim": {"variant": "nothing"}, "busy": 0.3},
        "limit that drops": {"before": [*TABLE, METER, [*OVER, "drop"]],
                             # By chance it comes back or does not.
                             "sim": {"variant": "filter 20/s", "tolerance": {"goodput": (0.5, 5), "recovery": None}}},
        "limit that rejects": {"before": [*TABLE, METER, [*OVER, *REJECT]], "busy": 0.3},
        "fail-fast firewall": {"before": TABLE, "then": fast, "busy": 0.3},
        "local HAProxy": {"hops": [{"command": ["haproxy", "-db", "-f", "{F}/haproxy.cfg"], "library": False}],
                          "files": {"haproxy.cfg": HAPROXY}, "busy": 0.3},
        "restart back-off": {},
        "library": {"sim": {"variant": "library"}},
        "library, one share": {"policy": "[retrybudget]; scope = user", "sim": {"variant": "library, one share"}},
    }
    plays = {}
    for name, more in kinds.items():
        library, to = name.startswith("library"), PROXY if "hops" in more else PORT
        service = pool(f"-n 8 -r {4 * WORK} -t 3 -o 1000 -s {seconds}", f"{LIVE}=hx3 {to}=d", library=library)
        if name == "restart back-off":
            others = [{"command": ["{L}/restart", seconds, 0.1, 5, 10, "{B}/lab/loop", to, -1, seconds],
                       "library": False, "group": "loops"}] * LOOPS
        else:
            others = loops(LOOPS, to, 20, seconds, library=library, group="loops")
        plays[name] = {
            "seconds": seconds, "ports": [PORT, LIVE], "server_ports": [PORT, LIVE], "policy": "",
            "servers": [server(PORT, 12, 500, "refuse@0", f"ok@{outage}"), server(LIVE, 1000, 1000)],
            "clients": [service, *others], **more}

    def recovery(_, one):
        return back_after(one, PORT, WORK, outage)

    def judge(found):
        for name, one in found.items():
            load, back = per_second(one, "load", PORT, 2, outage), recovery(name, one)
            healthy = per_second(one, "answered", LIVE, 1, seconds)
            wrong = []
            if name == "nothing" and (load < 500 or back is not None):
                wrong.append(f"bare {load:.0f} attempts a second, back after {text_of(back)}: that is no storm")
            if name.startswith("library"):
                if healthy < 0.97 * 3 * WORK:
                    wrong.append(f"healthy work: {healthy:.1f}/s")
                if load > 4 * LOOPS:
                    wrong.append(f"{load:.1f} attempts a second")
                if back is None:
                    wrong.append("it never comes back")
            yield name, {"attempts in the outage /s": round(load, 1), "healthy work /s": round(healthy, 1),
                         "p99 of it ms": round(one["work"]["work"]["by kind"]["h"]["p99"] or 0),
                         "back after": text_of(back),
                         "loops back": f"{min(LOOPS, one['work']['loops']['ok'])} of {LOOPS}"}, wrong

    return {"title": "What an operator would do today", "plays": plays, "judge": judge, "plot": PORT,
            "capacity": 12, "marks": [(outage, "back")], "logarithmic": True, "recovery": recovery,
            "headline": ("nothing", "library", ("attempts in the outage /s", "attempts in the outage /s"),
                         ("healthy work /s", "healthy work, of 30/s"), ("back after", "back after")),
            "sim": {"scenario": "today", "tolerance": {"load": (0.5, 10)}, "set": {
                "clients.loops.processes": LOOPS, "clients.loops.pause": "20ms", "clients.loops.timeout": "1s",
                "clients.loops.spread": "200ms",  # one after the other, as they are started
                "clients.work.rate": f"{WORK}/s", "clients.work.processes": 1, "clients.work.tries": 3,
                "clients.work.asked": "off", "clients.work.even": "on", "clients.work.timeout": "1s",
                "server.capacity": "12/s", "server.collapse": 0, "server.queue": 500,
                "outage.from": "0", "outage.until": f"{outage}s", "outage.lose": "off"}}}
