# SPDX-License-Identifier: MIT
"""The scenes of services that are asked by datagrams, and of what receives some beside a storm of its own."""

from table import DEAD, LIVE, PORT, pair, scene


def asks(rate, kinds, *more):
    return ["/usr/bin/python3", "{H}/hosts/asks.py", str(PORT), "{S}", str(rate), kinds, *map(str, more)]


def services():
    def service(name, rule, what, manner, tries, servers, dead, seconds=8, **more):
        scene(f"asked/{name}", rule, what,
              ["/usr/bin/python3", "{H}/hosts/asked.py", manner, str(PORT), str(tries), str(LIVE), str(dead)],
              servers, seconds, needs=["/usr/bin/python3"], **more)

    manners = {"threads": "eight threads", "prefork": "eight processes", "queue": "a thread, for eight others,",
               "each": "a thread for each request", "asyncio": "an event loop"}
    for manner, who in manners.items():
        service(f"{manner}-broken", "demand", f"{who} asked by datagrams, half of the URLs are always 502, 3 tries",
                manner, 3, [f"{LIVE}:broken"], LIVE, load=asks(40, "hd"), quick=manner == "asyncio")
        service(f"{manner}-refused", "demand", "the same where that half goes to a dead server",
                manner, 3, pair("refused"), DEAD, load=asks(40, "hd"))
        if manner == "queue":  # those who work are not those who are asked: as little is known of them as without it
            continue
        service(f"{manner}-back", "return", f"{who} asked by datagrams, and the server is away for ten seconds",
                manner, 1, [f"{LIVE}:ok,refuse@2,ok@12"], LIVE, 22, load=asks(50, "p"), failing=0.5, least=0.48,
                later=500, per_demand=(LIVE, "p", 1.3, "syns"), fixed=True, quick=manner == "threads")
    service("pings", "mixed", "the same of eight threads whose socket asks its peer something first, and each second",
            "threads/pings", 3, [f"{LIVE}:broken"], LIVE, load=asks(40, "hd", PORT + 1))


def inflows():
    def inflow(name, what, manner, rate, kinds="s", words="", way="refuse", **more):
        scene(f"inflow/{name}", "loop", what,
              ["/usr/bin/python3", "{H}/hosts/inflow.py", manner, str(PORT), str(DEAD), *words.split()],
              [f"{DEAD}:{way}"], 10, load=asks(rate, kinds, PORT + 1), needs=["/usr/bin/python3"],
              **({"storm": [{"port": DEAD}]} | more))

    inflow("log", "a log receives 1,000 lines/s beside a thread that connects again without a pause", "threads", 1000)
    inflow("log-line", "the same thread connects for each line", "same", 1000)
    for way in ("refuse", "close"):
        inflow(f"loop-log-{way}", "an event loop receives 1,000 lines/s beside a reconnect loop", "asyncio", 1000,
               way=way, quick=way == "close")
        for rate in (20, 200, 1000):
            inflow(f"loop-{way}-{rate}", f"an event loop answers {rate} datagrams/s beside a reconnect loop",
                   "asyncio", rate, "h", "answers", way=way, quick=way == "refuse" and rate == 1000)
    inflow("loop-pings", "the same where it asks on that socket too, before all else", "asyncio", 200, "h",
           "answers pings")
    inflow("threads", "a thread answers 1,000 datagrams/s beside one that connects again without a pause",
           "threads", 1000, "h", "answers")
    inflow("each", "a thread answers 200 datagrams/s, and after each connects once, in vain", "same", 200, "h",
           "answers", storm=[], per_demand=(DEAD, "h", 1.01, "syns"))
