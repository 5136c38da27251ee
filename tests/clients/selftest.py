# SPDX-License-Identifier: MIT
"""The comparison of the matrix (matrix.py) held against runs whose verdict is known, and its part that
`make check` plays (cover.py) against what that must cover."""

import contextlib
import io

import cover
import matrix
import tools
from catalog import WAYS
from errors import meanings

CLIENT, WAY = next(c for c in tools.clients() if c.name == "haproxy"), "refused"


def run(meanings, ended=None, problems=()):
    return {"attempts": 9, "watched": 1.0, "meanings": meanings, "said": "x", "ended": ended,
            "problems": list(problems)}


QUIET, LOUD = run(["refused"]), run(["refused", "odd"])
CRASHED, HANGS = run(["refused"], -11), run(["refused"], None, ["hangs"])
WORKER = run(["refused", "crash"])
BELIEVES = {**run(["refused"]), "believes": "half a page"}

# What is known: the first pair, then those that are run again, and whether it is a failure.
SCENES = {
    "like bare": ((QUIET, QUIET), (), False),
    "never like bare": ((QUIET, LOUD), (QUIET, LOUD), True),
    "unlike bare for the second time": ((QUIET, LOUD), (QUIET, QUIET, QUIET, LOUD), True),
    "unlike bare once": ((QUIET, LOUD), (QUIET, QUIET, QUIET, QUIET), False),
    "bare is like it at times": ((QUIET, LOUD), (LOUD, LOUD, QUIET, LOUD), False),
    "less than bare": ((LOUD, QUIET), (), False),
    "a crash, once": ((QUIET, CRASHED), (QUIET, QUIET, QUIET, QUIET), True),
    "a crash that it speaks of, once": ((QUIET, WORKER), (QUIET, QUIET, QUIET, QUIET), True),
    "takes half an answer for a whole one, once":
        ((QUIET, BELIEVES), (QUIET, QUIET, QUIET, QUIET), True),
    "believes it bare at times": ((QUIET, BELIEVES), (BELIEVES, QUIET, QUIET, QUIET), False),
    "believes it bare too": ((BELIEVES, BELIEVES), (), False),
    "bare it crashes and says less": ((CRASHED, LOUD), (QUIET, QUIET, QUIET, QUIET), False),
    "crashes bare too": ((CRASHED, CRASHED), (), False),
    "crashes when run again": ((QUIET, LOUD), (QUIET, CRASHED), True),
    "hangs when run again": ((QUIET, LOUD), (QUIET, HANGS), True),
}


def cell(pair):
    """The two cases of a client, with results of their own."""
    return [
        {"id": f"matrix/{CLIENT.name}/{WAY}", "kind": "matrix", "phase": "loud",
         "client": CLIENT.name, "failure": WAY, "shim": shim, "result": {**result, "problems": list(result["problems"])}}
        for shim, result in enumerate(pair)
    ]


def not_covered(clients):
    """What the part of the matrix leaves out, in words."""
    chosen = cover.choose(clients)
    pairs = [(c.name, way) for c in clients for way in (*c.failures, *c.further)]
    wrong = [f"{client} meets nothing {WAYS[way].nature}" for client, way in pairs
             if not any(c == client and WAYS[w].nature == WAYS[way].nature for c, w in chosen)]
    wrong += [f"nobody meets {way}" for _, way in pairs if not any(w == way for _, w in chosen)]
    wrong += [f"has found something, and is left out: {pair}" for pair in cover.known()
              if pair not in chosen]
    return sorted(set(wrong))


def judge(clients):
    """Plays every scene; (passed, failed)."""
    wrong = []
    for name, (pair, further, failure) in SCENES.items():
        done, left = cell(pair), list(further)
        with contextlib.redirect_stdout(io.StringIO()):
            matrix.compare(done, [CLIENT], lambda case, left=left: left.pop(0))
        if bool(done[1]["result"]["problems"]) != failure or left:
            wrong.append(name)
    if meanings("socat[503] E connect: Connection timed out") != {"timeout"} or meanings("HTTP 503") != {"error"}:
        wrong.append("the number of a process is taken for a status")
    if left_out := not_covered(clients):
        wrong.append("; ".join(left_out))
    for name in wrong:
        print(f"FAIL selftest: {name}")
    return len(SCENES) + 2 - len(wrong), len(wrong)
