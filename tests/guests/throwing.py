# SPDX-License-Identifier: MIT
"""Exceptions, cancellation and pthread_exit: three kinds of hosts, with and without call sites in the
records (libunwind beside the host's own unwinder)."""

import os

from catalog import PORT
from lab import Helper
from stage import configuration, environment, run_plain

HOSTS = {
    "c++": ["thrower"],
    "c++-static-libgcc": ["thrower-static-libgcc"],
    "c-with-plug-in": ["plugged", "thrower.so"],
}
ACTIONS = (
    "throw", "throw-through-fclose", "cancel-connect", "cancel-connect-wait", "cancel-read",
    "cancel-lookup", "cancel-lookup-wait", "exit",
)
TRACES = (0, 4)
# The holds that are cancelled are longer than the test, the others short.
SHORT = """[destination default]
capacity = 50
base = 20ms
min = 10ms
cap = 50ms
"""
LONG = """[destination default]
hold = 10s
base = 5m
min = 5m
cap = 5m
probe = 1h
jitter = none
"""
# The first try goes, and one more, for the failure that begins a streak draws no gate; ten in a row are
# refused, the next is seen to spin, and the one after that, seen again, is held.
HELD = 14


def tries(lab, name):
    """The file that the program writes the number of its tries to, and how to read it."""
    path = os.path.join(lab.folder, f"tries-{name}")

    def read():
        with open(path, encoding="ascii") as f:
            return int(f.read())
    return {"THROWER_TRIES": path}, read


def run(lab, build, shim, action, trace, host):
    """One action in one kind of host."""
    servers = []  # each ends when nobody holds it
    for place, mode in enumerate(("healthy", "hang", "silent"), 1):
        servers.append(
            Helper(os.path.join(build, "clients", "server"), str(PORT + place), mode))
    lab.server_mode("down")
    policy = LONG if action.endswith("-wait") else SHORT
    words = [os.path.join(build, "guests", word) for word in HOSTS[host]] + [action]
    extra, tries_bare = tries(lab, "bare")
    bare = run_plain(lab, words, environment(lab, "", None, extra))
    before = len(lab.log.records)
    extra, tries_shim = tries(lab, "shim")
    said = run_plain(lab, words, environment(lab, shim, configuration(lab, policy, trace), extra))
    records = lab.log.fields()[before:]
    problems = said.differs_from(bare)
    if bare.why or bare.code != 0 or "wrong" in " ".join(bare.lines):
        problems.append(f"bare: {bare.why} exit {bare.code}, {bare.lines} {bare.errors}")
    # No test of anything, unless the shim was at work in it.
    retries = [r for r in records if r.get("event") in ("retrying", "throttled")]
    if action in ("throw", "exit") and not retries:
        problems.append("the shim has seen no retry")
    note = ""
    if action.endswith("-wait") and not problems:
        note = f"; {tries_shim()} tries, bare {tries_bare()}"
        if tries_shim() != HELD or tries_bare() <= HELD:
            problems.append(f"not cancelled in a hold{note}")
    if trace and not all("site" in r for r in retries):
        problems.append(f"a record without its site: {retries}")
    return {"problems": problems, "note": "; ".join(said.lines) + note}
