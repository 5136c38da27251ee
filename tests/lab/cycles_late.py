# SPDX-License-Identifier: MIT
"""The cycles of what the library makes later: a held call, a reconnect that is put off, and the way back of those who
were throttled. As those of cycles.py."""

from stage import PORT, cycles, last_after, loops, loops_around, peak, per_second, pool, scene, server, text_of

FRONT = PORT + 100


@scene("hold", cycles)
def hold(_):
    """A hold makes an answer later, for which somebody waits: his timeout, and his repeat one hop up. A service that
    can do without its backend asks it up to thirty times, without a pause, while callers with three tries wait a
    second; the backend is dead. That spins, and would be held for a quarter of a second from the twelfth refusal on,
    and answer nobody in time; but who is waited for is held no longer than a real failure takes. (What it would come to
    else the simulator shows: the scenario's "nobody is seen to wait".)"""
    rate, end, seconds = 10, 10, 26  # nobody is let in later than ten seconds after the return
    none = "[destination default]; hold = 0"
    # Tries of the service, the library at it and at its callers, its policy.
    ways = {"bare": (30, False, False, ""), "library": (30, True, False, ""), "callers too": (30, True, True, ""),
            "ten tries": (10, True, False, ""), "hold = 0": (30, True, False, none)}
    plays = {name: {
        "seconds": seconds, "ports": [PORT, FRONT], "server_ports": [PORT], "policy": policy,
        "servers": [server(PORT, 1000, 500, "refuse@0", f"ok@{end}")],
        "hops": [{"command": ["{B}/lab/front", FRONT, PORT, tries], "library": front}],
        "clients": [pool(f"-n 40 -r {rate} -t 3 -o 1000 -s {seconds}", f"{FRONT}=h", library=callers)],
        "sim": {"variant": "no hold" if name == "hold = 0" else name}}
        for name, (tries, front, callers, policy) in ways.items()}

    def judge(found):
        for name, one in found.items():
            calls, asked = (per_second(one, "load", port, 4, end) for port in (FRONT, PORT))
            after = per_second(one, "answered", PORT, seconds - 4, seconds)
            late = one["work"]["work"]["p99"] - found["bare"]["work"]["work"]["p99"]
            wrong = []
            if name == "bare" and asked < 20 * rate:
                wrong.append(f"bare {asked:.0f} attempts a second at the backend: that is no storm")
            if calls > 1.1 * rate:
                wrong.append(f"{calls:.0f} calls a second for {rate}")
            if name != "bare" and late > 500:
                wrong.append(f"its p99 is {late:.0f} ms later than bare")
            if name != "bare" and asked > 4 * rate:
                wrong.append(f"{asked:.0f} attempts a second at the backend")
            if after < 0.8 * rate:
                wrong.append(f"{after:.0f} answers a second when it is back")
            yield name, {"calls in the outage /s": round(calls, 1), "at the backend /s": round(asked, 1),
                         "p99 ms": round(one["work"]["work"]["p99"]), "done": one["work"]["work"]["ok"],
                         "answered after it /s": round(after, 1)}, wrong

    def bars(rows):
        for what, logarithmic in (("calls in the outage /s", False), ("at the backend /s", True), ("p99 ms", True)):
            yield what, what, logarithmic, [" "], [(name, [rows[name][what]]) for name in ways]

    return {"title": "A hold makes an answer later", "plays": plays, "judge": judge, "bars": bars, "plot": PORT,
            "sim": {"scenario": "hold", "work": True, "set": {}},
            "headline": ("bare", "ten tries", ("at the backend /s", "attempts at the backend in the outage /s"),
                         ("p99 ms", "99 of 100 answered in ms"))}


@scene("reconnect_spread", cycles)
def reconnect_spread(_):
    """A server starts anew and cuts off a hundred clients, of whom it can greet 25 in a second; who waits longer than a
    second is gone. reconnect_spread puts their connects off, over eight seconds: a program with less patience tries
    again, and all that were put off might come at once then. Connects that block wait within their one call. Those
    that do not are parked; their programs give up after a second and all come, once: what fails then comes back as
    after any outage. (The simulator knows no reconnect_spread. It plays what that makes of connects that block: loops
    that begin over those eight seconds.)"""
    count, rate, cut, over, seconds = 100, 25, 7, 8, 30
    spread = f"[retrybudget]; scope = user; [destination default]; reconnect_spread = {over}s"
    # Patience of a connect, the library, its policy, how it is simulated.
    ways = {"bare": (1000, False, "", {"variant": "bare", "set": {
                "clients.spread": "5s", "outage.from": f"{cut}s", "outage.until": f"{cut + 0.1}s"}}),
            "it blocks": (0, True, spread, {"variant": "one share", "set": {
                "clients.from": f"{cut}s", "clients.spread": f"{over}s", "outage.from": "1h", "outage.until": "2h"}}),
            "it does not block": (-1000, True, spread, None)}
    plays = {name: {
        "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": policy, "busy": 0.3,
        "servers": [server(PORT, rate, 1000, "ok@0", f"cut@{cut}", f"ok@{cut + 0.1}")],
        "clients": [one for i in range(count) for one in loops(1, PORT, 50, seconds, "", 5 * i / count, patience,
                                                               library=library)],
        **({"sim": sim} if sim else {})} for name, (patience, library, policy, sim) in ways.items()}

    def recovery(_, one):
        return last_after(one, PORT, cut, count)

    def judge(found):
        for name, one in found.items():
            back, came = recovery(name, one), sum(one["load"][str(PORT)][cut * 10:])
            in_vain = sum(one["in_vain"][str(PORT)][cut * 10:])
            wrong = []
            if name == "bare" and (back is not None or came < 10 * count):
                wrong.append(f"bare {came} attempts of {count}, all back after {text_of(back)}: that is no storm")
            if name == "it blocks" and (came > 2 * count or in_vain > count / 4):
                wrong.append(f"{came} attempts of {count}, {in_vain} answered in vain")
            if name == "it does not block" and came > 4 * count:
                wrong.append(f"{came} attempts of {count}")
            if name != "bare" and (back is None or back > 2 * over):
                wrong.append(f"all back after {text_of(back)}, spread over {over} s")
            yield name, {"attempts": came, "peak after it /s": peak(one, PORT, cut), "answered in vain": in_vain,
                         "all back after": text_of(back)}, wrong

    return {"title": "Reconnects are put off", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(cut, "cut off")], "capacity": rate, "logarithmic": True, "recovery": recovery,
            "headline": ("bare", "it blocks", ("attempts", "attempts of 100"), ("all back after", "all back after")),
            "sim": {"scenario": "herd", "since": cut, "set": {
                "clients.processes": count, "clients.pause": "50ms", "clients.timeout": "1s",
                "server.capacity": f"{rate}/s", "server.queue": 1000, "server.collapse": 0}}}


@scene("ramp", cycles)
def ramp(_):
    """The way back doubles from step to step while what goes is answered, and so goes past what the server can take;
    what waits too long in its queue fails a second later, which stops the way back, and it begins anew: for ever? A
    hundred loops in one share around a server that is down for eight seconds, and then answers ten a second; who waits
    longer than a second is gone. Ten seconds are the least possible."""
    count, rate, end, seconds = 100, 10, 8, 36
    ways = {"bare": (False, "bare"), "way back": (True, "shared")}
    plays = loops_around(ways, count, rate, end, seconds, "[retrybudget]; scope = user", (0.5, 0.2))

    def recovery(_, one):
        return last_after(one, PORT, end, count)

    def judge(found):
        for name, one in found.items():
            back, most = recovery(name, one), peak(one, PORT, end)
            in_vain = sum(one["in_vain"][str(PORT)][end * 10:])
            wrong = []
            if name == "bare" and (back is not None or in_vain < count):
                wrong.append(f"bare all are back after {text_of(back)}, {in_vain} were answered in vain: no cycle")
            if name == "way back" and (back is None or back > 2 * count / rate or most > 5 * rate):
                wrong.append(f"at most {most} in a second, all back after {text_of(back)}")
            if name == "way back" and in_vain > count / 4:
                wrong.append(f"{in_vain} were answered in vain: it goes too far, again and again")
            yield name, {"in the outage /s": round(per_second(one, "load", PORT, 2, end), 1), "peak after it /s": most,
                         "answered in vain": in_vain, "all back after": text_of(back)}, wrong

    return {"title": "The way back goes too far", "plays": plays, "judge": judge, "plot": PORT,
            "marks": [(end, "back")], "capacity": rate, "logarithmic": True, "recovery": recovery,
            "headline": ("bare", "way back", ("peak after it /s", "peak after it"),
                         ("all back after", "all back after")),
            "sim": {"scenario": "farm", "set": {
                "clients.processes": count, "clients.timeout": "1s",
                "clients.spread": "1s",  # one after the other, as they are started
                "server.capacity": f"{rate}/s", "server.queue": 1000, "server.collapse": 0, "outage.from": "0",
                "outage.until": f"{end}s", "outage.lose": "off"}}}
