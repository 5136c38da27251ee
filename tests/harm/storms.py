# SPDX-License-Identifier: MIT
"""The scenes of storms, and of what comes back after one."""

from table import DEAD, LIVE, NEXT, WAYS, pool, scene


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
    # The first two that are given up may be losers of a race; what has begun before the third is given up goes, too.
    storm("blackhole-crowd", "eight threads at a black hole, each given up after 200 ms",
          pool("-n 8 -t 0 -b -o 200", endless), [f"{DEAD}:blackhole"], brief=False, more=8 + 5, cpu=8, rule="timeout")
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
    # Before it hangs each thread is served 19 times; then each gives up three at most that count as nothing yet.
    storm("late-then-hangs", "eight threads, a server that answers after 100 ms, and then hangs; given up after 600 ms",
          pool("-n 8 -t 0 -o 600", endless), [f"{DEAD}:ok=100,hang@2"], seconds=20, more=8 * (19 + 3), brief=False, cpu=0,
          fixed=True, rule="timeout")
    # What is under way when the third is given up goes, too.
    for name, what, threads in (("hangs", "one thread", 1), ("hangs-crowd", "eight threads", 8)):
        storm(name, f"{what}, a server that accepts and has never answered; given up after 300 ms",
              pool(f"-n {threads} -t 0 -o 300", endless), [f"{DEAD}:hang"], brief=False, cpu=0, more=2 * threads + 3,
              rule="timeout")
    for code in (502, 504):
        storm(f"status-{code}", f"{code} to the same request", pool("-t 0 -k", f"{DEAD}/same=s"),
              [f"{DEAD}:status={code}"], what_counts="requests", rule="same-request")
    storm("sidecar", "thirty threads, a sidecar accepts and closes after 4 s", pool("-n 30 -t 0", endless),
          [f"{DEAD}:late=4000"], brief=False, more=30, cpu=0)
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
              command, [f"{DEAD}:refuse,ok@3"], ends=3.9, later=4000, limit=40)
    for outage in (1, 10, 60):
        for count in (1, 50, 1000):
            back = 2 + outage
            scene(f"return/{count}-after-{outage}", "return",
                  f"{count} clients in one process, an outage of {outage} s",
                  ["/usr/bin/python3", "{H}/hosts/clients.py", str(count), str(LIVE), str(back + 12), str(back)],
                  [f"{LIVE}:ok,refuse@2,ok@{back}"], back + 12,
                  later=1500 if outage == 1 else 10000, worst=10000, limit=back + 30, fixed=True)
