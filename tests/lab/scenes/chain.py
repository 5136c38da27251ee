# SPDX-License-Identifier: MIT
from stage import PORT, TAIL, back_after, late, pool, scene, server, text_of

HOPS = [PORT + 100 + i for i in range(5)]
TRIES, RATE = 3, 5  # requests a second of the clients
KINDS = {"bare": (), "two hops of five": (3, 4), "library": range(5)}  # which hops have the library


# Three tries each: the same server three times, so that neither waits between them.
NGINX = """daemon off; master_process off; user root; worker_processes 1; pid NUMBER.pid; error_log NUMBER.errors;
events { worker_connections 4000; }
http { access_log off; client_body_temp_path NUMBER; proxy_temp_path NUMBER; fastcgi_temp_path NUMBER;
 uwsgi_temp_path NUMBER; scgi_temp_path NUMBER;
 upstream next { SERVERS }
 server { listen 127.0.0.1:PORT backlog=4000; location / { proxy_pass http://next; proxy_read_timeout 2s;
  proxy_next_upstream error timeout http_502 http_503 http_504; } } }
"""
HAPROXY = """
global
  maxconn 4000
defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server 2s
  retries 2
  retry-on conn-failure empty-response response-timeout 502 503 504
  option redispatch 1
  option http-server-close
listen hop
  bind 127.0.0.1:PORT
SERVERS
"""


def proxies(library):
    """nginx and haproxy by turns; library: under which of them."""
    files, commands = {}, []
    for i, (port, to) in enumerate(zip(HOPS, [*HOPS[1:], TAIL + 1])):
        name = f"hop{i}.conf"
        if i % 2 == 0:
            text, servers = NGINX.replace("NUMBER", f"hop{i}"), f"server 127.0.0.1:{to} max_fails=0; " * 3
            command = ["nginx", "-p", "{F}", "-c", "{F}/" + name]
        else:
            text, servers = HAPROXY, "".join(f"  server try{n} 127.0.0.1:{to}\n" for n in range(3))
            command = ["haproxy", "-db", "-q", "-f", "{F}/" + name]
        files[name] = text.replace("PORT", str(port)).replace("SERVERS", servers)
        commands.append({"command": command, "library": i in library})
    return {"hops": commands, "files": files}


def hops(library):
    """Five hops before the tail; library: which of them."""
    return [{"command": ["{B}/harm/serve", "-M", "perconn", "-l", port, "-h", to, "-d", to, "-t", TRIES,
                         "-o", 2000 - 300 * i], "library": i in library}
            for i, (port, to) in enumerate(zip(HOPS, [*HOPS[1:], TAIL + 1]))]


def later_than_bare(way, work, bare):
    """Is each request answered within half a second of what it takes bare: the whole, and once it is known that the
    tail fails?"""
    both = [(of, how(work), how(bare)) for of, how in (("", dict), ("of the later half, ", late))]
    for of, ours, theirs in both:
        for what in ("p50", "p99", *(["most"] if of else [])):
            if ours[what] > theirs[what] + 500:
                yield f"{of}{what} is {ours[what]:.0f} ms, bare {theirs[what]:.0f}"


@scene("chain")
def chain(quick):
    """Five hops, three tries each, before a tail that is dead, takes connections and closes them, hangs, is too slow,
    is up and down each two seconds, or is dead and returns; with the library nowhere, at the two hops nearest to the
    tail, and at all. How many attempts come to each hop for one request of a client, and how long each takes. The hops
    are small daemons, and before a dead tail also nginx and haproxy by turns. (The simulator plays the dead tail.)"""
    start, seconds = 3, 11 if quick else 30
    back = 8 if quick else 22  # of the one that returns
    ways = {"dead": ["ok@0", f"refuse@{start}"], "closing": ["ok@0", f"fail=100@{start}"],
            "hanging": ["ok@0", f"hang@{start}"], "slow": ["ok@0", f"slow=900@{start}"],
            "flapping": [f"{'refuse' if i % 2 else 'ok'}@{2 * i}" for i in range(seconds // 2)],
            "returning": ["ok@0", f"refuse@{start}", f"ok@{back}"]}
    ways["dead, behind proxies"] = ways["dead"]
    if quick:
        del ways["hanging"]
    plays = {}
    for way, phases in ways.items():
        length = max(seconds, back + 6) if way == "returning" else seconds
        for name, library in KINDS.items():
            plays[f"{name}, {way}"] = {
                "seconds": length, "policy": "", "busy": 0.2 if library else 0.5, "each": True,
                **(proxies(set(library)) if "proxies" in way else {"hops": hops(set(library))}),
                "ports": [*HOPS, TAIL + 1], "server_ports": [TAIL + 1],
                "servers": [server(TAIL + 1, 2000, 2000, *phases)],
                "clients": [pool(f"-n 16 -r {RATE} -o 10000 -s {length}", f"{HOPS[0]}=d")]}
            if way == "dead":
                plays[f"{name}, {way}"]["sim"] = {"variant": name}

    def judge(found):
        for name, one in found.items():
            work, (kind, way) = one["work"]["work"], name.split(", ", 1)
            bare = found[f"bare, {way}"]["work"]["work"]
            # The first two seconds of an outage are what tells that there is one.
            steady = slice((start + 2) * 10, back * 10 if way == "returning" else None)
            requests = max(1, sum(one["load"][str(HOPS[0])][steady]))
            each = [sum(one["load"][str(port)][steady]) / requests for port in [*HOPS[1:], TAIL + 1]]
            row = {f"hop {i + 2}": round(n, 2) for i, n in enumerate(each[:-1])}
            row["tail"] = round(each[-1], 2)
            row["p50 ms"] = round(work["p50"] or 0)
            row["p99 ms"] = round(work["p99"] or 0)
            row.update({f"{what} of the later half": round(ms) for what, ms in late(work).items()})
            row["answered"] = f"{work['ok']}/{max(1, work['asked'])}"
            wrong = []
            # Three tries at each of five hops, of requests that go half of the time.
            storm = TRIES ** len(HOPS) * (0.5 if way == "flapping" else 1)
            # In vain takes seconds: of a few most tries are still to come.
            vain = way in ("hanging", "slow")
            if kind == "bare" and not storm / (5 if quick and vain else 2.4) < each[-1] < storm * 1.5:
                wrong.append(f"bare {each[-1]:.0f} attempts for a request, of {storm:.0f}: that is no storm")
            if kind == "two hops of five" and each[-1] > storm / 5:
                wrong.append(f"{each[-1]:.0f} attempts at the tail for a request")
            # A try that is in vain takes a second or so: in a few seconds those of the beginning weigh more.
            most = 2.5 if quick and vain else 1.2
            if kind == "library" and way != "flapping" and each[-1] > most:
                wrong.append(f"{each[-1]:.2f} attempts at the tail for a request, not {most}")
            if name == "library, flapping" and work["ok"] < 0.8 * bare["ok"]:
                wrong.append(f"bare {bare['ok']} are answered")
            if kind == "library":
                wrong += later_than_bare(way, work, bare)
            if way == "returning":
                again = back_after(one, TAIL + 1, RATE, back)
                row["back after"] = text_of(again)
                if kind == "library" and (again is None or again > 2):
                    wrong.append(f"it is back after {text_of(again)}, not within 2 s")
            yield name, row, wrong

    def latencies(found):
        for way in ways:
            yield f"tail {way}", [(kind, found[f"{kind}, {way}"]["work"]["work"]["each"]) for kind in KINDS]

    def bars(rows):
        """Attempts for a request, at each hop."""
        where = [*(f"hop {i}" for i in range(2, 6)), "tail"]
        for way in ways:
            yield (f"tail {way}", "attempts a request", True, where,
                   [(kind, [rows[f"{kind}, {way}"][one] for one in where]) for kind in KINDS])

    # The first hop is what the scenario calls the clients, and so on: five that try, and the tail.
    timeouts = dict(zip(("clients", "server.a", "server.b", "server.c", "server.d"),
                        (f"{2000 - 300 * i}ms" for i in range(5))))
    return {"title": "A chain of five hops with three tries each", "plays": plays, "judge": judge,
            "plot": TAIL + 1, "bars": bars, "latencies": latencies,
            "headline": ("bare, dead", "library, dead",
                         ("tail", "attempts at a dead tail for a request"), ("p99 ms", "99 of 100 answered in ms")),
            "sim": {"scenario": "chain", "set": {
                **{f"{who}.timeout": value for who, value in timeouts.items()}, "clients.even": "on",
                "clients.from": "1s",
                "outage.from": f"{start}s", "outage.until": "1h"}}}
