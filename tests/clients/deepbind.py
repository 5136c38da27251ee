# SPDX-License-Identifier: MIT
"""PHP loads its extensions with RTLD_DEEPBIND: what curl does there goes past the shim, unless the
flag is taken out."""

import os
import subprocess

from catalog import FAST, LOOPS, PAGE, PORT, configuration
from lab import Run

ATTEMPTS = 12
COMMAND = ["php", LOOPS + "/curl.php", "get", "127.0.0.1", str(PORT), str(ATTEMPTS)]
REFUSED = "error 7\n" * ATTEMPTS  # CURLE_COULDNT_CONNECT


def run_once(lab, environment):
    """What the program says, its attempts as the kernel saw them, and as the records say."""
    syns, records = lab.syns.count(PORT), len(lab.log.fields())
    run = Run(COMMAND, lab.folder, environment)
    try:
        code = run.wait(60)
        output = run.output()
    finally:
        run.kill()
    kinds = [
        r.get("kind") for r in lab.log.fields()[records:]
        if r.get("event") == "attempt" and r.get("dest") == f"127.0.0.1:{PORT}"
    ]
    return code, output, lab.syns.count(PORT) - syns, kinds


def is_told(build):
    """Of the flag, before somebody wonders why nothing is seen."""
    told = subprocess.run([os.path.join(build, "retrybudget"), "inspect", "php"], text=True,
                          stdout=subprocess.PIPE, check=False)
    return told.returncode == 0 and "deepbind = strip" in told.stdout


def compare(lab, build, library):
    """Refused and healthy, bare, with keep and with strip."""
    problems = [] if is_told(build) else ["inspect does not tell of deepbind"]
    seen = {}
    for mode, answer in (("down", REFUSED), ("healthy", PAGE * ATTEMPTS)):
        lab.server_mode(mode)
        for deepbind in ("bare", "keep", "strip"):
            text = configuration(FAST, lab.log.path) + "nonblocking = redirect\n"
            text = text.replace("[retrybudget]\n", f"[retrybudget]\ndeepbind = {deepbind}\n")
            environment = lab.environment("" if deepbind == "bare" else library, text)
            code, output, syns, kinds = run_once(lab, environment)
            what = f"{mode}, {deepbind}"
            seen[what] = len(kinds)
            if code != 0 or output != answer:
                problems.append(f"{what}: exit {code}, printed {output[:200]!r}")
            if deepbind == "strip":
                expected = ["first"] + ["retry" if mode == "down" else "first"] * (ATTEMPTS - 1)
                if kinds != expected:
                    problems.append(f"{what}: attempts recorded: {kinds}")
            elif kinds:
                problems.append(f"{what}: {len(kinds)} attempts were seen: is the flag not used?")
            if (deepbind != "strip" or mode == "healthy") and syns != ATTEMPTS:
                problems.append(f"{what}: {syns} connections, not {ATTEMPTS}")
    return {"seen": seen, "problems": problems}
