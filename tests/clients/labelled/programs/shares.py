# SPDX-License-Identifier: MIT
"""Loops of many processes, which share one budget: each process makes one try or two, and only what is
known of the others says what that try is."""

from client import driver

# Where nothing is ever answered they would go on for ever.
ENDING = ("none", "5 %", "20 %", "50 %", "outage")


def shared(name, *command, share="", fresh=True, units=100, **more):
    settings = "scope = user" + (f"\nshare = {share}" if share else "")
    return driver(f"share: {name}", *command, settings=settings, fresh=fresh, units=units,
                  conditions=ENDING, why_not="it goes on until it is answered", shares=True, **more)


def scheduled(name, how, program, **more):
    return shared(name, ["bash"], "schedule.bash", how, program, **more)


PYTHON = ["/usr/bin/python3", "-B"]
CLIENTS = [
    shared("subshells", ["bash"], "subshell.bash"),
    shared("supervisor, at once", PYTHON, "supervisor.py", "restart"),
    shared("units, restarted", PYTHON, "supervisor.py", "unit"),
    shared("cron", PYTHON, "supervisor.py", "cron", share="jobs", units=60),
    # Nothing tells the run that comes with the clock from one that tries again what has failed.
    shared("cron, one command", PYTHON, "supervisor.py", "due", share="jobs", units=60, retries=False),
    shared("units, one command", PYTHON, "supervisor.py", "same"),
    shared("farm, two services", PYTHON, "farm.py", units=60),
    shared("farm, forked", PYTHON, "farm_forked.py", "kept", units=150),
    shared("farm, forked anew", PYTHON, "farm_forked.py", "anew", units=150),
    scheduled("xargs -P", "xargs", "curl"),
    scheduled("make -j", "make", "curl"),
    # Of its two requests the second may fail alone: then what was answered is asked for again.
    scheduled("CI jobs, git", "sessions", "git", protocol="git", fresh=False),
    scheduled("two programs", "programs", ""),
]
