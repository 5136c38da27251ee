# SPDX-License-Identifier: MIT
"""The programs of the soak, and the two worlds that they live in."""

import json
import os
import statistics
import subprocess
import sys

from lab import Helper, die_with_parent

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = "svc.test"
STYLES = ("loop", "kept", "thread", "fork", "churn", "epoll")
SERVERS = ("fork", "thread", "epoll")
RATES = {"fork": 4, "epoll": 10, "kept": 20}  # exchanges per second; the others 8

CONFIG = """
[retrybudget]
mode = enforce
scope = {scope}
share = soak
reload = 1s
[log]
socket = {log}
interval = 5s
trace = {trace}
attempts = {attempts}
[destination default]
base = 50ms
cap = 1s
probe = 2s
horizon = 20s
"""


class Program:
    """A process that is looked at every ten seconds."""

    def __init__(self, world, name, process):
        self.world, self.name, self.process = world, name, process
        self.samples = []  # (seconds, anonymous KiB, resident KiB, descriptors, threads)

    def sample(self, at):
        folder = f"/proc/{self.process.pid}"
        try:
            with open(f"{folder}/smaps_rollup", encoding="ascii") as f:
                sizes = dict(line.split(":", 1) for line in f if ":" in line and "kB" in line)
            anonymous, resident = (int(sizes[k].split()[0]) for k in ("Anonymous", "Rss"))
            descriptors = len(os.listdir(f"{folder}/fd"))
            threads = len(os.listdir(f"{folder}/task"))
        except (OSError, KeyError):
            return
        self.samples.append((at, anonymous, resident, descriptors, threads))

    def settled(self, warm_up):
        return [s for s in self.samples if s[0] >= warm_up]

    def quarters(self, column, warm_up):
        """The medians of the four quarters of the time, as a text."""
        values = [s[column] for s in self.settled(warm_up)]
        n = len(values) // 4 or 1
        parts = (values[i * n : i * n + n] or [0] for i in range(4))
        return ">".join(f"{statistics.median(part):.0f}" for part in parts)

    def growth(self, column, warm_up):
        """What a column grows by per hour: the median of the slopes between each sample of the
        first half and each of the second, so that single spikes count for nothing."""
        samples = self.settled(warm_up)
        half = len(samples) // 2
        slopes = [
            (b[column] - a[column]) / (b[0] - a[0])
            for a in samples[:half]
            for b in samples[-half:]
        ]
        return statistics.median(slopes) * 3600 if slopes else 0.0


class Server(Program):
    """With its orders."""

    def __init__(self, world, name, style, port):
        self.port = port
        binary = os.path.join(world.build, "soak", "server")
        env = world.environment()
        command = ["env", *(f"{k}={v}" for k, v in env.items()), binary, style, str(port), "7"]
        self.helper = Helper(*command)
        super().__init__(world, name, self.helper.process)

    def ask(self, order):
        return json.loads(self.helper.ask(order))


class Client(Program):
    """With what it says."""

    def __init__(self, world, name, command, environment):
        self.path = os.path.join(world.folder, f"{name}.out")
        with open(self.path, "wb") as out, open(self.path + ".err", "wb") as err:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                preexec_fn=die_with_parent,
            )
        super().__init__(world, name, process)

    def said(self):
        with open(self.path, encoding="utf-8") as f:
            lines = [line for line in f if line.endswith("}\n")]
        return json.loads(lines[-1]) if lines else {"ops": 0, "ok": 0, "crashed": 0, "errors": {}}

    def errors(self):
        with open(self.path + ".err", encoding="utf-8", errors="replace") as f:
            return f.read().strip()


class World:
    """One of the two: programs under the shim, or bare."""

    def __init__(self, name, build, folder, shim=None):
        self.name, self.build, self.shim = name, build, shim
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        self.log = os.path.join(self.folder, "log")
        self.base = 7000 if shim else 7100
        self.programs = []
        self.servers = {"well": [], "ill": []}

    def environment(self, scope="process", trace=0, attempts="off"):
        env = {"PATH": os.environ["PATH"], "HOME": self.folder, "LC_ALL": "C.UTF-8"}
        if self.shim:
            path = os.path.join(self.folder, f"{scope}-{trace}.ini")
            with open(path, "w", encoding="ascii") as f:
                text = CONFIG.format(scope=scope, log=self.log, trace=trace, attempts=attempts)
                f.write(text)
            env["LD_PRELOAD"] = self.shim
            env["RETRYBUDGET_CONFIG"] = path
        return env

    def start_servers(self):
        for health, first in (("well", 0), ("ill", 10)):
            for i, style in enumerate(SERVERS):
                port = self.base + first + i
                server = Server(self, f"server-{style}-{health}", style, port)
                self.servers[health].append(server)
                self.programs.append(server)

    def start_clients(self):
        binary = os.path.join(self.build, "soak", "client")
        for health, servers in self.servers.items():
            ports = [str(server.port) for server in servers]
            # Who is patient sees no fault of this machine, however loaded it is.
            timeout = ("30000", "30000") if health == "well" else ("500", "2000")
            for style in STYLES:
                rate = str(RATES.get(style, 8))
                env = self.environment("process", 4 if style == "churn" else 0)
                words = [binary, style, rate, timeout[0], HOST, *ports]
                self.client(f"{style}-{health}", words, env)
            python = [sys.executable, os.path.join(HERE, "pythons.py"), "4", timeout[1], HOST]
            self.client(f"python-{health}", [*python, *ports], self.environment("process", 2, "on"))
            curls = [os.path.join(HERE, "curls.sh"), "1", timeout[1], HOST, *ports]
            self.client(f"curl-{health}", curls, self.environment("user"))

    def client(self, name, command, environment):
        self.programs.append(Client(self, name, command, environment))
