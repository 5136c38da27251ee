# SPDX-License-Identifier: MIT
"""The scenes of healthy work beside what fails, and the list of all. Every one has a host, servers of which
some fail, and what must hold (table.py)."""

import glob
import shutil

import bursts
import datagrams
from storms import returns, storms
from table import DEAD, LIVE, NEXT, PORT, SCENES, WAYS, load, pair, pool, scene, serve

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

VARNISH = """vcl 4.0;
backend default { .host = "127.0.0.1"; .port = "9001"; }
sub vcl_recv { return(pass); }
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
    for preset in ("grpc", "envoy"):
        scene(f"pool/partial-{preset}", "unclear", f"the same with 20 % failing and preset = {preset}",
              pool("-n 16 -r 300 -t 3", f"{LIVE}=p"), [f"{LIVE}:fail=20"], failing=0.2,
              policy=f"[destination default]\npreset = {preset}\n")
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
    scene("pool/one-way-nonblocking", "one-way", "the same with connects that do not block",
          pool("-n 4 -r 3 -1 -b", f"{LIVE}=h"), [f"{LIVE}:mute"])
    scene("pool/restart", "forgive", "thirty kept connections are lost at a restart, which takes 0.3 s",
          pool("-n 30 -r 90 -t 4 -p 50 -k", f"{LIVE}=h"), [f"{LIVE}:ok,refuse@3,ok@3.3"], fixed=True)
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
    for way, answers in (("closed", "shuts"), ("status", "broken")):
        scene(f"pool/storm-same-{way}", "loop", "the same where its destination is that of the pool, and well but for what it asks",
              pool(f"-n 4 -r 20 -g {LIVE}/d", f"{LIVE}=h"), [f"{LIVE}:{answers}"],
              storm=[{"port": LIVE, "beside": "h", "more": 160 // 10 + 8}], brief=False)  # a tenth of what is answered


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
    scene("serve/gateway", "demand", "the same without retries, where a third of the answers are 503",
          serve("reactor", "-n 8 -t 1 -k"), [f"{LIVE}:busy=33", f"{DEAD}:refuse"], front=PORT,
          load=load(50, 8, "-k", f"{PORT}=p"), failing=0.33)
    scene("serve/insists", "hold", "a thread for each connection, a dead and a healthy upstream, 30 tries without a pause",
          serve("perconn", "-n 8 -t 30"), pair("refused"), front=PORT, load=load(60, 16))
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
        for way in ("refused", "closed"):
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
    for name, targets in (("half", "hd"), ("most", "hddd")):
        scene(f"python/shuts-{name}", "mixed", f"an event loop that tries three times, {name} of its requests are closed",
              ["/usr/bin/python3", "{H}/hosts/jobs.py", "asyncio", "{S}", "40", "3", *[f"{LIVE}={kind}" for kind in targets]],
              [f"{LIVE}:shuts"], needs=["/usr/bin/python3"])
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
    scene("node/posts", "same-request", "distinct POSTs to one URL, head and body apart, a fifth answered 500",
          ["node", "{H}/hosts/jobs.js", "{S}", "50", "1", "post", f"{LIVE}=p"], [f"{LIVE}:err=20"],
          failing=0.2, needs=["node"])
    for name, bad in (("", "nx"), ("-servfail", "sf")):
        scene(f"python/lookups{name}", "NXDOMAIN" if not name else "hold", "an event loop's resolver threads: four names fail, one is good",
              ["/usr/bin/python3", "{H}/hosts/jobs.py", "lookup", "{S}", "25", "1",
               *[f"{bad}{i}.test=d" for i in range(4)], "good.test=h"], ["53:dns"], dns=True,
              dead_later=600 if name else 250)
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
    scene("haproxy/shuts", "mixed", "one server, which closes on half of the requests",
          ["haproxy", "-db", "-q", "-f", "{T}/haproxy.cfg"], [f"{LIVE}:shuts"], front=PORT,
          load=load(60, 16, "-k"), files={"haproxy.cfg": HAPROXY_AGAIN.replace(" retries 3\n retry-on empty-response conn-failure\n", "")},
          needs=["haproxy"])
    scene("haproxy/badurl", "mixed", "one server, which closes on half of the requests, and haproxy tries those again",
          ["haproxy", "-db", "-q", "-f", "{T}/haproxy.cfg"], [f"{LIVE}:shuts"], front=PORT,
          load=load(60, 8, "", f"{PORT}=h", f"{PORT}/d=d"), files={"haproxy.cfg": HAPROXY_AGAIN},
          needs=["haproxy"], dead_later=1500)
    scene("varnish/shuts", "mixed", "threads that are handed requests; the server closes on half of them, and each is "
          "tried twice; after a connect that was refused varnish asks nobody for 0.25 s",
          ["varnishd", "-F", "-n", "{T}/varnish", "-a", f"127.0.0.1:{PORT}", "-f", "{T}/varnish.vcl", "-j", "none",
           "-s", "malloc,20m"], [f"{LIVE}:shuts"], front=PORT, load=load(60, 16, "", f"{PORT}=h", f"{PORT}/d=d"),
          files={"varnish.vcl": VARNISH}, needs=["varnishd"])
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
                  failing=0.6, least=0.45, later=1e9, fixed=True)
            continue
        # In the beginning each hop spends its tokens; where tries hang, many are under way before one has failed.
        scene(f"chain/{way}", "demand", "five hops with three tries each, the tail dead",
              hop[0], [f"{DEAD}:{'ok,hang@1' if way == 'hang' else WAYS[way]}"], 12, hosts=hop, front=PORT,
              load=pool("-n 16 -r 5", f"{PORT}=d"), dead_later=500, per_demand=(DEAD, "d", 2.2 if way == "hang" else 1.5, "syns"),
              steady=(DEAD, "d", 1.2, 4))


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
        bursts.bursts()
        bursts.services()
        datagrams.services()
        datagrams.inflows()
        for one in SCENES:
            if not one.get("fixed") and "ends" not in one:
                one["seconds"] = one["seconds"] * scale
    return SCENES
