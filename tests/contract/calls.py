# SPDX-License-Identifier: MIT
"""Holds the system calls of a run under the shim against those of the bare run.

Task by task in the order in which they were made. What the shim adds must be in allowed.txt, with
its reason; nothing may be missing, and nothing may change its place, arguments or result.
"""

import glob
import os
import re
import subprocess
from collections import Counter
from functools import cache

HERE = os.path.dirname(os.path.abspath(__file__))
MARK = ("getpriority(0x4d", "getpriority(77")  # of witness.c, when start-up is over

# Scheduling decides about these, with and without the shim.
# The heap begins with the first to allocate, which may be our constructor; tripwire.c sees to the
# rest. And chance decides about how often mkdtemp draws a name, in libc's own form of getrandom.
NOISE = re.compile(
    r"^(brk|futex|restart_syscall|sched_yield|--- SIG|\?\?\?\(|\+\+\+ superseded"
    r"|getrandom\(R, 8, GRND_NONBLOCK\) = 8$)|ERESTART|unfinished"
)


@cache
def clock_is_a_call():
    """Whether this machine has a clock that cannot be read without a system call."""
    date = subprocess.run(["strace", "-qq", "-e", "trace=clock_gettime", "date"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return b"clock_gettime" in date.stderr


def noise(line):
    """Whether a call may be there or not."""
    if NOISE.search(line):
        return True
    return line.startswith(("clock_gettime(", "gettimeofday(")) and clock_is_a_call()


class Rule:
    """A line of allowed.txt."""

    def __init__(self, line):
        self.line = line.strip()
        self.phase, self.limit, self.pattern, self.reason = re.split(r"\s{2,}", line.strip(), 3)
        self.matches = re.compile(self.pattern).match
        match = re.fullmatch(r"(\d+)(?:/(\w+))?(\?)?", self.limit)
        self.most, self.unit, self.rare = match.groups()

    def allows(self, count, units):
        """Whether so many are within the limit, with so many of each unit in the bare run."""
        return count <= int(self.most) * (units[self.unit] if self.unit else 1)


def rules():
    """The allow-list; each line must say why."""
    with open(os.path.join(HERE, "allowed.txt"), encoding="ascii") as file:
        return [Rule(line) for line in file if line.strip() and not line.startswith("#")]


def normal(line):
    """A call without what differs from run to run: addresses, ports, ids, times, random names. All
    numbers from 100 on: the ids of tasks are as small where few have been started, and to leave out
    these alone would leave out a size here and there, in one of two runs."""
    line = re.sub(r"/\* .*? \*/", "", line)
    line = re.sub(r"^getrandom\(.*?\", ", "getrandom(R, ", line)
    line = re.sub(r"\b0x[0-9a-f]{5,}\b", "P", line)
    line = re.sub(r"contract-\w{8}", "X", line)
    line = re.sub(r"-[A-Za-z0-9]{6}\b", "-X", line)
    line = re.sub(r"(tv_n?u?sec|st_\w+)=[^,}]*", r"\1", line)
    line = re.sub(r"\b\d{3,}\b|\d{4,}|\d+(?=\"\.\.\.)", "N", line)  # or cut off by strace
    line = re.sub(r"\s+", " ", line).strip()
    # Beyond that are arrays, and what was on the stack.
    return line if len(line) < 160 else line[:120] + " ..." + line[line.rfind(" = ") :]


BIRTH = re.compile(r"^(?:clone|clone3|fork|vfork)\(.*\) = (\d+)$")


class Task:
    """The calls of one thread or process, cut where its start-up ends and where it execs."""

    def __init__(self, path):
        self.parts = [["run", []]]  # phase and lines
        self.children = []  # thread ids, in the order in which they were made
        self.serves = False  # a server of probe/probe.h: what it reads at once is the scheduler's choice
        self.cut_short = False
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                self.take(line.strip())

    def take(self, line):
        """Sorts one line of strace's."""
        birth = BIRTH.match(line)
        if birth:
            self.children.append(int(birth.group(1)))
        line = normal(line)
        if line.startswith(MARK):
            self.parts.append(["run", []])
            return
        if line.startswith("+++ killed by SIGKILL"):
            self.cut_short = True
            return
        if line.startswith("prctl(PR_SET_PDEATHSIG"):
            self.serves = True
        if not noise(line):
            self.parts[-1][1].append(line)
        if line.startswith("execve(") and line.endswith("= 0"):
            self.parts.append(["start", []])

    def is_the_program(self):
        """Whether its life begins with an exec."""
        return len(self.parts) > 1 and [x.partition("(")[0] for x in self.parts[0][1]] == ["execve"]

    def lines(self):
        """All, with their phases."""
        return [(phase, line) for phase, lines in self.parts for line in lines]


def tasks(prefix):
    """The tasks of a trace by their place in the family: (1, 2) is the second child of the first
    child of the program. Their numbers would be in the order in which they happened to be made."""
    paths = {path.rsplit(".", 1)[1]: path for path in glob.glob(glob.escape(prefix) + ".*")}
    found = {int(number): Task(path) for number, path in paths.items()}
    family = {}

    def place(number, path):
        task = found.pop(number, None)
        if task:
            family[path] = task
            for index, child in enumerate(task.children, 1):
                place(child, (*path, index))

    for number in [n for n, task in found.items() if task.is_the_program()]:
        place(number, ())
    # In a new namespace of process ids a parent is told another number.
    for index, number in enumerate(sorted(found), 1):
        if number in found:
            place(number, ("apart", index))
    return family


def serves(family, path):
    """Whether the task is a server's, or of one that died while it was made."""
    if path[:1] == ("apart",):
        return any(task.serves and task.cut_short for task in family.values())
    return any(path[:n] in family and family[path[:n]].serves for n in range(1, len(path) + 1))


class Comparison:
    """One run under the shim against the bare one."""

    def __init__(self, bare, held, kinds_only=False):
        self.rules = rules()
        self.extra = Counter()
        self.problems = []
        self.units = self.count_units(bare)
        self.known = {line.partition("(")[0] for task in bare.values() for _, line in task.lines()}
        if any(task.serves and task.cut_short for task in bare.values()):
            self.known.add("rt_sigaction")  # it may have been ended just before it ignored SIGCHLD
        for path in sorted(set(bare) ^ set(held), key=str):
            # Those of a server end with it, wherever they are by then.
            if not any(serves(family, path) for family in (bare, held)):
                self.problems.append(f"task {path}: only {'bare' if path in bare else 'here'}")
        for path in bare.keys() & held.keys():
            if kinds_only or bare[path].serves:
                self.compare_kinds(path, held[path])
            else:
                self.compare(path, bare[path], held[path])
        for rule, count in self.extra.items():
            if not rule.allows(count, self.units):
                wanted = rule.limit
                if rule.unit:
                    wanted += f", {self.units[rule.unit]} {rule.unit}"
                self.problems.append(f"{count} times {rule.pattern}; allowed: {wanted}")

    @staticmethod
    def count_units(bare):
        """What the limits of the rules may refer to."""
        units = Counter(images=len(bare) - 1)
        for task in bare.values():
            starts = sum(phase == "start" for phase, _ in task.parts)
            units["starts"] += starts
            units["images"] += starts
            for _, line in task.lines():
                name = line.partition("(")[0]
                units[name] += 1
                units["sockets"] += name in ("connect", "accept", "accept4")
                units["moved"] += name in ("dup", "dup2", "dup3") or "F_DUPFD" in line
                units["failures"] += (
                    name == "connect"
                    and " = -1 E" in line
                    or name in ("recvfrom", "recvmsg", "sendto")
                    and line.endswith((" = 0", "(Connection reset by peer)", "(Broken pipe)"))
                )
        return units

    def allow(self, phase, line, count=1):
        """Counts it against the first rule that knows it and has room, else against the last."""
        known = [
            rule
            for rule in sorted(self.rules, key=lambda rule: rule.phase != "retry")
            if rule.matches(line)
            and (
                rule.phase == phase
                or (rule.phase == "retry" and phase == "run" and self.units["failures"])
            )
        ]
        for rule in known:
            if rule.allows(self.extra[rule] + count, self.units) or rule is known[-1]:
                self.extra[rule] += count
                return True
        return False

    def compare(self, path, bare, held):
        """Part by part."""
        if len(bare.parts) != len(held.parts):
            self.problems.append(f"task {path}: {len(held.parts)} parts, bare {len(bare.parts)}")
        for (phase, before), (_, after) in zip(bare.parts, held.parts):
            if phase == "start":
                self.compare_start(path, before, after)
            else:
                self.compare_run(path, before, after, bare.cut_short or held.cut_short)

    def compare_start(self, path, before, after):
        """The loader's calls and the constructor's, in any order."""
        for line, count in (Counter(after) - Counter(before)).items():
            if not self.allow("start", line, count):
                self.problems.append(f"task {path}, start-up, {count} more: {line}")
        for line, count in (Counter(before) - Counter(after)).items():
            if not self.allow("start-less", line, count):
                self.problems.append(f"task {path}, start-up, {count} missing: {line}")

    def compare_run(self, path, before, after, cut_short):
        """One after the other. A task that was killed may have come less far."""
        at = 0
        for line in after:
            if at < len(before) and line == before[at]:
                at += 1
            elif not self.allow("run", line):
                if not (cut_short and at == len(before)):
                    wanted = before[at] if at < len(before) else "the end"
                    self.problems.append(f"task {path}: {line}\n      bare: {wanted}")
                return
        if at < len(before) and not cut_short:
            self.problems.append(f"task {path}: missing: {before[at]}")

    def compare_kinds(self, path, held):
        """Where scheduling decides about number and order: no call that bare does not make."""
        for phase, line in held.lines():
            if line.partition("(")[0] in self.known or line.startswith("+++"):
                continue
            if not self.allow(phase, line):
                self.problems.append(f"task {path}: bare never calls: {line}")
                return
