# SPDX-License-Identifier: MIT
"""The part of the matrix that `make check` plays. The whole is every client against every way of
failing that it can meet; this covers every client against each nature of failure that it can meet,
every way of failing, and each pair that has ever found something."""

import os

from catalog import WAYS

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pairs.txt")


def known():
    """The pairs of the list. A client's name may hold a slash."""
    with open(LIST, encoding="ascii") as file:
        lines = [line.strip() for line in file]
    return [tuple(line.rpartition("/")[::2]) for line in lines if line and line[0] != "#"]


def covered_by(client, way):
    """What a pair stands for."""
    return {("client", client.name, WAYS[way].nature), ("way", way)}


def choose(clients):
    """The pairs, as a set. Always the same for the same clients: the pair that covers most of what is
    open comes next, among equals that of the rarest way."""
    able = {(c.name, way): covered_by(c, way) for c in clients for way in (*c.failures, *c.further)}
    chosen = known()
    if unknown := [pair for pair in chosen if pair not in able]:
        raise ValueError(f"pairs.txt: no such pair: {unknown}")
    open_still = set().union(*able.values()).difference(*(able[pair] for pair in chosen))
    while open_still:
        times = {way: sum(way == w for _, w in chosen) for way in WAYS}
        best = max(able, key=lambda pair: (len(able[pair] & open_still), -times[pair[1]]))
        chosen.append(best)
        open_still -= able[best]
    return set(chosen)


def of_cases(cases, clients):
    """The cases without the pairs that were not chosen. How a client speaks of silence, bare, is asked
    for wherever it is parked (matrix.compare)."""
    chosen = choose(clients)
    kept = []
    for case in cases:
        pair = case.get("client"), case.get("failure")
        of_matrix = case["kind"] in ("outage", "matrix") and case.get("pace") != "default"
        silence = pair[1] == "silent" and not case.get("shim", True)
        if not of_matrix or pair in chosen or silence:
            kept.append(case)
    return kept
