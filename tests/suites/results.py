# SPDX-License-Identifier: MIT
"""Reads what the suites' own runners print: each reader returns {test: passed | failed | skipped}.

A test that is named twice keeps its worst result, so that nothing is lost.
"""

import json
import re
import xml.etree.ElementTree

WORST = ("skipped", "passed", "failed")


def note(results, name, result):
    known = results.get(name, "skipped")
    results[name] = max(known, result, key=WORST.index)


def junit(text):
    """CPython's regrtest --junit-xml."""
    results = {}
    for case in xml.etree.ElementTree.fromstring(text).iter("testcase") if text else ():
        result = "passed"
        if case.find("error") is not None or case.find("failure") is not None:
            result = "failed"
        elif case.find("skipped") is not None:
            result = "skipped"
        note(results, case.get("name"), result)
    return results


def lines_of_json(text):
    """tests/suites/unittests.py and trials.py: one array per line, whatever stands between."""
    results = {}
    for line in text.splitlines():
        if line.startswith('["result", '):
            _, name, result = json.loads(line)
            note(results, name, result)
    return results


def tap(text):
    """The Test Anything Protocol: Perl, GLib, libuv. A plan that was not kept is a failure."""
    results = {}
    planned, seen = -1, 0
    for line in text.splitlines():
        if plan := re.match(r"1\.\.(\d+)(\s*#\s*skip)?", line, re.IGNORECASE):
            planned = int(plan[1])
            if plan[2]:
                results["(all)"] = "skipped"
        if not (found := re.match(r"(not )?ok\b *(\d*)[ -]*([^#]*)(# *(skip|todo))?", line, re.I)):
            continue
        seen += 1
        result = "failed" if found[1] else "passed"
        if (found[5] or "").lower() == "skip":
            result = "skipped"
        elif (found[5] or "").lower() == "todo":
            result = "passed"
        # Names hold numbers of processes, ports and times: the number of the test is its name, and
        # only where there is a path, as in GLib, the path.
        path = found[3].strip()
        name = path if re.fullmatch(r"(/[\w.+-]+)+|[a-z]\w+", path) else found[2] or str(seen)
        note(results, name, result)
    if planned != seen:
        results["(plan)"] = "failed"
    return results


def tcltest(text):
    """Tcl's tcltest with -verbose "psebl"."""
    results = {}
    words = {"PASSED": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
    for line in text.splitlines():
        if found := re.match(r"(?:\+\+\+\+|====) (\S+) .*?(PASSED|FAILED|SKIPPED)\b", line):
            note(results, found[1], words[found[2]])
    return results


def ruby(text):
    """Ruby's test/runner.rb -v: a line with the time for each test, and the failures after."""
    results = {}
    bad = {}
    for line in text.splitlines():
        # What the tested program prints may stand before the name.
        if found := re.search(r"\[ *\d+/\d+\] (\S+#\S+) = [\d.]+ s", line):
            note(results, found[1], "passed")
    for kind, name in re.findall(
        r"^ *\d+\) (Failure|Error|Skipped):\n(\S+#\S+?)(?: \[|:|$)", text, re.MULTILINE
    ):
        bad[name] = "skipped" if kind == "Skipped" else "failed"
    results.update(bad)
    return results


def stress(text):
    """stress-ng --metrics, once for each stressor: it did work, and found nothing wrong with it."""
    results = {}
    current = ""
    for line in text.splitlines():
        words = line.split()
        if "dispatching hogs: " in line:
            current = words[-1]
            results[current] = "failed"
        elif "skipp" in line and current:
            results[current] = "skipped"
        elif " fail: " in line or line.startswith("exit "):
            results[current + " (errors)"] = "failed"
        elif words[1:2] == ["metrc:"] and words[3:4] == [current] and words[4].isdigit():
            if int(words[4]) > 0 and results[current] == "failed":
                results[current] = "passed"
    return results


def checks(text):
    """Our own loads on other people's servers: 'passed NAME' or 'failed NAME: why'."""
    results = {}
    for result, name in re.findall(r"^(passed|failed|skipped) ([^:\n]+)", text, re.MULTILINE):
        note(results, name.strip(), result)
    return results
