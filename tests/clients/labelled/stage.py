# SPDX-License-Identifier: MIT
"""Where a labelled client plays: the namespace of lab.py, a server that fails by the request, and
the log socket to which the shim, the witness and the client itself report."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

from catalog import NAME
from lab import Helper, Lab, LogSocket, die_with_parent, loopback_up
from server import Server

PORT = 7000
SEED = 1


@dataclass
class Condition:
    name: str
    fail: float = 0.0  # share of requests
    outage: float = 0.0  # seconds without a listener
    partial: bool = False


CONDITIONS = [
    Condition("none"),
    Condition("5 %", 0.05, partial=True),
    Condition("20 %", 0.20, partial=True),
    Condition("50 %", 0.50, partial=True),
    Condition("100 %", 1.0),
    Condition("outage", outage=3.0),
]


class Stage(Lab):
    """One condition of one client. Call inside new network and mount namespaces."""

    def __init__(self, build, library, client, condition, mode="observe"):
        self.build, self.library, self.client, self.condition = build, library, client, condition
        self.folder = tempfile.mkdtemp(prefix="retrybudget-labelled-")
        loopback_up()
        self._files()
        self.dns = Helper(os.path.join(build, "clients", "dns"), "ok")
        self.log = LogSocket(os.path.join(self.folder, "log"))
        self.port = PORT
        self.host = NAME if client.named else "127.0.0.1"
        self.units = [f"{n}" for n in range(client.units_in(condition))]
        self.mode = mode
        with open(os.path.join(self.folder, "connects"), "wb") as f:
            f.write(bytes(8))
        self.unit_of_pid = {}  # for programs that work on one unit alone
        refused = condition.fail / 2 if client.refuse else 0
        self.refuse = refused
        # The server's share, so that both together make condition.fail.
        fail = (condition.fail - refused) / (1 - refused) if refused < 1 else 0
        self.server = Server(PORT, client.protocol, fail, SEED)
        if condition.outage:
            self.server.outage = (len(self.units) // 4, condition.outage)

    def url(self, unit):
        return f"http://{self.host}:{self.port}/u/{unit}"

    def environment(self, **more):
        """For the program under the shim."""
        config = os.path.join(self.folder, "retrybudget.ini")
        if not os.path.exists(config):
            with open(config, "w", encoding="ascii") as f:
                f.write(self.configuration())
            os.chmod(config, 0o644)
            os.chmod(self.folder, 0o755)
        return {
            "PATH": os.environ["PATH"],
            "HOME": self.folder,
            "LC_ALL": "C.UTF-8",
            "LD_PRELOAD": self.library + " " + os.path.join(self.build, "clients", "witness.so"),
            "RETRYBUDGET_CONFIG": config,
            "WITNESS_LOG": self.log.path,
            "WITNESS_REFUSE": f"{PORT}:{round(self.refuse * 1000)}:{SEED}",
            "WITNESS_COUNT": os.path.join(self.folder, "connects"),
            **more,
        }

    def configuration(self):
        return f"""[retrybudget]
mode = {self.mode}
reload = 0
{self.client.settings}
[log]
target = syslog
socket = {self.log.path}
interval = {'0' if self.mode == 'enforce' else '1s'}
attempts = on
"""

    def start(self, command, unit="", shim=True, **more):
        """Starts a program; returns the Popen. unit: it works on this unit alone."""
        env = self.environment(**more) if shim else dict(os.environ)
        with open(os.path.join(self.folder, "errors"), "ab") as errors:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=env,
                cwd=self.folder,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        if unit:
            self.unit_of_pid[process.pid] = unit
        return process

    def run_all(self, commands, at_once=10, limit=120):
        """Runs [(command, unit or "")], at_once of them together. Raises if one does not end."""
        left, running, end = list(commands), [], time.monotonic() + limit
        while left or running:
            while left and len(running) < at_once:
                command, unit = left.pop(0)
                running.append(self.start(command, unit))
            running = [p for p in running if p.poll() is None]
            time.sleep(0.01)
            if time.monotonic() > end:
                for p in running:
                    os.killpg(p.pid, signal.SIGKILL)  # and what it has started
                    p.wait()
                raise TimeoutError(f"{self.client.name}: still running after {limit} s")

    def complaints(self):
        """What the programs said on stderr."""
        try:
            with open(os.path.join(self.folder, "errors"), encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def unit_of(self, attempt):
        return self.client.unit_of(self, attempt)

    def close(self):
        self.server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
