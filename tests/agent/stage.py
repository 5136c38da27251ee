# SPDX-License-Identifier: MIT
"""What the tests of retrybudgetd share: a stage with real programs on it, and how checks are played. Every
check is one function, given a stage; a check that breaks prints what it saw."""

import argparse
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

CLIENT = """
import socket, sys
made = 0
for _ in range(int(sys.argv[3])):
    made += 1
    where = sys.argv[2]
    kind = socket.AF_UNIX if where.startswith("/") else socket.AF_INET
    s = socket.socket(kind)
    try:
        s.connect(where if kind == socket.AF_UNIX else ("127.0.0.1", int(where)))
        s.close()
    except OSError:
        s.close()
print(made, flush=True)
sys.stdin.readline()
"""
WAIT = 20  # seconds for anything that has to come
WHEN_QUIET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/when-quiet")
AGAIN = 2  # plays of a check that failed
CRASHES = {-signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL, -signal.SIGSEGV, -signal.SIGSYS}
checks = []


def check(function):
    checks.append(function)
    return function


class Broken(Exception):
    pass


def expect(truth, *what):
    if not truth:
        raise Broken(" ".join(str(w) for w in what))


class Stage:
    """The built files, a folder, and what was started from them."""

    def __init__(self, build):
        self.daemon = os.path.join(build, "retrybudgetd")
        self.library = os.path.join(build, "libretrybudget.so")
        self.folder = tempfile.mkdtemp(prefix="retrybudgetd-")
        self.started, self.sockets, self.crashed = [], [], []
        self.settings = os.path.join(self.folder, "ini")
        with open(self.settings, "w") as file:
            file.write("[log]\ntarget = none\n")

    def close(self):
        for process in self.started:
            if process.poll() in CRASHES:
                self.crashed.append(process.args)
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.started.clear()
        while self.sockets:
            self.sockets.pop().close()

    def client(self, where, tries, name=None, text=CLIENT):
        """A program under the library that has made its tries and waits; and how many it made."""
        name = name or "c" + uuid.uuid4().hex[:10]
        script = os.path.join(self.folder, name)
        with open(script, "w") as file:
            file.write(text)
        environment = dict(os.environ, LD_PRELOAD=self.library, RETRYBUDGET_CONFIG=self.settings)
        process = subprocess.Popen([name, script, name, where, str(tries)],
                                   executable="/usr/bin/python3", stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   env=environment)
        self.started.append(process)
        return process, int(process.stdout.readline())

    def listener(self):
        """A socket that takes connections, and never accepts one."""
        self.sockets.append(socket.create_server(("127.0.0.1", 0), backlog=64))
        return self.sockets[-1]

    def end(self, process):
        process.communicate("\n", timeout=WAIT)
        self.started.remove(process)

    def serve(self, *arguments):
        """A daemon; its port, once it answers."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        process = subprocess.Popen([self.daemon, "--listen", f"127.0.0.1:{port}", *arguments],
                                   stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            try:
                get(port, "/nothing")
                return process, port
            except OSError:
                time.sleep(0.02)
        raise Broken("the daemon does not listen:", process.poll())

    def once(self, *arguments):
        return subprocess.run([self.daemon, "--once", *arguments], capture_output=True, text=True,
                              timeout=WAIT, check=False)


def get(port, path, method="GET", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{port}")
    connection.endheaders()
    reply = connection.getresponse()
    return reply.status, reply.read().decode()


def program_of(process):
    return os.path.basename(process.args[0])


def dead_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def play(function, build):
    """Plays a check on a stage of its own. Returns how it ended ("crashed": a program did), and why."""
    stage = Stage(build)
    try:
        skipped = function(stage)
        ended, why = "skipped" if skipped else "passed", skipped
    except (Broken, OSError, ValueError, LookupError, subprocess.SubprocessError, http.client.HTTPException) as error:
        ended, why = "failed", f"{type(error).__name__}: {error}"
    finally:
        stage.close()
        shutil.rmtree(stage.folder, ignore_errors=True)
    if stage.crashed:
        return "crashed", f"{stage.crashed}; {why or ''}"
    return ended, why


def settle(function, build):
    """The same. What failed is played twice more, and passes if it does so both times: something else kept
    the machine busy. What it said at first is told all the same. A crash counts at once."""
    ended, why = play(function, build)
    if ended == "failed":
        subprocess.run([WHEN_QUIET], check=True)
        again = [play(function, build) for _ in range(AGAIN)]
        if all(end == "passed" for end, _ in again):
            return "passed", f"but once not: {why}"
        why += "".join(f"\n    again: {end} {said or ''}" for end, said in again)
    return ("failed" if ended == "crashed" else ended), why


def main(what):
    """what: for --help. Returns the exit status."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--build", default="build")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for function in checks:
        if options.filter not in function.__name__:
            continue
        ended, why = settle(function, os.path.abspath(options.build))
        print(f"{function.__name__:40} {'FAILED' if ended == 'failed' else ended}{f': {why}' if why else ''}",
              flush=True)
        count[ended] += 1
    print(", ".join(f"{n} {what}" for what, n in count.items()))
    return 1 if count["failed"] else 0
