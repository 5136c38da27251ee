# SPDX-License-Identifier: MIT
"""The table of scenes. Every one has a host, servers of which some fail, and what must hold.

What a scene may say beside name, rule (of the judging, or what of it), what, host and servers:
  seconds    how long it is played (the option --seconds scales it); {S} in commands
  load, front  the command that asks the host for work, and the port where the host listens
  storm      where attempts are counted and bounded: port, beside (live traffic to it), more, what
  per_demand (port, kind, most, what): attempts at that port for each piece of work of that kind
  failing    the share that fails, for work of kind p: served must be what no retry would serve
  later, dead_later   ms that the p99 of healthy and of hopeless work may be later (None: any)
  ends       the host must end by itself, at most so many seconds after bare
  cpu        processor under 1 %; endless: the host never ends by itself
  files      written to {T} before; needs: commands without which it is skipped; dns: a resolver
  quick      played by `make check-harm`; open scenes stand in open.txt
"""

import glob
import shutil

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
              pool(f"-n 8 -r 40 -t 3 -p 20 {timeout}", f"{LIVE}=h", f"{DEAD}=d"), pair(way),
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
          pool("-n 16 -r 300 -t 3 -k", f"{LIVE}=p"), [f"{LIVE}:busy=20"], failing=0.2)
    scene("pool/blip", "forgive", "100 jobs in flight meet a second of outage, then 50 jobs/s",
          pool("-n 100 -r 100 -t 1", f"{LIVE}=p"), [f"{LIVE}:refuse,ok@1"], failing=1 / 8, quick=True)
    scene("pool/warm-up", "forgive", "fifty connections warm up while the server comes 0.6 s late",
          pool("-n 50 -w -p 20", f"{LIVE}=h"), [f"{LIVE}:refuse,ok@0.6"], later=1000, quick=True)
    scene("pool/posts", "same-request", "distinct POSTs, head and body apart, every fifth gets a 500",
          pool("-n 2 -r 60 -t 1 -m -k", f"{LIVE}=p"), [f"{LIVE}:err=20"], failing=0.2)
    scene("pool/rpc", "same-request", "JSON-RPC over one URL, a tenth fails, new connections",
          pool("-n 4 -r 100 -t 1 -m", f"{LIVE}=p"), [f"{LIVE}:err=10"], failing=0.1)
    scene("pool/limit", "Retry-After", "one 429 with Retry-After: 60 among distinct requests",
          pool("-n 2 -r 50 -t 1 -k", f"{LIVE}=p"), [f"{LIVE}:limit=20"], failing=0.01)
    scene("pool/one-way", "one-way", "connect, send, wait a second, close; the reader is silent",
          pool("-n 4 -r 3 -1", f"{LIVE}=h"), [f"{LIVE}:mute"], quick=True)
    scene("pool/failover", "sweep", "a list of hosts, the first dead, 20 jobs/s",
          pool("-n 2 -r 20 -f", f"{DEAD}=d", f"{LIVE}=h"), pair("refused"))
    scene("pool/failover-closed", "sweep", "a list of hosts, the first accepts and closes",
          pool("-n 2 -r 20 -f", f"{DEAD}=d", f"{NEXT}=d", f"{LIVE}=h"),
          [*pair("closed"), f"{NEXT}:refuse"], quick=True)
    scene("pool/shards", "sweep", "each job asks eight shards, two are dead",
          pool("-n 4 -r 20 -a", *[f"{LIVE}=h"] * 6, f"{DEAD}=d", f"{NEXT}=d"),
          [*pair("refused"), f"{NEXT}:close"])
    scene("pool/vip", "unclear", "one address with three of four servers down, 4 tries, 40 jobs/s",
          pool("-n 8 -r 40 -t 4", f"{LIVE}=p"), [f"{LIVE}:cfail=75"], failing=0.75)
    scene("poller", "loop", "60 dead hosts asked every 2 s by one thread, and a living one",
          pool("-n 1 -r 30.5", *[f"127.0.1.{i}:{DEAD}=d" for i in range(1, 61)], f"{LIVE}=h"),
          [f"{LIVE}:ok"], dead_later=100)
    scene("cron", "hold", "500 items one after the other, every other for a dead server",
          pool("-c 500", f"{LIVE}=h", f"{DEAD}=d"), pair("refused"), ends=2, patience=30,
          dead_later=300)
    scene("crawler", "sweep", "40 hosts, each asked once a second, a quarter dead",
          pool("-n 8 -r 40", *[f"127.0.1.{i}:{LIVE if i % 4 else DEAD}={'h' if i % 4 else 'd'}"
                               for i in range(1, 41)]), pair("refused"))
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
                  serve(mode, f"-n {workers} -t 3 -p 10"), pair(way), front=PORT, load=load(60, 16),
                  activated=mode == "activated", quick=mode == "reactor" and way == "refused",
                  per_demand=(DEAD, "d", 3.02, "syns"))
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


def can(one):
    return all(shutil.which(need) or glob.glob(need) for need in one.get("needs", ()))


def everything(scale):
    if not SCENES:
        pools()
        services()
        for one in SCENES:
            one["seconds"] = one["seconds"] * scale
    return SCENES
