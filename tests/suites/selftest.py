# SPDX-License-Identifier: MIT
"""What the readers and the judge would not notice of themselves: each case here was a way to call
two runs equal that are not, or a test of somebody else's shaky that is the shim's doing."""

import results
import verdict
from verdict import Comparison

TAP = """TAP version 13
1..5
ok 1 - one
not ok 2 - two
ok 3 - three # SKIP not here
# not ok 9 - a comment
not ok 4 - four # TODO some day
ok 5 /a/path
"""
TCL = """---- socket-1.1 start
++++ socket-1.1 PASSED
++++ socket-1.2 SKIPPED: win
==== socket-1.3 the long name of it FAILED
==== Contents of test case:
==== socket-1.3 FAILED
"""
RUBY = """[ 1/4] TestA#test_one = 0.00 s
said by a test[ 2/4] TestA#test_two = 0.00 s
[ 3/4] TestB#test_three = 1.00 s
[ 4/4] TestB#test_four = 0.00 s

  1) Failure:
TestA#test_two [/x/test_a.rb:7]:
no

  2) Error:
TestB#test_three:
Errno::EPIPE: Broken pipe

  3) Skipped:
TestB#test_four [/x/test_b.rb:9]:
not here
"""
JUNIT = """<testsuites><testsuite><testcase name="a" />
<testcase name="b"><failure>x</failure></testcase>
<testcase name="c"><skipped>y</skipped></testcase><testcase name="d"><error>z</error></testcase>
<testcase name="e"><failure>x</failure></testcase><testcase name="e" /></testsuite></testsuites>"""
LINES = """noise
["result", "a", "passed"]
["result", "b", "skipped"]
["result", "a", "failed"]
"""
STRESS = """stress-ng: info:  [1] dispatching hogs: 1 sock
stress-ng: metrc: [1] sock               1034      1.00      0.05      1.17      1033.41  849.71
stress-ng: info:  [1] dispatching hogs: 1 udp
stress-ng: metrc: [1] udp                   0      1.00      0.05      1.17      1033.41  849.71
stress-ng: info:  [2] dispatching hogs: 1 dccp
stress-ng: info:  [3] dccp: DCCP protocol not supported, skipping stressor
stress-ng: info:  [2] dispatching hogs: 1 pipe
stress-ng: fail:  [3] pipe: data was lost
stress-ng: metrc: [1] pipe                 10      1.00      0.05      1.17      1033.41  849.71
exit 2
"""
P, F, S = "passed", "failed", "skipped"


def readers():
    yield results.tap(TAP) == {"one": P, "two": F, "three": S, "four": P, "/a/path": P}, "tap"
    yield results.tap("1..2\nok 1\n") == {"1": P, "(plan)": F}, "tap: a plan not kept"
    yield results.tap("1..0 # skip no network\n") == {"(all)": S}, "tap: all skipped"
    yield results.tap("") == {"(plan)": F}, "tap: nothing at all"
    named = results.tap("ok 1 - on port 4711\nok 2 - pid 12\n1..2\n")
    yield named == {"1": P, "2": P}, "tap: names"
    yield results.tcltest(TCL) == {"socket-1.1": P, "socket-1.2": S, "socket-1.3": F}, "tcltest"
    yield results.ruby(RUBY) == {"TestA#test_one": P, "TestA#test_two": F, "TestB#test_three": F,
                                 "TestB#test_four": S}, "ruby"
    yield results.junit(JUNIT) == {"a": P, "b": F, "c": S, "d": F, "e": F}, "junit"
    yield results.junit("") == {}, "junit: no report"
    yield results.lines_of_json(LINES) == {"a": F, "b": S}, "lines of json"
    yield results.stress(STRESS) == {"sock": P, "udp": F, "dccp": S, "pipe": P,
                                     "pipe (errors)": F}, "stress-ng"
    yield results.checks("passed a\nfailed b: why\n") == {"a": P, "b": F}, "checks"


def judgements():
    judge = verdict.judge
    yield judge([P], [P]) == verdict.EQUAL, "equal"
    yield judge([F], [F]) == verdict.EQUAL, "equal: fails in both"
    yield judge([P], [F]) is None, "one difference is not enough"
    yield judge([P] * 6, [F] * 6) == verdict.DIFFERS, "differs whenever tried"
    yield judge([P] * 5, [F] * 5) is None, "that often even a coin does"
    yield judge([P, F], [F, P]) == verdict.FLAKY, "flaky bare"
    yield judge([F, P], [P, P]) == verdict.FLAKY, "flaky bare, never under the shim"
    yield judge([P] * 11, [F] + [P] * 10) == verdict.ONCE, "once"
    yield judge([P] * 11, [F] + [P] * 9 + [F]) is None, "twice may be chance"
    yield judge([P] * 31, [F] * 2 + [P] * 29) == verdict.ONCE, "twice of many is as good as once"
    yield judge([P] * 31, [F] * 9 + [P] * 22) == verdict.DIFFERS, "nine times is no chance"
    yield judge([P] * 15, [F, P] * 7 + [F]) == verdict.DIFFERS, "every other time"
    yield judge([P, S] * 6, [F] * 12) == verdict.DIFFERS, "a result no bare run has"
    yield verdict.settle([P], [F]) == verdict.DIFFERS, "no time for a second run"
    yield verdict.settle([P] * 4, [F] * 4) == verdict.DIFFERS, "no time for a fifth run"
    yield verdict.settle([P] * 4, [F, F, P, P]) == verdict.ONCE, "no time to tell it from chance"
    crashed = Comparison()
    for _ in range(6):
        crashed.add("bare", {"a": P, "b": P})
        crashed.add("shim", {"a": P})
    policy = Comparison()
    for _ in range(6):
        policy.add("bare", {"a": P, "b": P, verdict.EXIT: P})
        policy.add("shim", {"a": F, "b": P, verdict.EXIT: F})
    yield policy.verdicts(["a"])["a"] == verdict.DIFFERS, "known, but never tried in observe mode"
    policy.add("observe", {"a": P, "b": P, verdict.EXIT: P})
    yield policy.verdicts(["a"])["a"] == verdict.HELD, "known, and only throttled"
    yield policy.verdicts(["a"])[verdict.EXIT] == verdict.HELD, "its exit status follows"
    yield policy.verdicts()["a"] == verdict.DIFFERS, "throttled, but not known"
    yield policy.verdicts([verdict.EVERY])["a"] == verdict.HELD, "known with all of its program"
    policy.add("observe", {"a": F, "b": P, verdict.EXIT: F})
    yield policy.verdicts(["a"])["a"] == verdict.HELD, "known, and by chance otherwise once"
    yield policy.policy_is_open(["a"]), "known, and to be observed again"
    for _ in range(5):
        policy.add("observe", {"a": F, "b": P, verdict.EXIT: F})
    yield policy.verdicts(["a"])["a"] == verdict.DIFFERS, "known, and yet a fault of the hooks"
    yield policy.verdicts([verdict.EVERY])["a"] == verdict.DIFFERS, "the same with all of it"
    yield crashed.verdicts() == {"a": verdict.EQUAL, "b": verdict.DIFFERS}, "a test that is missing"


def run():
    """How many passed, and how many failed."""
    failed = [name for kind in (readers, judgements) for good, name in kind() if not good]
    passed = sum(1 for kind in (readers, judgements) for _ in kind()) - len(failed)
    for name in failed:
        print(f"FAIL suites-self: {name}")
    return passed, len(failed)
