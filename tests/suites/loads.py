# SPDX-License-Identifier: MIT
"""Loads instead of tests: stress-ng's stressors of the socket calls, and databases with their own
benchmarks, server and client under the shim."""

import os

import results
from catalog import PYTHON, Part

HERE = os.path.dirname(os.path.abspath(__file__))

# Each with its own check of what came through (--verify). One after the other: most of them take a
# processor, and some all the ports.
STRESS = {
    "sockets": "sock sockabuse sockdiag sockfd sockpair sockmany",
    "datagrams": "udp udp-flood rawsock rawudp rawpkt icmp-flood ping-sock",
    "events": "epoll poll eventfd pipe pipeherd splice tee vm-splice sendfile timerfd",
    "descriptors": "dup close open fcntl fifo handle lockofd io-uring aio",
    "processes": "fork vfork clone exec daemon zombie spawn pthread ptrace seccomp unshare",
    "signals": "alarm itimer sigpipe sigsuspend sigfd sigio signest kill longjmp switch",
}
SCRIPT = """for stressor; do
    stress-ng --verify --metrics --no-rand-seed --timeout 1 --$stressor 1 || echo "exit $?"
done"""


def stress():
    for name, stressors in STRESS.items():
        command = ["sh", "-c", SCRIPT, "stress", *stressors.split()]
        yield Part("stress-ng", name, command, results.stress,
                   weight=2 * len(stressors.split()))


def databases():
    program = [PYTHON, os.path.join(HERE, "databases.py")]
    for name in ("redis", "postgresql"):
        yield Part("databases", name, [*program, name], results.checks, weight=40,
                   healthy=True)


def suites():
    return {"stress-ng": stress(), "databases": databases()}
