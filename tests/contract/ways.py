# SPDX-License-Identifier: MIT
"""Runs one program one way: bare, or under the shim in one of its modes, perhaps under strace."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

BARE, WAYS = "bare", ("bare", "off", "observe", "enforce")

# Every retry is let through at once, so that a probe says the same as bare: no gate, and more tokens
# in both buckets than any program here can spend.
LENIENT = """base = 0
min = 0
capacity = 1000000
floor = 10000/s
hold = 0
[budget]
capacity = 1000000
floor = 10000/s
"""


CRASHES = {-signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL, -signal.SIGSEGV, -signal.SIGSYS}


class Outcome:
    """What a run said and left behind."""

    def __init__(self, folder):
        self.folder = folder
        self.code = None  # exit code, -signal, or None: stopped at the time limit
        self.out = self.err = ""
        self.state = []  # sorted paragraphs of witness.c, one for each process that called exit
        self.records = []


def crashed(outcome):
    return outcome.code in CRASHES


def paragraphs(text, ours):
    """The witness's paragraphs, without what differs from run to run and what is the shim's."""
    text = re.sub(r"(socket|pipe):\[\d+\]", r"\1", text)
    text = re.sub(r"(/tmp|/dev/shm)/[\w.-]*-[A-Za-z0-9]{6}\b", r"\1/X", text)
    result = []
    for paragraph in text.split("== a process\n")[1:]:
        lines = paragraph.splitlines()
        result.append("\n".join(sorted({x for x in lines if not any(o in x for o in ours)})))
    return sorted(result)


def said(data, folder):
    """What a program printed; lines that begin with # are for the probes' own driver."""
    lines = data.decode(errors="replace").replace(folder, "X").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("#"))


def drain(log):
    """The records that came to the log socket."""
    records = []
    try:
        while True:
            records.append(log.recv(4096).decode(errors="replace"))
    except BlockingIOError:
        return records


def run(
    case, way, build, trace=None, library="libretrybudget.so", last=(), more=None, during=None
):
    """Runs the case's program.

    trace: a prefix for strace's files, one for each task. library: what is loaded as the shim.
    last: libraries behind all others; more: environment; during: called while the program runs, with
    the case's folder and a function that gives the records that came so far.
    """
    folder = tempfile.mkdtemp(prefix="contract-")
    os.chmod(folder, 0o777)
    shim = os.path.join(build, library)
    witness = os.path.join(build, "contract", "witness.so")
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    log.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    log.bind(os.path.join(folder, "log"))
    os.chmod(os.path.join(folder, "log"), 0o666)
    with open(os.path.join(folder, "ini"), "w", encoding="ascii") as file:
        file.write(f"[retrybudget]\nmode = {way if way != BARE else 'off'}\n")
        # Else how many times it is looked at depends on the machine's speed.
        file.write("" if during else "reload = 60s\n")
        file.write(f"[log]\nsocket = {folder}/log\n{case.get('log', '')}[destination default]\n")
        file.write(case.get("policy", LENIENT))
    # A file that was written a moment ago is read again, since it may still change.
    os.utime(file.name, (1e9, 1e9))

    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("LD_PRELOAD", "LD_BIND_NOW") and not name.startswith("RETRYBUDGET")
    }
    state = os.path.join(folder, "state")
    # The last is constructed first.
    libraries = [*case.get("first", ()), witness, *([shim] if way != BARE else [])]
    libraries += [*case.get("after", ()), *last]
    environment["LD_PRELOAD"] = ":".join(libraries)
    if not trace:  # the witness would be in the trace
        environment["CONTRACT_STATE"] = state
    if way != BARE:
        environment["RETRYBUDGET_CONFIG"] = os.path.join(folder, "ini")
    environment.update(more or {})

    command = [os.path.join(build, case["program"])]
    command += [argument.replace("@folder", folder) for argument in case["arguments"]]
    if trace:
        # Not strace's own environment: it would be traced into the shim's start-up.
        names = [name for name in ("LD_PRELOAD", "RETRYBUDGET_CONFIG") if name in environment]
        settings = [f"-E{name}={environment.pop(name)}" for name in names]
        command = ["strace", "-ff", "-qq", "-s", "48", "-o", trace, *settings, *command]
    outcome = Outcome(folder)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment, start_new_session=True,
    ) as process:
        def so_far():
            outcome.records += drain(log)
            return outcome.records

        meanwhile = threading.Thread(target=during, args=[folder, so_far]) if during else None
        if meanwhile:
            meanwhile.start()
        try:
            out, err = process.communicate(timeout=case.get("seconds", 40))
            outcome.code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        if meanwhile:
            meanwhile.join()
    outcome.out = said(out, folder)
    outcome.err = said(err, folder)
    outcome.records += drain(log)
    log.close()
    ours = (shim, "/memfd:retrybudget", "/dev/zero (deleted)")
    text = ""
    if os.path.exists(state):
        with open(state, encoding="utf-8", errors="replace") as file:
            text = file.read()
    if "== a process\n" in outcome.out:  # where the file could not be reached
        outcome.out, _, rest = outcome.out.partition("== a process\n")
        text += "== a process\n" + rest
    outcome.state = paragraphs(text, ours)
    shutil.rmtree(folder, ignore_errors=True)
    return outcome
