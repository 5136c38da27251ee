# SPDX-License-Identifier: MIT
"""What the scenes are made of: who plays, what is read off a play, and the list of all scenes.

A scene is a function of `quick` that returns what is to be played, once for each of its variants (play.py says what
a play may have), and `judge`: it says what must be true of them, that the bare one is a storm, and what the library
makes of it. `sim` of the scene and of a play say how the simulator plays the same (beside.py)."""

PORT, LIVE, TAIL, DNS = 8001, 8002, 8005, "dns"
BUSY, USED = 0.15, 0.8  # of a core: what a play keeps busy that does not say it; what plays may, of each
TRAFFIC = 6000  # attempts a second, over all of a play and all that is counted: with more it is ended
scenes, cycles = {}, {}  # cycles: what the library might do to itself


def scene(name, to=scenes):
    def add(make):
        to[name] = make
        return make
    return add


def pool(options, target, **more):
    return {"command": ["{B}/harm/pool", *options.split(), *target.split()], "library": False, **more}


def loops(count, port, pause_ms, seconds, *name, **more):
    """Programs that want a connection, and keep it."""
    one = {"command": ["{B}/lab/loop", port, pause_ms, seconds, *name], "library": False, **more}
    return [one] * count


def server(port, rate, queue, *phases):
    return ["{B}/lab/server", port, rate, queue, *phases]


def loops_around(ways, count, rate, end, seconds, policy, busy):
    """Plays of so many loops around a server that is down until `end`, and then answers rate a second; who waits
    longer than a second is gone. ways: name: (with the library, the simulator's variant); busy: bare, with it."""
    return {name: {
        "seconds": seconds, "ports": [PORT], "server_ports": [PORT], "policy": policy, "busy": busy[library],
        "servers": [server(PORT, rate, 1000, "refuse@0", f"ok@{end}")],
        "clients": loops(count, PORT, 20, seconds, library=library),
        "sim": {"variant": variant}} for name, (library, variant) in ways.items()}


def requests_of(found, port):
    """The play with what came on its connections in the place of those that came."""
    port = str(port)
    kinds = [found[kind][port] for kind in ("answered", "in_vain", "reset")]
    return {**found, "load": {**found["load"], port: [sum(some) for some in zip(*kinds)]}}


def per_second(found, name, port, start, end):
    """The mean of a count at a server between two moments, per second."""
    count = found[name][str(port)][int(start * 10):int(end * 10)]
    return sum(count) * 10 / max(1, len(count))


def peak(found, port, start=0):
    """The most that came to a server within a second, from a moment on."""
    counts = found["load"][str(port)][int(start * 10):]
    return max((sum(counts[i:i + 10]) for i in range(max(1, len(counts) - 9))), default=0)


def back_after(found, port, rate, moment):
    """Seconds from a moment until the server answers nine of ten that are asked, for three seconds on end, and as
    much over all that is left; None: it never does."""
    answered = found["answered"][str(port)]
    for at in range(int(moment * 10), len(answered) - 29):
        if min(sum(answered[at:at + 30]) / 30, sum(answered[at:]) / (len(answered) - at)) >= 0.9 * rate / 10:
            return (at - moment * 10) / 10
    return None


def last_after(found, port, moment, count):
    """Seconds from a moment until so many were answered after it; None: fewer were."""
    done = 0
    for i, n in enumerate(found["answered"][str(port)][int(moment * 10):]):
        done += n
        if done >= count:
            return i / 10
    return None


def late(work):
    """Quantiles of the milliseconds of the later half of the work: by then what fails has been seen to fail."""
    times = sorted(ms for ms, _ in work["each"][len(work["each"]) // 2:])
    return {name: times[min(len(times) - 1, int(len(times) * share))] if times else 0
            for name, share in (("p50", 0.5), ("p99", 0.99), ("most", 1))}


def text_of(seconds):
    return "never" if seconds is None else f"{seconds:.1f} s"


def told_open(scene, rows):
    """The rows, with what is known to be wrong told as such: (variant, row, wrong, open). Listed is how its text
    begins, and why it is so; what chance decides may also be well."""
    known = scene.get("open", {})
    for variant, row, wrong in rows:
        begins, why = known.get(variant, (None, ""))
        still = [problem for problem in wrong if begins and problem.startswith(begins)]
        others = [problem for problem in wrong if problem not in still]
        if begins and not still and not why.startswith("by chance"):
            others.append(f"'{begins}' is listed as open ({why}), and is well now")
        yield variant, row, others, [f"{problem}. Known: {why}" for problem in still]


def disturbed(load, cores):
    """What is to be told of a machine that others keep busy before anything is played: programs that do not get to
    run are no storm, and look as if something held them. (Load 200 on two cores: half of what the scene dns asks.)"""
    if load <= 2 * cores:
        return ""
    return f"others keep this machine busy (load {load:.0f} on {cores} cores): what fails here may be their doing"
