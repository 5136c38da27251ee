# SPDX-License-Identifier: MIT
"""A healthy server: the shim must not be noticed. And many first connections at once: all first."""

import json
import os
import shutil

from catalog import DEFAULT, HERE, NAME, PORT, configuration
from lab import Run

REQUESTS = 100
AT_ONCE = 4  # of the same program
CROWD = 50
PATIENCE = "20"  # seconds: a busy machine must not end what nobody throttles
START = 5  # attempts that go free where nobody can say what they are


def round_of(lab, client, environment):
    """REQUESTS requests by one process, then AT_ONCE processes together; what came of it, at the
    clients and at the server."""
    outcome = {"clients": []}
    before = json.loads(lab.server.ask("stats"))["healthy"]
    for together in (1, AT_ONCE):
        runs = []
        for i in range(together):
            folder = os.path.join(lab.folder, f"{together}.{i}")
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
            home, lab.folder = lab.folder, folder
            try:
                runs.append(lab.start(client, client.get, environment, NAME, REQUESTS, PATIENCE))
            finally:
                lab.folder = home
        for run in runs:
            code = run.wait(60)
            run.kill()
            outcome["clients"].append({"exit": code, "out": run.output(), "errors": run.errors()})
    after = json.loads(lab.server.ask("stats"))["healthy"]
    outcome["server"] = {key: after[key] - before[key] for key in after}
    return outcome


def compare(lab, client, library):
    problems = []
    bare = round_of(lab, client, lab.environment())
    text = configuration(DEFAULT, lab.log.path)
    shim = round_of(lab, client, lab.environment(library, text))
    expected = client.answer * REQUESTS
    for mine, theirs in zip(shim["clients"], bare["clients"]):
        if theirs["exit"] != 0 or theirs["out"] != expected:
            problems.append(f"bare: exit {theirs['exit']}, {len(theirs['out'])} bytes printed")
        if mine != theirs:
            problems.append(f"under the shim: exit {mine['exit']}, {len(mine['out'])} bytes "
                            f"printed, errors {mine['errors'][:80]!r}")
    if bare["server"] != shim["server"]:
        problems.append(f"server saw {shim['server']}, bare {bare['server']}")
    records = lab.log.fields()
    tcp = judge_healthy_records(records, problems)
    if tcp != shim["server"]["accepted"]:
        problems.append(f"{tcp} attempts recorded, {shim['server']['accepted']} accepted")
    return {
        "requests": shim["server"]["requests"],
        "connections": shim["server"]["accepted"],
        "bytes": shim["server"]["bytes_in"] + shim["server"]["bytes_out"],
        "recorded": tcp,
        "throttled": len([r for r in records if is_throttled(r)]),
        "problems": sorted(set(problems)),
    }


def is_throttled(record):
    return (
        record.get("event") not in ("attempt", "loaded")
        or record.get("kind") == "retry"
        or record.get("wait_ms", "0") != "0"
    )


def judge_healthy_records(records, problems):
    """Every record must be of a first try that went at once. Returns the connection attempts."""
    for record in records:
        if is_throttled(record):
            problems.append(f"record on a healthy server: {record}")
    attempts = [r for r in records if r.get("event") == "attempt"]
    if not attempts:
        problems.append("no attempt was recorded: is the shim loaded?")
    return sum(r.get("dest", "").endswith(f":{PORT}") for r in attempts)


def first_tries(lab, crowd, library):
    """CROWD threads or processes, each with one connection to a server that is down, all at once."""
    problems = []
    lab.server_mode("down")
    text = configuration(DEFAULT, lab.log.path)
    command = ["/usr/bin/python3", os.path.join(HERE, "loops", "crowd.py"), crowd, "127.0.0.1"]
    command += [str(PORT), str(CROWD)]
    run = Run(command, lab.folder, lab.environment(library, text))
    try:
        code = run.wait(30)
        output = run.output().strip()
    finally:
        run.kill()
    seen = lab.syns.count(PORT)
    records = [r for r in lab.log.fields() if r.get("event") == "attempt"]
    first = sum(r.get("kind") == "first" for r in records)
    if code != 0 or output != f"{CROWD} refused":
        problems.append(f"the crowd says {output!r}, exit {code}")
    # Nobody can say whether they ask for one thing or for fifty: a few go free, and the others are
    # told at once what those were told.
    if seen < START:
        problems.append(f"{seen} of {CROWD} attempts reached the port, not {START}")
    if first < START or len(records) != CROWD:
        problems.append(f"{first} of {len(records)} attempts were first tries, of {CROWD}")
    return {"attempts": seen, "first_tries": first, "problems": problems}
