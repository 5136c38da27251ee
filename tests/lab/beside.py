# SPDX-License-Identifier: MIT
"""The simulator beside a play: `retrybudget simulate` plays the scenario of the same name with the lab's numbers, and
what it says is held against what was measured."""

import functools
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# How far it may be off: a share of what was measured, or so many (attempts a second, answers a second, seconds, ms).
# Where a scene says `work`, what its clients get is compared, and how late, and not what one server gives.
SEEDS = 5
TOLERANCE = {"load": (0.25, 5), "goodput": (0.15, 4), "recovery": (0.25, 4), "p99": (0.25, 100)}


def simulate(options, scene, one):
    """What came of one variant by each of the seeds, as play.py tells it."""
    return [simulate_once(options, scene, one, seed) for seed in range(1, SEEDS + 1)]


@functools.cache  # it plays all variants at once
def answer(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def simulate_once(options, scene, one, seed):
    sim, own = scene["sim"], one["sim"]
    settings = {**sim["set"], **own.get("set", {}), "scenario.duration": f"{one['seconds']}s",
                "scenario.step": "100ms", "scenario.seed": seed}
    command = [os.path.join(options.build, "retrybudget"), "simulate", "--json", "--threads", "1", "--scenario",
               os.path.join(ROOT, "conf", "scenarios", sim["scenario"] + ".ini")]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    for variant in answer(tuple(command)):
        if variant["name"] == own["variant"]:
            steps = variant["steps"]
            return {"seconds": one["seconds"],
                    "load": {str(scene["plot"]): [step[2] for step in steps]},
                    "answered": {str(scene.get("answers", scene["plot"])): [step[1] for step in steps]},
                    "work": {"work": {"ok": sum(step[1] for step in steps), "p99": variant["p99"] * 1e3}}}
    raise RuntimeError(f"{sim['scenario']}.ini has no variant {own['variant']}")


def in_full(options, name):
    """A scenario of conf/scenarios as it stands there: by variant its metrics and what over_time() draws; what
    `retrybudget simulate` prints of it; and what is not as the scenario expects."""
    command = [os.path.join(options.build, "retrybudget"), "simulate", "--scenario",
               os.path.join(ROOT, "conf", "scenarios", name + ".ini")]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {variant["name"]: {**variant, "seconds": len(variant["steps"]) // 10,
                               "load": {"all": [step[2] for step in variant["steps"]]},
                               "answered": {"all": [step[1] for step in variant["steps"]]}}
             for variant in answer((*command, "--json", "--set", "scenario.step=100ms"))}
    return found, told.stdout, [told.stderr or "it is not as the scenario expects"] if told.returncode else []


def measures(scene, name, found):
    port, since = str(scene["plot"]), scene["sim"].get("since", 0)
    row = {"load": sum(found["load"][port][since * 10:]) / (found["seconds"] - since),
           "goodput": sum(found["answered"][str(scene.get("answers", port))][since * 10:]) / (found["seconds"] - since)}
    if scene["sim"].get("work"):
        work = found["work"]["work"]
        row |= {"goodput": work["ok"] / found["seconds"], "p99": work["p99"]}
    if "recovery" in scene:
        row["recovery"] = scene["recovery"](name, found)
    return row


def is_near(measured, simulated, tolerance):
    """Is what was measured between the least and the most of the seeds, or as near as the tolerance?"""
    known = [one for one in simulated if one is not None]
    if measured is None or not known:
        return None in simulated if measured is None else measured in simulated
    share, least = tolerance
    far = max(min(known) - measured, measured - max(known), 0)
    return far <= max(share * abs(measured), least)


def middle(values):
    """The median; "never" is more than any."""
    return sorted(values, key=lambda one: float("inf") if one is None else one)[len(values) // 2]


def spread(values, unit):
    """The median, and what the other seeds say where they do not agree. At an edge chance decides: a queue that is
    just too long for who waits makes a stall of seconds, one that is just short enough none."""
    show = ["never" if one is None else f"{one:.1f}" for one in
            sorted(values, key=lambda one: float("inf") if one is None else one)]
    said = middle(values)
    text = "never" if said is None else f"{said:.1f}{unit}"
    return text if show[0] == show[-1] else f"{text} ({show[0]} to {show[-1]})"


def error(measured, simulated):
    if measured is None or simulated is None:
        return "none" if measured is simulated else "not so"
    return f"{simulated - measured:+.1f}"


def tolerance_of(scene):
    found = {**TOLERANCE, **scene["sim"].get("tolerance", {})}
    left_out = {"recovery": "recovery" not in scene, "p99": not scene["sim"].get("work")}
    return {what: found[what] for what in found if not left_out.get(what)}


def unit_of(what):
    return {"recovery": " s", "p99": " ms"}.get(what, "/s")


def compare(scene, name, found, simulated):
    """A row for the report, and what is wrong with it."""
    tolerance = {**tolerance_of(scene), **scene["plays"][name]["sim"].get("tolerance", {})}
    real = measures(scene, name, found)
    seeds = [measures(scene, name, one) for one in simulated]
    row, wrong = {}, []
    for what, value in real.items():
        unit = unit_of(what)
        sim = [one[what] for one in seeds]
        show = ["never" if value is None else f"{value:.1f}{unit}", spread(sim, unit)]
        row[what] = show[0]
        row[f"{what}, simulated"] = show[1]
        row[f"{what}, error"] = error(value, middle(sim))
        if tolerance[what] and not is_near(value, sim, tolerance[what]):
            wrong.append(f"simulated {what} {show[1]}, measured {show[0]}: more than {tolerance_text(tolerance[what])} "
                         "apart")
    return row, wrong


def tolerance_text(tolerance):
    return f"{tolerance[0]:.0%} and {tolerance[1]:g}"
