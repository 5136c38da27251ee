# SPDX-License-Identifier: MIT
"""What happens inside the hooks: the library's imports, and tripwire.c below it."""

import os
import re
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import cases
import ways

HERE = os.path.dirname(os.path.abspath(__file__))

# The record that says that the file was read again.
REREAD = "event=reloaded"
AGAIN = 2  # plays of what failed and may be chance, when all else has ended

# What guest.c can be told to do, and the name that must trip.
MISDEEDS = {
    "malloc": "malloc",
    "free": "free",
    "malloc by strdup": "malloc",
    "snprintf": "snprintf",
    "fopen": "fopen",
    "setlocale": "setlocale",
    "localtime": "localtime",
    "syslog": "syslog",
    "pthread_create": "pthread_create",
    "sigaction": "sigaction",
    "pthread_mutex_lock": "pthread_mutex_lock",
    "setenv": "setenv",
    "random": "random",
}

# What [log] trace may use besides, and no more: the loader's list of libraries, and libunwind's lock
# (shim/report/callsite.c says what becomes of both in a fork).
UNWINDING = "dl_iterate_phdr pthread_mutex_lock "


def imports(build):
    """Everything that the library asks of libc is in imports.txt, and nothing else is."""
    listed, needed = {}, set()
    with open(os.path.join(HERE, "imports.txt"), encoding="ascii") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.strip().partition("  ")
                listed[name.rstrip("?")] = reason.strip()
                needed |= set() if name.endswith("?") else {name}
    library = os.path.join(build, "libretrybudget.so")
    lines = subprocess.run(
        ["nm", "-D", "--undefined-only", library], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    asked = {line.split()[-1].partition("@")[0] for line in lines}
    problems = [f"not in imports.txt: {name}" for name in sorted(asked - set(listed))]
    problems += [f"in imports.txt, but not asked for: {name}" for name in sorted(needed - asked)]
    problems += [f"without a reason: {name}" for name, reason in listed.items() if not reason]
    return problems


def tripped(case, build, library="libretrybudget.so", during=None, **environment):
    """Runs a case with the tripwire below the library. Returns the outcome, and what tripped."""
    with tempfile.TemporaryDirectory(prefix="contract-") as folder:
        os.chmod(folder, 0o777)
        path = os.path.join(folder, "tripped")
        outcome = ways.run(
            case, "enforce", build, library=library, during=during,
            last=[os.path.join(build, "contract", "tripwire.so")],
            more={"CONTRACT_TRIPPED": path, **environment},
        )
        words = ""
        if os.path.exists(path):
            with open(path, encoding="ascii", errors="replace") as file:
                words = file.read()
        return outcome, words


def is_live(build):
    """The wire is there: each misdeed trips it, and a real function that does the same does not."""
    problems = []
    case = cases.trap("", "host_state")
    for misdeed, name in MISDEEDS.items():
        outcome, words = tripped(case, build, "contract/guest.so", CONTRACT_MISDEED=misdeed)
        if not words.startswith(f"tripwire: {name} was used"):
            problems.append(f"{misdeed}: not tripped, exit {outcome.code}: {words}")
    outcome, words = tripped(case, build, "contract/guest.so", CONTRACT_MISDEED="none")
    if words or outcome.code != 0:
        problems.append(f"no misdeed: exit {outcome.code}: {words}{outcome.err}")
    return problems


def place_of(words, build):
    """The function of the library that a message speaks of."""
    match = re.search(r"shim\+0x([0-9a-f]+)", words)
    if not match:
        return ""
    library = os.path.join(build, "libretrybudget.so")
    text = subprocess.run(["readelf", "-lW", library], check=True, capture_output=True, text=True)
    start = re.search(r"LOAD\s+\S+ (0x[0-9a-f]+).* R E ", text.stdout)
    address = int(start.group(1), 16) + int(match.group(1), 16) - 1
    return subprocess.run(
        ["addr2line", "-fpe", library, hex(address)], check=True, capture_output=True, text=True
    ).stdout


def trips_nothing(case, build, during=None, wanted=None, allowed=""):
    """A case under the shim with the tripwire below. Returns what is wrong, and whether to look again: a
    busy machine can keep it from what it should do, but trips no wire."""
    outcome, words = tripped(case, build, during=during, CONTRACT_ALLOWED=allowed)
    problems = []
    missing = wanted and not any(wanted in record for record in outcome.records)
    if words:
        problems.append(words + place_of(words, build))
    elif missing:
        problems.append(f"no record with {wanted}: it did not come so far")
    elif outcome.code not in (0, 77):
        problems.append(f"exit {outcome.code}: {outcome.out}{outcome.err}")
    return problems, not words and not ways.crashed(outcome)


def rewrite(folder, records):
    """Changes the file once the program has read it, until it was read again, and says so there."""

    def wait_for(word):
        end = time.monotonic() + 15
        while not any(word in record for record in records()) and time.monotonic() < end:
            time.sleep(0.05)

    wait_for("event=loaded")
    with open(os.path.join(folder, "ini"), "a", encoding="ascii") as file:
        file.write("\n[destination another]\nfloor = 1/s\n[a wrong section]\nx = y\n")
    wait_for(REREAD)
    with open(os.path.join(folder, "enough"), "w", encoding="ascii"):
        pass


def checks(build, text):
    """All of them, or those whose name holds the text; how many passed, failed, were skipped."""
    todo = [("imports are those of imports.txt", lambda: (imports(build), False))]
    if os.uname().machine == "x86_64":
        todo.append(("tripwire is live", lambda: (is_live(build), False)))
        until = cases.trap("", "until_told", "@folder/enough", policy=cases.HARD)
        todo.append(("tripwire, the file is read again",
                     lambda: trips_nothing(until, build, rewrite, REREAD)))
        for case in cases.all_traps(build):
            if case.get("own_memory"):
                continue
            few = {**case, "arguments": case.get("few", case["arguments"])}
            todo.append((f"tripwire, {case['name']}", lambda few=few: trips_nothing(few, build)))
            if case.get("talkative"):
                policy = ways.LENIENT if case["talkative"] == "admitted" else cases.HARD
                hard = {**few, "policy": policy, "log": cases.ALL_RECORDS}
                wanted = None if case["talkative"] == "lost" else "event=attempt"
                todo.append((f"tripwire, records, {case['name']}",
                             lambda hard=hard, wanted=wanted: trips_nothing(
                                 hard, build, wanted=wanted)))
                sites = {**hard, "log": hard["log"] + "trace = 8\n"}
                wanted = wanted and "site="
                todo.append((f"tripwire, call sites, {case['name']}",
                             lambda sites=sites, wanted=wanted: trips_nothing(
                                 sites, build, wanted=wanted, allowed=UNWINDING)))
    todo = [(name, check) for name, check in todo if text in name]
    with ThreadPoolExecutor(3) as pool:
        looks = list(pool.map(lambda item: item[1](), todo))
    passed = failed = 0
    for (name, check), (problems, again) in zip(todo, looks):
        if problems and again and not any(check()[0] for _ in range(AGAIN)):
            print(f"once, and not when played again: {name}: {problems}")
            problems = []
        if problems:
            failed += 1
            print(f"FAIL {name}")
            for problem in problems[:5]:
                print(f"    {problem[:1500]}")
        else:
            passed += 1
    print(f"inside the hooks: {passed} checks in order, {failed} not")
    skipped = 0 if os.uname().machine == "x86_64" else 1
    return passed, failed, skipped
