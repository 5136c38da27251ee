# SPDX-License-Identifier: MIT
"""Runs a guest bare and under the shim on the same stage, the laboratory of the real clients, and
says what differs."""

import os
import re
import signal
import subprocess
import threading
import time

from catalog import NAME, PATH, PORT
from lab import die_with_parent, wait_until

OUTAGE = 2.5  # seconds that a storm is watched where it is limited
STORM = 60  # attempts to which it comes elsewhere
LIMIT = 15  # seconds in which it does, even behind a proxy on a slow machine
TIME_LIMIT = 60  # seconds; whoever needs them for a whole run is locked out, or hangs
# The first try, a full bucket, what time adds, a probe; and as much again for a slow machine.
BOUND = 20
PARKED = re.compile("polling: ETIMEDOUT (?=E)")
# socket_wrapper says so while its server is about to listen: who asks seldom may miss that moment.
MOMENT = re.compile("(?<=E[A-Z]{11}) EHOSTUNREACH(?=, then)")
POLICY = """[destination default]
capacity = 5
floor = 0.5/s
base = 50ms
min = 20ms
cap = 1s
probe = 3s
"""


def configuration(lab, policy=POLICY, trace=0, general=""):
    log = f"[log]\ntarget = syslog\nsocket = {lab.log.path}\ntrace = {trace}\n"
    return f"[retrybudget]\nreload = 0\n{general}{log}{policy}"


def environment(lab, preload, text=None, extra=None):
    """For a guest with these libraries, and a configuration if the shim is among them."""
    env = {"PATH": PATH, "HOME": lab.folder, "LC_ALL": "C.UTF-8", **(extra or {})}
    if preload:
        env["LD_PRELOAD"] = preload
    if text:
        path = os.path.join(lab.folder, "retrybudget.ini")
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(path, 0o644)
        env["RETRYBUDGET_CONFIG"] = path
    return env


class Said:
    """What a run left behind."""

    def __init__(self):
        self.lines, self.errors, self.code, self.attempts, self.why = [], "", None, [], ""

    def differs_from(self, bare):
        if self.why:
            return [self.why]
        found = []
        if self.lines != bare.lines:
            pairs = zip(self.lines + ["(nothing)"] * 99, bare.lines + ["(nothing)"] * 99)
            here, there = next(p for p in pairs if p[0] != p[1])
            found.append(f"prints {here!r}, bare {there!r}")
        if self.errors != bare.errors:
            found.append(f"stderr {self.errors[-400:]!r}, bare {bare.errors[-400:]!r}")
        if self.code != bare.code:
            found.append(f"exit {self.code}, bare {bare.code}")
        return found


def run_plain(lab, command, env, seconds=TIME_LIMIT):
    """A program that needs no driver."""
    said = Said()
    try:
        done = subprocess.run(
            command, env=env, cwd=lab.folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", timeout=seconds, check=False, start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        said.why = f"not done after {seconds} s"
        return said
    said.lines, said.errors, said.code = done.stdout.splitlines(), done.stderr, done.returncode
    return said


class Outage:
    """How a server is stopped and started, and attempts at it are counted."""

    def __init__(self, lab):
        self.lab = lab

    def stop(self):
        self.lab.server_mode("down")

    def start(self):
        self.lab.server_mode("healthy")

    def count(self):
        return self.lab.syns.count(PORT)


def run_guest(lab, command, env, outage, limited, during=None):
    """guest.c, through its storms: in each the server is away for OUTAGE, or, where nothing limits
    them, until a storm it is. during: called in the midst of each."""
    said = Said()
    outage.start()
    process = subprocess.Popen(
        command, env=env, cwd=lab.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
        preexec_fn=die_with_parent,
    )
    late = threading.Event()

    def give_up():
        late.set()
        os.killpg(process.pid, signal.SIGKILL)

    watchdog = threading.Timer(TIME_LIMIT, give_up)
    watchdog.start()
    reader = threading.Thread(target=lambda: setattr(said, "errors", process.stderr.read()))
    reader.start()
    try:
        for line in process.stdout:
            said.lines.append(line.rstrip("\n"))
            if line != "storm\n":
                continue
            outage.stop()
            before = outage.count()
            process.stdin.write("go\n")
            process.stdin.flush()
            time.sleep(OUTAGE / 2 if limited else 0.2)
            if during:
                during()
            if limited:
                time.sleep(OUTAGE / 2)
            else:
                wait_until(lambda start=before: outage.count() - start >= STORM, LIMIT)
            said.attempts.append(outage.count() - before)
            outage.start()
        said.code = process.wait()
    except BrokenPipeError:
        said.code = process.wait()
    finally:
        watchdog.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join()
    if late.is_set():
        said.why = f"hangs or is locked out; printed {said.lines}"
    return said


def compare(bare, said, limited=True, bound=BOUND):
    """What is wrong with a run of guest.c under the shim."""
    problems = [f"bare: {p}" for p in [bare.why] if p]
    if not problems and (bare.code != 0 or bare.lines[-1:] != ["bye"]):
        problems.append(f"bare: exit {bare.code}, {bare.lines} {bare.errors[-400:]}")
    if not problems and min(bare.attempts) < STORM:
        problems.append(f"bare: no storm, {bare.attempts} attempts")
    # Whoever polls is parked, and is told so in its own way.
    said.lines = [MOMENT.sub("", PARKED.sub("polling: ", line)) for line in said.lines]
    bare.lines = [MOMENT.sub("", line) for line in bare.lines]
    problems += said.differs_from(bare)
    if limited and max(said.attempts, default=0) > bound:
        problems.append(f"a storm of {said.attempts} attempts")
    if limited and min(said.attempts, default=0) < 1:
        problems.append(f"attempts were not counted: {said.attempts}")
    if not limited and min(said.attempts, default=0) < STORM:
        problems.append(f"limited where it was not expected: {said.attempts} attempts")
    return problems


def summary(bare, said):
    return f"{said.attempts} attempts, bare {bare.attempts}"


def guest_words(build, address="127.0.0.1", port=PORT, name=NAME, program="guest"):
    return [os.path.join(build, "guests", program), address, str(port), name, "nxdomain.test"]
