# SPDX-License-Identifier: MIT
"""The traps: for each a program that steps on it, and how closely its system calls are compared.

calls:     "same"   one after the other, task by task
           "kinds"  scheduling decides about number and order: only no kind that bare does not make
           None     not traced: too many calls, or a filter that strace itself would change
few:       arguments for the traced run, where the usual ones would take too long, and for inside.py
traced:    arguments for the traced run alone, where the clock decides what the usual ones do
talkative: inside.py runs it once more where it is refused and writes records, "lost" if they
           cannot be written; "admitted": with records, but its retries let through, since it ends
           where one is refused
records:   words of which each must stand in a record of its run in enforce
own_memory: a program whose allocator would hide the tripwire's
"""

import os

# Refused but for three retries: the first repeat, which goes at once, and two that what spins is let
# make after a hold; the next hold ends in a refusal. A hold is longer than the alarms of wait_jump
# and lookup_jump, and than fork_in_wait takes to fork.
HARD = """base = 100ms
factor = 1
cap = 100ms
jitter = none
min = 1ms
capacity = 3
floor = 0/s
probe = 60s
hold = 1s
"""
# Every attempt and every refusal is a record.
ALL_RECORDS = "attempts = on\ninterval = 0\n"


def trap(section, program, *arguments, name=None, calls="same", **more):
    """One row. Programs without a folder are those of tests/contract."""
    path = program if "/" in program else f"contract/{program}"
    words = [os.path.basename(program), *arguments]
    return {
        "section": section,
        "name": name or " ".join(words),
        "program": path,
        "arguments": arguments,
        "calls": calls,
        **more,
    }


def all_traps(build):
    """Every row, in the order of shim/HAZARDS.md."""

    def library(name):
        return os.path.join(build, "contract", name)

    rows = [
        # loading and initialisation
        trap("constructors", "static_objects", name="C++ objects of the program", talkative=True),
        trap("constructors", "static_objects", name="and of a preload constructed before us",
             after=[library("static_objects.so")]),
        trap("constructors", "static_objects", name="and of one constructed after us",
             first=[library("static_objects.so")]),
        trap("constructors", "probe/early", name="every call, before our constructor",
             after=[library("early.so")]),
        trap("constructors", "probe/early", name="an allocator that starts within dlsym",
             after=[library("early-malloc.so")], calls=None,
             own_memory=True),
        trap("loading", "loaded", calls="kinds"),
        trap("loading", "probe/calls_load", calls=None),
        # errno, signals, cancellation
        trap("calls", "probe/calls_connect", calls="kinds", talkative=True),
        trap("calls", "probe/calls_data"),
        trap("calls", "probe/calls_fd"),
        trap("calls", "probe/calls_batch"),
        trap("calls", "probe/calls_number", calls=None),
        trap("calls", "probe/calls_lookup", calls=None),
        trap("calls", "probe/calls_time64"),
        trap("calls", "fortified"),
        trap("signals", "storm", name="storm of SIGALRM, a million calls", calls="kinds",
             few=["20000"], seconds=120),
        trap("signals", "probe/cramped", "handler", name="handler on an 8 KiB stack",
             traced=["handler", "twice"]),
        trap("signals", "probe/wait_jump", calls=None, talkative=True),
        trap("signals", "probe/lookup_jump", calls=None, talkative=True),
        # fork, exec, exit
        *(trap("children", "children", way)
          for way in ("vfork", "spawn", "popen", "system", "bare-fork", "raw-fork",
                      "shared-memory")),
        trap("children", "probe/vfork_close"),
        trap("children", "probe/vfork_range", "loop"),
        trap("children", "probe/fork_in_wait", calls="kinds", talkative=True),
        trap("exec", "exec_over", name="exec with and without CLOEXEC"),
        trap("exec", "probe/unseen", "exec-connected", "echo", "4", calls=None),
        *(trap("daemons", "daemons", way, name=name)
          for way, name in (("libc", "daemon(0, 0)"), ("libc-keep", "daemon(1, 1)"),
                            ("double", "double fork"))),
        *(trap("exit", "endings", way, calls="kinds" if way == "thread" else "same")
          for way in ("exit", "on-exit", "quick", "raw", "abort", "thread", "signal")),
        # descriptors
        trap("descriptors", "probe/daemon_close", "loop", name="all closed and used again, loop",
             calls=None),
        trap("descriptors", "probe/daemon_close", "range",
             name="all closed and used again, close_range", calls=None),
        trap("descriptors", "probe/fd_reuse"),
        trap("descriptors", "probe/dup_family", talkative=True),
        trap("descriptors", "churn", calls="kinds", few=["100"]),
        trap("descriptors", "passing", name="SCM_RIGHTS"),
        trap("descriptors", "probe/unseen", "passed", "echo", "4", calls=None),
        trap("descriptors", "high_numbers", "low"),
        trap("descriptors", "high_numbers", "table"),
        trap("descriptors", "high_numbers", "million", name="numbers near one million"),
        trap("descriptors", "probe/cramped", "closed", name="0, 1 and 2 closed", talkative=True,
             traced=["closed", "twice"]),
        # little room
        trap("room", "probe/cramped", "limit", name="ulimit -n 8, one number left",
             talkative="lost", traced=["limit", "twice"]),
        trap("room", "limits", "few", name="ulimit -n 4, 5 and 8 from the start", calls=None),
        trap("room", "limits", "space", name="RLIMIT_AS from the start", calls=None, seconds=120),
        trap("room", "limits", "full", name="RLIMIT_AS at what is in use", calls="kinds"),
        trap("room", "limits", "data", name="RLIMIT_DATA", calls=None),
        trap("room", "limits", "files", name="RLIMIT_FSIZE", calls=None),
        trap("room", "limits", "locked", name="mlockall", calls="kinds"),
        trap("room", "probe/cramped", "thread", name="16 KiB of stack in a thread", calls="kinds",
             traced=["thread", "twice"]),
        trap("room", "contexts", name="swapcontext on 16 KiB", calls="kinds", talkative=True),
        trap("room", "crowds", name="10,000 threads come and gone", calls="kinds", few=["300"],
             seconds=120),
        # another place, fewer rights
        trap("rights", "probe/cramped", "drop", name="setuid drop", talkative=True,
             traced=["drop", "twice"]),
        trap("rights", "probe/cramped", "chroot", talkative="lost",
             traced=["chroot", "twice"]),
        *(trap("rights", "spaces", way, name=f"unshare, {way}", calls="same")
          for way in ("net", "user", "pid", "rest")),
        *(trap("sandboxes", "sandbox", way, name=name)
          for way, name in (("server", "seccomp, a server's list"),
                            ("client", "seccomp, a client's list"),
                            ("loops", "seccomp, a client's list, forty refusals"),
                            ("twice", "seccomp, two filters"),
                            ("pipes", "seccomp, strict, pipes"),
                            ("no-network", "seccomp, no network"))),
        # the data calls, and all that a host has set
        trap("traffic", "probe/healthy"),
        *(trap("traffic", "probe/asked", way)
          for way in ("recvfrom", "recvmsg", "recvmmsg", "fork", "vfork", "log", "client", "connected")),
        trap("traffic", "probe/nonblock", calls=None, talkative=True),
        trap("traffic", "probe/unix_kinds", "@folder", calls=None, talkative="admitted"),
        trap("traffic", "probe/tell_data", calls=None, talkative="admitted"),
        trap("traffic", "probe/tell_number", calls=None, talkative="admitted"),
        trap("settings", "host_state", name="settings of every kind"),
        trap("settings", "host_state", name="and refusals, holds and records", policy=HARD,
             log="interval = 500ms\n", calls="kinds", records=["event=throttled", "waited_ms="]),
    ]
    return rows
