# SPDX-License-Identifier: MIT
"""The herd in full: tests/herd/run --whole, which has its own plays and judge, as a chapter of the report. By the
defaults and scope = user: two hundred programs that loop, of C and of Python, a minute without their server, and then
one that takes 200, or 50, in a second and collapses above three times that; sixty shells; a thousand threads of one
process; two thousand processes. What reaches the server in the outage is held to an eight hundredth of bare. All are
back within 12 s of the return of a server that takes 200 in a second, and of the other within 1.3 times the least
possible after its first answer."""

import json
import os
import re
import subprocess

NAME, TITLE = "herd-whole", "A herd in full"
TAKES, LIMIT = 300, 1200  # s: usually, and at most
RUN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "herd", "run")
PLAYED = re.compile(r"(?P<name>.*): (?P<attempts>\d+) attempts, (?P<rate>[\d.]+)/s; after the return"
                    r" (?P<back>\d+ of \d+) back in (?P<after>[\d.]+) s, (?P<ramp>[\d.]+) s after the first answer;"
                    r" at most (?P<most>\d+) arrived in a second, (?P<collapses>\d+) collapses")
LAST = re.compile(r"(\d+) passed, (\d+) failed, \d+ skipped")


def rows_of(text):
    """A row for each play, as it came out in the end, with what is wrong with it; and with the run itself."""
    rows, wrong, problems = {}, {}, []
    for line in text.splitlines():
        if played := PLAYED.fullmatch(line):
            came, count = map(int, played["back"].split(" of "))
            if played["name"] == "bare" and (came == count or played["collapses"] == "0"):
                wrong["bare"] = ["all are back, or nothing collapsed: that is no storm"]
            rows[played["name"]] = {
                "attempts": int(played["attempts"]), "in the outage /s": float(played["rate"]), "back": played["back"],
                "all back after": f"{played['after']} s" if came == count else "never",
                "since the first answer": f"{played['ramp']} s" if came == count else "never",
                "peak after it /s": int(played["most"]), "collapses": int(played["collapses"])}
        elif line.startswith("herd: ") and "played again, alone" not in line:
            name, _, problem = line[len("herd: "):].rpartition(": ")
            wrong.setdefault(name, []).append(problem)
    last = LAST.search(text)
    if not last:
        problems.append("it did not come to its end: " + (text.strip().splitlines() or ["no word"])[-1])
    elif int(last[2]) != len(wrong.keys() - {"bare"}):
        problems.append(f"{last[2]} failed, and {', '.join(wrong) or 'none'} is told of")
    problems += [f"{name}: {'; '.join(some)}" for name, some in wrong.items() if name not in rows]
    found = [(name, row, wrong.get(name, []), []) for name, row in rows.items()]
    return found + ([("the run itself", {}, problems, [])] if problems else [])


def play(options, out):
    """Plays it, and keeps what it printed."""
    command = [RUN, "--whole", "--build", options.build, "--shim", options.shim]
    try:
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=False).stdout
    except subprocess.TimeoutExpired:
        text = f"it took longer than {LIMIT} s"
    with open(os.path.join(out, NAME + ".json"), "w", encoding="utf-8") as file:
        json.dump(text, file)
    return text


SCENE = {"title": TITLE, "headline": ("bare", "200/s", ("in the outage /s", "attempts in the outage /s"),
                                      ("all back after", "all back after"))}


def kept(out):
    """What it printed last, or None."""
    path = os.path.join(out, NAME + ".json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)
