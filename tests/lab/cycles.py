# SPDX-License-Identifier: MIT
"""The library's own feedback: what it does that may make more of what it acts on. Each cycle is played by real
programs and by the simulator (tests/README.md, Our own cycles, says what stops each). Here what the library takes for
a failure, or refuses; cycles_late.py has what it makes later."""

from stage import PORT, back_after, cycles, last_after, loops_around, peak, per_second, pool, scene, server, text_of

START, END, SECONDS = 3, 8, 20


@scene("reply_timeout", cycles)
def reply_timeout(_):
    """A reply timeout makes a failure, the failure a repeat, and the repeat comes to a server that still works on the
    first. Clients without a timeout of their own, three tries, at a server that hangs for five seconds: bare with
    the same timeout it stays down; the library sets the timeout, and its budget lets the repeats not go."""
    ways = {"bare, its own timeout": ("-o 500", False, "bare 98 %"), "reply_timeout": ("", True, "library 98 %")}
    plays = {name: {
        "seconds": SECONDS, "ports": [PORT], "server_ports": [PORT],
        "policy": "[destination default]; reply_timeout = 500ms",
        "servers": [server(PORT, 100, 500, "ok@0", f"hang@{START}", f"ok@{END}")],
        "clients": [pool(f"-n 200 -r 95 -t 3 {own} -s {SECONDS}", f"{PORT}=h", library=library)],
        "sim": {"variant": variant}} for name, (own, library, variant) in ways.items()}

    def recovery(_, one):
        return back_after(one, PORT, 95, END)

    def judge(found):
        for name, one in found.items():
            back, load = recovery(name, one), per_second(one, "load", PORT, START + 1, END)
            wrong = []
            if name.startswith("bare") and back is not None:
                wrong.append(f"bare it is back after {back:.1f} s: there is no cycle")
            if name == "reply_timeout" and (back is None or back > 8 or load > 95):
                wrong.append(f"{load:.0f} attempts a second, back after {text_of(back)}")
            yield name, {"load in the outage /s": round(load, 1), "back after": text_of(back)}, wrong

    return {"title": "A reply timeout makes a failure", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(START, "hangs"), (END, "back")], "capacity": 100, "recovery": recovery,
            "headline": ("bare, its own timeout", "reply_timeout", ("back after", "back after")),
            "sim": {"scenario": "blip", "set": {
                "clients.processes": 1, "clients.rate": "95/s", "clients.timeout": "500ms", "clients.even": "on",
                "clients.asked": "off", "server.capacity": "100/s", "server.queue": 500,
                "outage.from": f"{START}s", "outage.until": f"{END}s"}}}


@scene("admission", cycles)
def admission(_):
    """The 503 of an [admission] is a failure for a client under the library, which might take the server for down and
    let nothing go, or try again for ever. Clients with three tries come at 150/s to a server that admits 100/s."""
    rate, admitted = 150, 100
    ways = {"bare": (False, "admission"), "library": (True, "all three")}
    rule = f"[admission lab]; listen = 127.0.0.1:{PORT}; rate = {admitted}/s; burst = 10; reply = http"
    plays = {name: {
        "seconds": SECONDS, "ports": [PORT], "server_ports": [PORT], "policy": "",
        "servers": [{"command": server(PORT, 1000, 500, "ok@0"), "policy": rule}],
        "clients": [pool(f"-n 50 -r {rate} -t 3 -p 20 -o 1000 -s {SECONDS}", f"{PORT}=h", library=library)],
        "sim": {"variant": variant}} for name, (library, variant) in ways.items()}

    def judge(found):
        for name, one in found.items():
            load = per_second(one, "load", PORT, 3, SECONDS)
            goodput = per_second(one, "answered", PORT, 3, SECONDS)
            wrong = []
            if name == "bare" and load < 1.2 * rate:
                wrong.append(f"bare {load:.0f} attempts a second: there is no cycle")
            if name == "library" and load > 1.15 * rate:
                wrong.append(f"{load:.0f} attempts a second")
            if name == "library" and goodput < 0.8 * admitted:
                wrong.append(f"{goodput:.0f} answers a second, of {admitted} that are admitted")
            yield name, {"load /s": round(load, 1), "answered /s": round(goodput, 1)}, wrong

    return {"title": "Admission's 503 is a failure", "plays": plays, "judge": judge, "plot": PORT, "marks": [],
            "capacity": admitted, "headline": ("bare", "library", ("load /s", "attempts /s"),
                                               ("answered /s", "answered /s")),
            "sim": {"scenario": "fifty", "set": {
                "clients.processes": 1, "clients.rate": f"{rate}/s", "clients.tries": 3, "clients.pause": "20ms",
                "clients.jitter": "none", "clients.growth": 1, "server.capacity": "1000/s",
                "server.admission": f"{admitted}/s", "outage.from": "1h", "outage.until": "2h"}}}


@scene("breaker", cycles)
def breaker(_):
    """An open breaker lets nobody go; when it closes, all that have waited come at once, which may open it again.
    Forty programs loop around a server that is down for eight seconds and then answers 10/s; who waits longer than
    a second is gone."""
    count, rate, seconds = 40, 10, 30
    policy = "[retrybudget]; scope = user; [destination default]; breaker = on; breaker_open = 2s"
    ways = {"bare": (False, "bare"), "breaker": (True, "shared")}
    plays = loops_around(ways, count, rate, END, seconds, policy, (0.3, 0.3))

    def recovery(_, one):
        return last_after(one, PORT, END, count)

    def judge(found):
        for name, one in found.items():
            back, most = recovery(name, one), peak(one, PORT, END)
            wrong = []
            if name == "bare" and back is not None:
                wrong.append(f"bare all are back after {back:.1f} s: there is no cycle")
            if name == "breaker" and (back is None or most > 3 * rate):
                wrong.append(f"at most {most} in a second, all back after {text_of(back)}")
            yield name, {"in the outage /s": round(per_second(one, "load", PORT, 2, END), 1), "peak after it /s": most,
                         "all back after": text_of(back)}, wrong

    return {"title": "A breaker closes, and all come at once", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(END, "back")], "capacity": rate, "logarithmic": True, "recovery": recovery,
            "headline": ("bare", "breaker", ("peak after it /s", "peak after it"),
                         ("all back after", "all back after")),
            "sim": {"scenario": "farm", "set": {
                "clients.processes": count, "clients.timeout": "1s",
                "clients.spread": "400ms",  # one after the other, as they are started
                "server.capacity": f"{rate}/s",
                "server.queue": 1000, "server.collapse": 0, "outage.from": "0", "outage.until": f"{END}s",
                "outage.lose": "off", "policy.breaker": "on", "policy.breaker_open": "2s"}}}


@scene("redirected", cycles)
def redirected(_):
    """A connect that does not block and is not to go fails at a sinkhole of this machine: were that a failure of the
    server, it would keep the server refused. Forty threads whose connects do not block ask a dead server, 50 ms
    apart; it comes back."""
    rate = 40
    ways = {"bare": (False, "bare"), "library": (True, "library")}
    plays = {name: {
        "seconds": SECONDS, "ports": [PORT], "server_ports": [PORT], "policy": "",
        "servers": [server(PORT, 200, 500, "ok@0", f"refuse@{START}", f"ok@{END}")],
        "clients": [pool(f"-n 400 -b -r {rate} -t 0 -p 50 -o 2000 -s {SECONDS}", f"{PORT}=h", library=library)],
        "sim": {"variant": variant}} for name, (library, variant) in ways.items()}

    def recovery(_, one):
        return back_after(one, PORT, rate, END)

    def judge(found):
        for name, one in found.items():
            back, load = recovery(name, one), per_second(one, "load", PORT, START + 2, END)
            wrong = []
            if name == "bare" and load < 5 * rate:
                wrong.append(f"bare {load:.0f} attempts a second: that is no storm")
            if name == "library" and (back is None or back > 6 or load > rate / 2):
                wrong.append(f"{load:.1f} attempts a second, back after {text_of(back)}")
            yield name, {"in the outage /s": round(load, 1), "back after": text_of(back),
                         "done": one["work"]["work"]["ok"]}, wrong

    return {"title": "Redirected connects fail", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(START, "dead"), (END, "back")], "capacity": 200, "logarithmic": True, "recovery": recovery,
            "headline": ("bare", "library", ("in the outage /s", "attempts in the outage /s"),
                         ("back after", "back after")),
            "sim": {"scenario": "backlog", "tolerance": {"load": (0.35, 10)}, "set": {
                "clients.processes": 1, "clients.asked": "off", "clients.blocks": "off", "clients.rate": f"{rate}/s",
                "clients.pause": "50ms", "clients.even": "on", "clients.timeout": "2s", "server.capacity": "200/s",
                "server.queue": 500,
                "outage.from": f"{START}s", "outage.until": f"{END}s"}}}


@scene("parked", cycles)
def parked(_):
    """Whose connects do not block, and who does nothing but try, is parked: a connect that ends in a timeout after a
    second. Were that a failure of the server, it would keep the server refused. Threads that try forty times without
    a pause ask a dead server; it comes back. Whose connects block is held instead."""
    rate, tries = 4, 40
    redirect = "[destination default]; nonblocking = redirect"
    # The library, its policy, how the connects are, and how long the slowest jobs take, ms.
    ways = {"bare": (False, "", "-b", (0, 900)), "library": (True, "", "-b", (900, 4500)),
            "redirect": (True, redirect, "-b", (0, 900)), "it blocks": (True, "", "", (4500, 9000))}
    plays = {name: {
        "seconds": SECONDS, "ports": [PORT], "server_ports": [PORT], "policy": policy,
        "servers": [server(PORT, 200, 500, "ok@0", f"refuse@{START}", f"ok@{END}")],
        "clients": [pool(f"-n 60 {how} -r {rate} -t {tries} -p 0 -o 2000 -s {SECONDS}", f"{PORT}=h",
                         library=library)],
        "sim": {"variant": name}} for name, (library, policy, how, _) in ways.items()}

    def recovery(_, one):
        return back_after(one, PORT, rate, END)

    def judge(found):
        for name, one in found.items():
            back, load = recovery(name, one), per_second(one, "load", PORT, START + 1, END)
            longest, (least, most) = one["work"]["work"]["p99"], ways[name][3]
            wrong = []
            if name == "bare" and load < 0.8 * rate * tries:
                wrong.append(f"bare {load:.0f} attempts a second: that is no storm")
            if name != "bare" and (back is None or back > 6 or load > rate):
                wrong.append(f"{load:.1f} attempts a second, back after {text_of(back)}")
            if not least <= longest < most:
                wrong.append(f"99 of 100 took {longest:.0f} ms, not {least} to {most}")
            yield name, {"in the outage /s": round(load, 1), "back after": text_of(back), "p99 ms": round(longest),
                         "done": one["work"]["work"]["ok"]}, wrong

    return {"title": "Who spins is parked, or held", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(START, "dead"), (END, "back")], "capacity": 200, "logarithmic": True, "recovery": recovery,
            "headline": ("bare", "library", ("in the outage /s", "attempts in the outage /s"),
                         ("back after", "back after")),
            "sim": {"scenario": "parked", "work": True, "set": {}}}


@scene("kept", cycles)
def kept(_):
    """A repeat on a kept connection is refused by an end of the connection, and the next request needs a new one:
    connects, where there were none. Workers with three tries on kept connections, at a server that answers with a
    503 for five seconds. Drawn, and simulated, are the requests: the simulator knows no connections."""
    rate = 60
    plays = {name: {
        "seconds": 14, "ports": [PORT], "server_ports": [PORT], "policy": "",
        "servers": [server(PORT, 1000, 500, "ok@0", f"busy@{START}", f"ok@{END}")],
        "clients": [pool(f"-n 200 -k -r {rate} -t 3 -p 10 -o 1000 -s 14", f"{PORT}=h", library=library)],
        "sim": {"variant": f"{name} 98 %"}} for name, library in (("bare", False), ("library", True))}

    def judge(found):
        for name, one in found.items():
            connects = per_second(one, "load", PORT, START + 1, END)
            requests = per_second(one, "in_vain", PORT, START + 1, END)
            after = per_second(one, "answered", PORT, END + 4, 14)
            wrong = []
            if name == "bare" and requests < 2.5 * rate:
                wrong.append(f"bare {requests:.0f} requests a second: there is no storm")
            if name == "library" and (connects > 1.1 * rate or requests > 1.2 * rate):
                wrong.append(f"{connects:.0f} connects and {requests:.0f} requests a second for {rate} jobs")
            if after < 0.9 * rate:
                wrong.append(f"{after:.0f} answers a second when it is back")
            yield name, {"connects in the outage /s": round(connects, 1),
                         "requests in the outage /s": round(requests, 1), "answered after it /s": round(after, 1),
                         "done": one["work"]["work"]["ok"]}, wrong

    return {"title": "A kept connection ends, and the next is made", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(START, "503"), (END, "well")], "requests": True,
            "headline": ("bare", "library", ("requests in the outage /s", "requests in the outage /s"),
                         ("connects in the outage /s", "connects /s")),
            # By chance a gate opens at once, or seconds after the return.
            "sim": {"scenario": "blip", "tolerance": {"load": (0.4, 5), "goodput": (0.4, 5)}, "set": {
                "clients.processes": 1, "clients.asked": "off", "clients.rate": f"{rate}/s", "clients.even": "on",
                "clients.pause": "10ms", "server.capacity": "1000/s", "server.queue": 500, "outage.hangs": "0%",
                "outage.from": f"{START}s", "outage.until": f"{END}s"}}}
