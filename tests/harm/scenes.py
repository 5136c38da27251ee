# SPDX-License-Identifier: MIT
"""The table of scenes. Every one has a host, servers of which some fail, and what must hold.

What a scene may say beside name, rule (of the judging, or what of it), what, host and servers:
  seconds    how long it is played, {S} in commands; the option --seconds scales it unless fixed
  load, front  the command that asks the host for work, and the port where the host listens
  storm      where attempts are counted and bounded: port, beside (live traffic to it), more, what
  per_demand (port, kind, most, what): attempts at that port for each piece of work of that kind
  failing    the share that fails, for work of kind p: served must be what no retry would serve
  later, dead_later   ms that the p99 of healthy and of hopeless work may be later (None: any)
  ends       the host must end by itself, at most so many seconds after bare
  cpu        so many loops use little of a processor; endless: the host never ends by itself
  files      written to {T} before; needs: commands without which it is skipped; dns: a resolver
  names      lines of /etc/hosts; own_ports: the range of ports that connects leave from
  quick      played by `make check-harm`; open scenes stand in open.txt
"""

import glob
import shutil

NGINX = """daemon off; user root; worker_processes 1; pid {T}/pid; error_log {T}/errors;
events { worker_connections 1000; }
http { access_log off; client_body_temp_path {T}; proxy_temp_path {T}; fastcgi_temp_path {T};
 uwsgi_temp_path {T}; scgi_temp_path {T}; keepalive_requests 100000;
 upstream both { server 127.0.0.1:9002 max_fails=0; server 127.0.0.1:9001 max_fails=0; }
 server { listen 8001 PROTOCOL; location /d { proxy_pass http://127.0.0.1:9002; }
  location / { proxy_pass http://both; } } }
"""
HAPROXY_AGAIN = """defaults
 mode http
 timeout connect 1s
 timeout client 5s
 timeout server 5s
 retries 3
 retry-on empty-response conn-failure
listen front
 bind 127.0.0.1:8001
 server live 127.0.0.1:9001
"""

HAPROXY = """defaults
 mode http
 timeout connect 1s
 timeout client 5s
 timeout server 5s
 retries 2
 option redispatch 1
frontend front
 bind 127.0.0.1:8001
 use_backend dead if { path_beg /d }
 default_backend both
backend both
 balance roundrobin
 server gone 127.0.0.1:9002 CHECK
 server here 127.0.0.1:9001 CHECK
backend dead
 server gone 127.0.0.1:9002
"""
PORT = 8001  # where a host listens
LIVE, DEAD, NEXT = 9001, 9002, 9003
SCENES = []

WAYS = {  # how a destination fails
    "refused": "refuse",
    "closed": "close",
    "read": "readclose",
    "hang": "hang",
    "blackhole": "blackhole",
}


def scene(name, rule, what, host, servers, seconds=8, **more):
    SCENES.append({"name": name, "rule": rule, "what": what, "host": host, "servers": servers,
                   "seconds": seconds, **more})


def pool(options, *targets):
    return ["{B}/pool", "-s", "{S}", *options.split(), *targets]


def load(rate, threads=16, options="", *targets):
    return pool(f"-n {threads} -r {rate} {options}", *(targets or (f"{PORT}=h", f"{PORT}=d")))


def serve(mode, options=""):
    return ["{B}/serve", "-M", mode, "-l", str(PORT), "-h", str(LIVE), "-d", str(DEAD),
            *options.split()]


def pair(way):
    return [f"{LIVE}:ok", f"{DEAD}:{WAYS[way]}"]


def pools():
    for way in ("refused", "closed", "hang"):
        timeout = "-o 300" if way == "hang" else ""
        scene(f"pool/{way}", "demand", "8 threads, 40 jobs/s, half for a dead backend, 3 tries",
              pool(f"-n 8 -r {12 if timeout else 40} -t 3 -p 20 {timeout}", f"{LIVE}=h", f"{DEAD}=d"), pair(way),
              quick=way == "closed")
    scene("pool/nonblocking", "redirect", "the same with connects that do not block",
          pool("-n 8 -r 40 -t 3 -p 20 -b", f"{LIVE}=h", f"{DEAD}=d"), pair("refused"))
    scene("pool/timeouts", "park", "the same with socket timeouts",
          pool("-n 8 -r 40 -t 3 -p 20 -o 1000", f"{LIVE}=h", f"{DEAD}=d"), pair("closed"))
    for way in ("refused", "closed"):
        scene(f"pool/tenth-{way}", "hold", "8 threads, 300 jobs/s, a tenth for a dead server",
              pool("-n 8 -r 300 -t 3", f"{LIVE}=hx9", f"{DEAD}=d"), pair(way))
    for share in (1, 20):
        scene(f"worker/{share}", "unclear", f"one thread, 500 requests/s, {share} % failing, 3 tries",
              pool("-r 500 -t 3", f"{LIVE}=p"), [f"{LIVE}:fail={share}"], failing=share / 100,
              quick=share == 20)
        scene(f"pool/partial-{share}", "unclear", f"16 threads, 300 requests/s, {share} % failing, 3 tries",
              pool("-n 16 -r 300 -t 3", f"{LIVE}=p"), [f"{LIVE}:fail={share}"], failing=share / 100)
    scene("pool/kept-partial", "unclear", "16 threads on kept connections, 20 % of the answers 503",
          pool("-n 16 -r 300 -t 3 -k", f"{LIVE}=p"), [f"{LIVE}:busy=20"], failing=0.2,
          per_demand=(LIVE, "p", 0.05, "syns"))  # a refused repeat ends its connection
    scene("pool/one-shot", "greeting", "a server that says one line to each who comes, and closes, 40 a second",
          pool("-n 4 -r 40 -t 1 -e", f"{LIVE}=h"), [f"{LIVE}:daytime"])
    scene("pool/broken-url", "denied", "one server, half of the jobs for a URL that is always 502, 3 tries",
          pool("-n 8 -r 60 -t 3", f"{LIVE}=h", f"{LIVE}/d=d"), [f"{LIVE}:broken"], quick=True)
    for name, what, targets in (
            ("broken-once", "the same by who gives a job up at any error that is no reply", (f"{LIVE}=h", f"{LIVE}/d=d")),
            ("broken-urls", "the same, of many URLs, all different", (f"{LIVE}=h", f"{LIVE}=d")),
            ("broken-two", "the same of two URLs, one of them broken", (f"{LIVE}/h=h", f"{LIVE}/d=d"))):
        scene(f"pool/{name}", "denied", what, pool("-n 8 -r 60 -t 3 -u", *targets), [f"{LIVE}:broken"])
    scene("pool/hang-half", "other-work", "8 threads without a pause, half of the URLs, as they come, hang and are given up after 200 ms",
          pool("-n 8 -c 500 -t 1 -o 200 -d", f"{LIVE}=h", f"{LIVE}=d"), [f"{LIVE}:polls"], 14)
    scene("pool/hang-most", "other-work", "32 threads, three of four URLs hang, 3 tries",
          pool("-n 32 -r 30 -t 3 -p 20 -o 200 -d", f"{LIVE}=h", f"{LIVE}=dx3"), [f"{LIVE}:polls"], quick=True)
    for name, what, options in (
            ("closed-most", "8 threads, nine of ten URLs, as they come, are closed without an answer", "-r 120 -t 1"),
            ("closed-tries", "the same with 3 tries", "-r 40 -t 3 -p 20")):
        scene(f"pool/{name}", "other-work", what, pool(f"-n 8 {options} -d", f"{LIVE}=h", f"{LIVE}=dx9"),
              [f"{LIVE}:shuts"])
    scene("pool/closed-three", "other-work", "the same of three in four URLs",
          pool("-n 8 -r 120 -t 3 -p 20 -d", f"{LIVE}=h", f"{LIVE}=dx3"), [f"{LIVE}:shuts"])
    scene("pool/blip", "forgive", "100 jobs in flight meet a second of outage, then 50 jobs/s",
          pool("-n 100 -r 100 -t 1", f"{LIVE}=p"), [f"{LIVE}:refuse,ok@1"], failing=1 / 8, quick=True,
          fixed=True)
    scene("pool/warm-up", "forgive", "fifty connections warm up while the server comes 0.6 s late",
          pool("-n 50 -w -p 20", f"{LIVE}=h"), [f"{LIVE}:refuse,ok@0.6"], later=1000, quick=True)
    scene("pool/posts", "same-request", "distinct POSTs, head and body apart, every fifth gets a 500",
          pool("-n 2 -r 60 -t 1 -m -k", f"{LIVE}=p"), [f"{LIVE}:err=20"], failing=0.2)
    scene("pool/rpc", "same-request", "JSON-RPC over one URL, a tenth fails, new connections",
          pool("-n 4 -r 100 -t 1 -m", f"{LIVE}=p"), [f"{LIVE}:err=10"], failing=0.1)
    scene("pool/limit", "Retry-After", "one 429 with Retry-After: 60 among distinct requests",
          pool("-n 2 -r 50 -t 1 -k", f"{LIVE}=p"), [f"{LIVE}:limit=20"], failing=0.01)
    for name, kept in (("lone", ""), ("lone-kept", " -k")):
        scene(f"pool/limit-{name}", "Retry-After", "the same of one thread that asks three times a second",
              pool(f"-n 1 -r 3 -t 1{kept}", f"{LIVE}=p"), [f"{LIVE}:limit=6"], failing=0.05)
    for name, tries, what in (("url", 1, "once"), ("url-tries", 3, "three times")):
        scene(f"pool/limit-{name}", "Retry-After", f"one thread, each sixth job for a URL that says 429, tried {what}",
              pool(f"-n 1 -r 18 -t {tries} -p 10", f"{LIVE}=hx5", f"{LIVE}/d=d"), [f"{LIVE}:ok,bars=20@2"], 10,
              fixed=True)
    scene("pool/limiter", "invited", "a limiter of 30/s, 35 distinct jobs/s, which try 4 times, as it asks",
          pool("-n 60 -r 35 -t 4 -p 1050 -k", f"{LIVE}=h"), [f"{LIVE}:rate=30"], later=1500)
    scene("pool/limiter-eager", "Retry-After", "the same where the tries come sooner than asked",
          pool("-n 60 -r 35 -t 5 -p 350 -k", f"{LIVE}=p"), [f"{LIVE}:rate=30"], failing=1 / 7, later=1500)
    scene("pool/one-way", "one-way", "connect, send, wait a second, close; the reader is silent",
          pool("-n 4 -r 3 -1", f"{LIVE}=h"), [f"{LIVE}:mute"], quick=True)
    scene("pool/failover", "sweep", "a list of hosts, the first dead, 20 jobs/s",
          pool("-n 2 -r 20 -f", f"{DEAD}=d", f"{LIVE}=h"), pair("refused"))
    scene("pool/failover-closed", "sweep", "a list of hosts, the first accepts and closes",
          pool("-n 2 -r 20 -f", f"{DEAD}=d", f"{NEXT}=d", f"{LIVE}=h"),
          [*pair("closed"), f"{NEXT}:refuse"], quick=True)
    for name, options in (("ports", "-n 8"), ("ports-nonblocking", "-n 8 -b")):
        scene(f"pool/{name}", "local", "150 connects/s and sixty ports, which are free again after a second",
              pool(f"{options} -t 1 -r 150 -x", f"{LIVE}=h"), [f"{LIVE}:ok"], own_ports="40000 40059",
              quick=name == "ports")
    scene("pool/dual", "sweep", "a name of two addresses, IPv6 refused, asked 20 times at once",
          ["/usr/bin/python3", "{H}/hosts/dual.py", "dual.test", str(LIVE), "{S}", "20"],
          [f"{LIVE}:ok"], names=["::1 dual.test", "127.0.0.1 dual.test"])
    scene("pool/shards", "sweep", "each job asks eight shards, two are dead",
          pool("-n 4 -r 20 -a", *[f"{LIVE}=h"] * 6, f"{DEAD}=d", f"{NEXT}=d"),
          [*pair("refused"), f"{NEXT}:close"])
    scene("pool/vip", "unclear", "one address with three of four servers down, 4 tries, 40 jobs/s",
          pool("-n 8 -r 40 -t 4", f"{LIVE}=p"), [f"{LIVE}:cfail=75"], failing=0.75)
    scene("poller", "loop", "60 dead hosts asked every 2 s by one thread, and a living one",
          pool("-n 1 -r 30.5", *[f"127.0.1.{i}:{DEAD}=d" for i in range(1, 61)], f"{LIVE}=h"),
          [f"{LIVE}:ok"], dead_later=100)
    scene("cron", "hold", "500 items one after the other, every other for a dead server",
          pool("-c 500", f"{LIVE}=h", f"{DEAD}=d"), pair("refused"), ends=2, limit=30,
          dead_later=300)
    scene("crawler", "sweep", "40 hosts, each asked once a second, a quarter dead",
          pool("-n 8 -r 40", *[f"127.0.1.{i}:{LIVE if i % 4 else DEAD}={'h' if i % 4 else 'd'}"
                               for i in range(1, 41)]), pair("refused"))
    scene("crawl", "process", "360 hosts, half of them dead, and each twentieth answer of the others fails, 3 tries",
          pool("-n 48 -r 300 -t 3 -p 50", *[f"127.0.{1 + i // 200}.{1 + i % 200}:{LIVE if i % 2 else DEAD}={'h' if i % 2 else 'd'}"
                                            for i in range(360)]), [f"{LIVE}:nth=20", f"{DEAD}:refuse"], quick=True)
    scene("pool/storming-thread", "loop", "a service's pool beside a thread that storms",
          pool(f"-n 4 -r 50 -g {DEAD}:1", f"{LIVE}=h"), pair("refused"), storm=[{"port": DEAD}],
          brief=False, quick=True)
    scene("pool/storm-beside", "loop", "the same where the storm's destination also answers others",
          pool(f"-n 4 -r 20 -g {NEXT}:1", f"{LIVE}=h"), [f"{LIVE}:ok", f"{NEXT}:close"],
          storm=[{"port": NEXT}], brief=False)


def services():
    for mode, workers in (("perconn", 8), ("reactor", 8), ("prefork", 8), ("activated", 8), ("inetd", 8)):
        for way in ("refused", "closed") if mode in ("reactor", "prefork") else ("refused",):
            scene(f"serve/{mode}-{way}", "demand",
                  f"a {mode} service, one dead and one healthy upstream, 3 tries",
                  serve(mode, f"-n {workers} -t 3 -p 10"), pair(way), front=PORT,
                  load=load(40 if mode == "inetd" else 60, 16),  # it starts a program for each
                  activated=mode == "activated", quick=mode == "reactor" and way == "refused",
                  per_demand=(DEAD, "d", 3.02 if mode == "inetd" else 1.15, "syns"))
    scene("serve/kept", "demand", "a reactor with kept connections on both sides",
          serve("reactor", "-n 8 -t 3 -p 10 -k"), pair("closed"), front=PORT, load=load(60, 16, "-k"))
    scene("serve/single", "demand", "one process, one request after the other",
          serve("single", "-t 3"), pair("refused"), front=PORT, load=load(60, 8))
    scene("serve/storming-thread", "loop", "a service with a thread that storms",
          serve("perconn", f"-t 1 -g {NEXT}:1"), [f"{LIVE}:ok", f"{NEXT}:refuse"], front=PORT,
          load=load(60, 8, "", f"{PORT}=h"), storm=[{"port": NEXT}])
    scene("serve/loop", "loop", "an event loop serves 200/s beside a reconnect loop without pause",
          serve("loop"), pair("refused"), front=PORT, load=load(200, 8, "-k", f"{PORT}=h"),
          storm=[{"port": DEAD}], quick=True)
    scene("serve/loop-closed", "loop", "the same where the connection is accepted and closed",
          serve("loop"), pair("closed"), front=PORT, load=load(200, 8, "-k", f"{PORT}=h"),
          storm=[{"port": DEAD}])


def runtimes():
    """The same work in hosts of other languages: half of the jobs for a dead server, 3 tries."""
    jobs = [f"{LIVE}=h", f"{DEAD}=d"]
    work = {
        "python-threads": (["/usr/bin/python3", "{H}/hosts/jobs.py", "threads", "{S}", "30", "3"], jobs),
        "python-prefork": (["/usr/bin/python3", "{H}/hosts/jobs.py", "prefork", "{S}", "20", "3"], jobs),
        "python-asyncio": (["/usr/bin/python3", "{H}/hosts/jobs.py", "asyncio", "{S}", "60", "3"], jobs),
        "python-requests": (["/usr/bin/python3", "{H}/hosts/jobs.py", "requests", "{S}", "30", "2"], jobs),
        "node": (["node", "{H}/hosts/jobs.js", "{S}", "60", "3", "none"], jobs),
        "perl": (["perl", "{H}/hosts/jobs.pl", "{S}", "30", "3"], jobs),
        "ruby": (["ruby", "{H}/hosts/jobs.rb", "{S}", "30", "3"], jobs),
        "php": (["php", "{H}/hosts/jobs.php", "{S}", "30", "3"], jobs),
        "java": (["java", "{H}/hosts/Jobs.java", "{S}", "30", "3"], jobs),
    }
    for name, (command, targets) in work.items():
        for way in ("refused", "closed") if name in ("python-threads", "node") else ("refused",):
            # They warm up for a while: what their slowest job says is more about this than about us.
            scene(f"{name}/{way}", "demand", "half of the jobs for a dead server", [*command, *targets],
                  pair(way), needs=command[:1], later=300 if name == "java" else 100, dead_later=400,
                  quick=name == "node" and way == "refused")
    for manner, rule, what, servers, how in (
            ("poll", "same-request", "8 workers ask for one URL again and again, a fifth is 503",
             [f"{LIVE}:busy=20"], {"failing": 0.2}),
            ("filter", "hold", "each item goes to a dead relay and to a file", [f"{DEAD}:refuse"], {}),
            ("lock", "hold", "a pool's lock is held over each connect", pair("refused"), {}),
            ("monitor", "forgive", "it connects and leaves; the server is down for a quarter of the time",
             [f"{LIVE}:ok,refuse@2,ok@4"], {"failing": 0.25}),
            ("long-polls", "unclear", "6 workers give up each poll after a second, beside short calls",
             [f"{LIVE}:polls"], {})):
        scene(f"beside/{manner}", rule, what,
              ["/usr/bin/python3", "{H}/hosts/beside.py", manner, "{S}", str(LIVE), str(DEAD)], servers,
              needs=["/usr/bin/python3"], **how)
    for name, chains in (("broken", f"{LIVE}x5x100xh {LIVE}x5x0xd"),
                         ("polls", f"{LIVE}x5x100xh {LIVE}x5x50xd"),
                         ("dead", f"{LIVE}x5x100xh {DEAD}x5x0xd")):
        how = {"storm": [{"port": DEAD}], "brief": False} if name == "dead" else {
            "per_demand": (LIVE, "h", 12 if name == "broken" else 3.1, "syns")}
        scene(f"chains/{name}", "other-work", "an event loop asks 50 times a second beside five endless chains of tries",
              ["/usr/bin/python3", "{H}/hosts/chains.py", "{S}", *chains.split()],
              [f"{LIVE}:broken", f"{DEAD}:close"], needs=["/usr/bin/python3"], **how)
    scene("node/badurl", "mixed", "an event loop asks 10 times a second beside one URL that is tried again after 10 ms",
          ["node", "{H}/hosts/badurl.js", str(LIVE), "{S}", "10"], [f"{LIVE}:broken"], needs=["node"],
          per_demand=(LIVE, "h", 12, "syns"), quick=True)
    scene("chains/seldom", "mixed", "an event loop asks twice a second beside a chain that tries again after 10 ms",
          ["/usr/bin/python3", "{H}/hosts/chains.py", "{S}", f"{LIVE}x1x507xh", f"{LIVE}x1x10xd"],
          [f"{LIVE}:broken"], needs=["/usr/bin/python3"], per_demand=(LIVE, "h", 25, "syns"))
    for name, what, rate, tries, targets in (
            ("once", "half of an event loop's URLs, each tried once, are put off for a minute", 6, 1, "hd"),
            ("again", "every tenth is, and those are tried again at once", 20, 3, "hhhhhhhhhd")):
        scene(f"put-off/{name}", "Retry-After", what,
              ["/usr/bin/python3", "{H}/hosts/jobs.py", "asyncio", "{S}", str(rate), str(tries),
               *[f"{LIVE}={kind}" for kind in targets]], [f"{LIVE}:bars=60"], needs=["/usr/bin/python3"],
              quick=name == "again")
    tenants = ["/usr/bin/python3", "{H}/hosts/jobs.py", "asyncio", "{S}", "40", "3", *[f"{LIVE}={kind}" for kind in "dhhh"]]
    for name, what, host in (("lone", "one thread", pool("-n 1 -r 10 -t 1", f"{LIVE}/d=d", f"{LIVE}=hx3")),
                             ("loop", "an event loop that tries three times", tenants)):
        scene(f"tenants/{name}", "Retry-After", f"{what}: the first of all requests, and each fourth, is put off for a minute",
              host, [f"{LIVE}:bars=60"], needs=host[:1] if name == "loop" else [])
    scene("put-off/turn", "denied", "one job after the other, every fourth is put off and tried four times",
          ["perl", "{H}/hosts/turn.pl", "{S}", str(LIVE), "4", "4"], [f"{LIVE}:bars=60"], needs=["perl"])
    scene("python/queue", "demand", "jobs come by an outgoing connection, half for a dead server",
          ["/usr/bin/python3", "{H}/hosts/jobs.py", "queue", "{S}", "0", "3", *jobs, "9003=q"],
          [*pair("refused"), f"{NEXT}:push=40"])
    scene("python/libpq", "sweep", "libpq with a list of hosts, the first dead, 20 jobs/s",
          ["/usr/bin/python3", "{H}/hosts/jobs.py", "pq", "{S}", "20", "1", f"{DEAD}=h", f"{LIVE}=h"],
          [f"{LIVE}:pg", f"{DEAD}:refuse"], needs=["/usr/lib/*/libpq.so.5"])
    scene("perl/errors", "same-request", "distinct URIs, a fifth answered 500",
          ["perl", "{H}/hosts/jobs.pl", "{S}", "40", "1", f"{LIVE}=p"], [f"{LIVE}:err=20"], failing=0.2)
    scene("node/errors", "same-request", "distinct URIs on kept connections, a fifth answered 500",
          ["node", "{H}/hosts/jobs.js", "{S}", "50", "1", "agent", f"{LIVE}=p"], [f"{LIVE}:err=20"],
          failing=0.2, needs=["node"])
    scene("node/lookups", "NXDOMAIN", "four missing names and a good one",
          ["node", "{H}/hosts/jobs.js", "{S}", "50", "1", "lookup", *[f"nx{i}.test=d" for i in range(4)],
           "good.test=h"], ["53:dns"], needs=["node"], dns=True, quick=True)
    scene("node/lookups-servfail", "hold", "four names that SERVFAIL and a good one",
          ["node", "{H}/hosts/jobs.js", "{S}", "25", "1", "lookup", *[f"sf{i}.test=d" for i in range(4)],
           "good.test=h"], ["53:dns"], needs=["node"], dns=True, dead_later=600)
    for name, command in (("python", ["/usr/bin/python3", "{H}/hosts/service.py"]),
                          ("node", ["node", "{H}/hosts/service.js"])):
        scene(f"{name}/service", "demand", "a service, one dead and one healthy upstream, 3 tries",
              [*command, str(PORT), str(LIVE), str(DEAD)], pair("refused"), front=PORT,
              load=load(40, 8), needs=command[:1])
        scene(f"{name}/storm", "loop", "an event loop serves 100/s beside a reconnect loop",
              [*command, str(PORT), "storm", str(DEAD)], pair("refused"), front=PORT,
              load=load(100, 8, "-k", f"{PORT}=h"), storm=[{"port": DEAD}], needs=command[:1])
    scene("php/service", "demand", "PHP's own server with four workers",
          ["env", "PHP_CLI_SERVER_WORKERS=4", "php", "-S", f"127.0.0.1:{PORT}", "{H}/hosts/front.php"],
          pair("refused"), front=PORT, load=load(30, 8), needs=["php"])


def proxies():
    ways = ("refused", "closed")
    for protocol in ("", "http2"):
        for way in ways:
            scene(f"nginx/{protocol or 'http1'}-{way}", "demand", "one dead and one living upstream",
                  ["nginx", "-c", "{T}/nginx.conf", "-p", "{T}"], pair(way), front=PORT,
                  load=["/usr/bin/python3", "{H}/hosts/h2.py", str(PORT), "{S}", "h", "100"] if protocol
                  else load(60, 16, "-k"), files={"nginx.conf": NGINX.replace("PROTOCOL", protocol)},
                  needs=["nginx", "h2load"], quick=protocol == "http2" and way == "refused")
    for check in ("", "check inter 200ms"):
        scene(f"haproxy/{'checked' if check else 'unchecked'}", "demand", "one dead and one living server",
              ["haproxy", "-db", "-q", "-f", "{T}/haproxy.cfg"], pair("refused"), front=PORT,
              load=load(30, 64), files={"haproxy.cfg": HAPROXY.replace("CHECK", check)}, needs=["haproxy"],
              dead_later=1500)
    scene("haproxy/closed", "demand", "one server accepts and closes, the other lives",
          ["haproxy", "-db", "-q", "-f", "{T}/haproxy.cfg"], pair("closed"), front=PORT,
          load=load(60, 16), files={"haproxy.cfg": HAPROXY.replace("CHECK", "")}, needs=["haproxy"],
          dead_later=1500)
    scene("haproxy/badurl", "mixed", "one server, which closes on half of the requests, and haproxy tries those again",
          ["haproxy", "-db", "-q", "-f", "{T}/haproxy.cfg"], [f"{LIVE}:shuts"], front=PORT,
          load=load(60, 8, "", f"{PORT}=h", f"{PORT}/d=d"), files={"haproxy.cfg": HAPROXY_AGAIN},
          needs=["haproxy"], dead_later=1500)
    scene("serve/health-checks", "demand", "a proxy of health checks: requests that are all alike",
          serve("reactor", "-n 8 -t 1 -k"), [f"{LIVE}:busy=33", f"{DEAD}:refuse"], front=PORT,
          load=load(50, 8, "-k", f"{PORT}/h=p"), failing=0.33)
    scene("serve/pile-up", "demand", "demand piles up on kept upstreams that hang",
          serve("reactor", "-n 32 -t 2 -k -o 300"), pair("hang"), front=PORT, load=load(30, 32, "-k"),
          per_demand=(DEAD, "d", 2.1, "syns"))
    for way in ("refused", "closed", "hang", "flapping"):
        hop = [["{B}/serve", "-M", "perconn", "-l", str(PORT + i), "-t", "3",
                "-h", str(DEAD if i == 4 else PORT + i + 1), "-d", str(DEAD if i == 4 else PORT + i + 1),
                *(["-o", "500"] if way == "hang" else [])] for i in range(5)]
        if way == "flapping":  # up in half of the time; a return is seen by the next attempt
            flap = ",".join(f"{'refuse' if t % 4 else 'ok'}@{t}" for t in range(0, 24, 2))
            scene("chain/flapping", "demand", "five hops with three tries each, the tail up for 2 s and down for 2 s",
                  hop[0], [f"{DEAD}:{flap}"], 20, hosts=hop, front=PORT, load=pool("-n 16 -r 5", f"{PORT}=p"),
                  failing=0.6, later=1e9, fixed=True)
            continue
        scene(f"chain/{way}", "demand", "five hops with three tries each, the tail dead",
              hop[0], [f"{DEAD}:{'ok,hang@1' if way == 'hang' else WAYS[way]}"], 12, hosts=hop, front=PORT,
              load=pool("-n 16 -r 5", f"{PORT}=d"), dead_later=500, per_demand=(DEAD, "d", 1.5, "syns"))


def storms():
    """The storm corpus. Bare plays a second and a half, to show that it is a storm."""
    def storm(name, what, command, servers, ports=(DEAD,), seconds=10, rule="loop", **more):
        about = {key: more.pop(key) for key in ("beside", "more", "what_counts") if key in more}
        if "what_counts" in about:
            about["what"] = about.pop("what_counts")
        scene(f"storm/{name}", rule, what, command, servers, seconds,
              storm=[{"port": port, **about} for port in ports], cpu=more.pop("cpu", 1), **more)

    endless = f"{DEAD}=s"
    for way in ("refused", "closed", "read"):
        storm(way, f"an endless loop, {way}", pool("-t 0", endless), [f"{DEAD}:{WAYS[way]}"],
              quick=way == "closed")
    storm("nonblocking", "connects that do not block", pool("-t 0 -b", endless), [f"{DEAD}:refuse"])
    storm("blackhole", "a black hole, given up after 200 ms", pool("-t 0 -b -o 200", endless),
          [f"{DEAD}:blackhole"], brief=False)
    storm("turns", "two dead servers in turn in one thread", pool("-r 0 -t 1", endless, f"{NEXT}=s"),
          [f"{DEAD}:refuse", f"{NEXT}:close"], (DEAD, NEXT), quick=True,
          more=5)  # its requests all differ: a few of unknown kind go
    many = range(DEAD, DEAD + 12)
    storm("turns-12", "twelve dead servers in turn in one thread",
          pool("-r 0 -t 1", *[f"{port}=s" for port in many]), [f"{port}:refuse" for port in many],
          many, more=8)
    storm("logs", "each failure is logged, to UDP and a file", pool("-t 0 -l", endless), [f"{DEAD}:close"])
    storm("forgets", "sends and closes at once, to a server that closes", pool("-r 0 -t 1 -q", endless),
          [f"{DEAD}:close"])
    storm("crowd", "twenty looping threads", pool("-n 20 -t 0", endless), [f"{DEAD}:refuse"], more=20, cpu=20)
    storm("refill", "a pool refills to fifty connections", pool("-n 50 -w", endless),
          [f"{DEAD}:refuse"], more=50, cpu=0)
    for number, kind in enumerate(("mysql", "smtp", "postgres", "tls", "http"), 1):
        # Whoever speaks SMTP waits for the greeting: after a question a line 421 may be an answer.
        storm(f"greet-{kind}", "a refusal in band, then a close",
              pool("-r 0 -t 1 -e" if kind == "smtp" else "-r 0 -t 1", endless),
              [f"{DEAD}:greet={number}"], brief_seconds=3)
    storm("hello", "a greeting, then a close after 10 ms", pool("-r 0 -t 1 -E", endless),
          [f"{DEAD}:hello=10"], brief_seconds=3, more=20)  # ten in a second, and nine in the one before
    storm("socks", "a SOCKS proxy that cannot reach the server", ["/usr/bin/python3", "{H}/hosts/behind.py", str(DEAD), "{S}"],
          [f"{DEAD}:socks"])
    storm("nonce", "503 on a kept connection, a nonce in each request", pool("-r 0 -t 1 -k", endless),
          [f"{DEAD}:status=503"], what_counts="requests", rule="other-request")
    # Sixty are served before; then as many failures in a row as may be chance.
    storm("nonce-after", "the same on new connections, after three seconds in which the server was well",
          ["/usr/bin/python3", "{H}/hosts/nonce.py", str(DEAD), "{S}"], [f"{DEAD}:refuse,ok@1,status=503@4"],
          more=60 + 30 + 20, brief=False, cpu=0, fixed=True, rule="unclear")
    # Before it is gone fifteen are served, and ten tries fail; then as many in a row as may be chance.
    storm("gone", "a pause after each reply, and none after a refused connect, once the server is gone",
          ["/usr/bin/python3", "{H}/hosts/gone.py", str(DEAD), "{S}"], [f"{DEAD}:broken,refuse@4"],
          more=15 + 14 + 30, brief=False, cpu=0, fixed=True)
    for code in (502, 504):
        storm(f"status-{code}", f"{code} to the same request", pool("-t 0 -k", f"{DEAD}/same=s"),
              [f"{DEAD}:status={code}"], what_counts="requests", rule="same-request")
    storm("sidecar", "thirty threads, a sidecar accepts and closes after 2 s", pool("-n 30 -t 0", endless),
          [f"{DEAD}:late=2000"], brief=False, more=30, cpu=0)
    storm("lookups", "a name that SERVFAILs, without a pause",
          ["/usr/bin/python3", "{H}/hosts/look.py", "sf.test", "{S}"], ["53:dns"], (53,), dns=True,
          what_counts="requests", more=13)  # each lookup asks for two kinds of address
    for share in (60, 90, 95):
        scene(f"storm/partial-{share}", "unclear", f"{share} % failing, endless retries, 60 jobs/s",
              pool("-n 32 -r 60 -t 0 -p 20", f"{LIVE}=p"), [f"{LIVE}:fail={share}"],
              failing=share / 100, later=1e9)
    flap = ",".join(f"{'refuse' if t % 4 else 'ok'}@{t}" for t in range(0, 12, 2))
    scene("storm/flapping", "forgive", "up for 2 s, down for 2 s; jobs without a retry",
          pool("-n 8 -r 40 -t 1", f"{LIVE}=p"), [f"{LIVE}:{flap}"], 12, failing=0.5, fixed=True)


def returns():
    for name, command in (("sh", ["bash", "{H}/hosts/wait.sh", str(DEAD)]),
                          ("python", ["/usr/bin/python3", "{H}/hosts/wait.py", str(DEAD)]),
                          ("perl", ["perl", "{H}/hosts/wait.pl", str(DEAD)])):
        scene(f"wait/{name}-never", "told at once", "50 tries 0.1 s apart at a server that stays down",
              command, [f"{DEAD}:refuse"], ends=2, limit=40, quick=name == "python")
        scene(f"wait/{name}-after-3", "gate", "the same, the server comes after 3 s",
              command, [f"{DEAD}:refuse,ok@3"], ends=4, later=4000, limit=40)
    for outage in (1, 10):
        for count in (1, 50, 1000):
            back = 2 + outage
            scene(f"return/{count}-after-{outage}", "return",
                  f"{count} clients in one process, an outage of {outage} s",
                  ["/usr/bin/python3", "{H}/hosts/clients.py", str(count), str(LIVE), str(back + 12), str(back)],
                  [f"{LIVE}:ok,refuse@2,ok@{back}"], back + 12,
                  later=1500 if outage == 1 else 10000, limit=40, fixed=True)


def can(one):
    return all(shutil.which(need) or glob.glob(need) for need in one.get("needs", ()))


def everything(scale):
    if not SCENES:
        pools()
        services()
        runtimes()
        proxies()
        storms()
        returns()
        for one in SCENES:
            if not one.get("fixed") and "ends" not in one:
                one["seconds"] = one["seconds"] * scale
    return SCENES
