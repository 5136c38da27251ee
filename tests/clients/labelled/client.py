# SPDX-License-Identifier: MIT
"""What a labelled client is. A file in programs/ makes some and lists them in CLIENTS."""

import importlib
import os
import shutil
import sys
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVERS = os.path.join(HERE, "drivers")


@dataclass
class Client:
    """The simplest kind: one program that is given all units.

    Words of the command: {host} {port} {url} (http://HOST:PORT/u) {count} {last} (count - 1)
    {units} (0,1,2 to count - 1)."""

    name: str
    command: list
    named: bool = False  # it is given the server's name, not the address
    protocol: str = "http"  # a name in protocols.BY_NAME
    retries: bool = True  # False: it never tries a unit again
    # It tells its unit (/.unit/ID or /.try/ID), or works on one only; so refusals can be labelled.
    refuse: bool = False
    fresh: bool = False  # it connects anew for each try, so each unit has one first try
    units: int = 150
    fewer: dict = field(default_factory=dict)  # condition's name: units
    at_once: int = 1  # programs
    limit: float = 100  # seconds
    settings: str = ""  # more lines for [retrybudget]
    conditions: tuple = ()  # names; empty: all
    why_not: str = ""  # why a condition is left out
    shares: bool = False  # many processes with one budget, which have bounds of their own

    def units_in(self, condition):
        return self.fewer.get(condition.name, self.units)

    def program(self):
        return self.command[0]

    def missing(self):
        return shutil.which(self.program()) is None

    def fill(self, stage, **more):
        words = {
            "host": stage.host,
            "port": stage.port,
            "url": stage.url("").rstrip("/"),
            "count": len(stage.units),
            "units": ",".join(stage.units),
            "last": len(stage.units) - 1,
            **more,
        }
        return [
            word.format(**words) if "{" in word else word
            for word in self.command
        ]

    def play(self, stage):
        """Has every unit of stage.units done; returns when all is over."""
        stage.run_all([(self.fill(stage), "")], 1, self.limit)

    def works(self, stage):
        """How many units of work there were."""
        return len(stage.units)

    def unit_of(self, stage, attempt):
        """The unit of an attempt that the server has not seen and of which the program said
        nothing; "" if it is not known. Called when all is over."""
        return stage.unit_of_pid.get(attempt.pid, "")


@dataclass
class EachUnit(Client):
    """A program that is started anew for each unit ({unit} in its command), at_once together."""

    refuse: bool = True
    at_once: int = 12

    def play(self, stage):
        commands = [(self.fill(stage, unit=unit), unit) for unit in stage.units]
        stage.run_all(commands, self.at_once, self.limit)


@dataclass
class Logged(Client):
    """One program of one thread that says on stderr what it does: read_log(text) lists the unit of
    each of its connects in their order, "" where that is not told."""

    read_log: object = None
    refuse: bool = True

    def unit_of(self, stage, attempt):
        if not hasattr(stage, "units_in_log"):
            stage.units_in_log = self.read_log(stage.complaints())
            stage.orders = {}
        n = stage.orders.setdefault(attempt.order, len(stage.orders))
        return stage.units_in_log[n] if n < len(stage.units_in_log) else ""


def driver(name, interpreter, file, *arguments, **more):
    """A client of our own in drivers/, called with HOST PORT COUNT and the arguments."""
    command = [*interpreter, os.path.join(DRIVERS, file), "{host}", "{port}", "{count}", *arguments]
    more.setdefault("refuse", True)
    return Client(name, command, **more)


def clients():
    folder = os.path.join(HERE, "programs")
    sys.path.insert(0, folder)
    found = []
    for file in sorted(os.listdir(folder)):
        if file.endswith(".py"):
            found += importlib.import_module(file[:-3]).CLIENTS
    return found
