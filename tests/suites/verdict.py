# SPDX-License-Identifier: MIT
"""Is a test that differs the shim's doing? Judged by repetition, for many of other people's tests
fail now and then on a busy machine."""

from math import comb

ROUNDS = 10  # repetitions, bare and under the shim, of a test that differed once
MOST = 30  # of one that differed again, while chance may have made the difference
# What chance does less often than once in so many times is no chance. Of a test that fails one time
# in ten by itself, "twice of eleven under the shim, never bare" would call two of a hundred the
# shim's; with this it is one of ten thousand, and what fails half the time because of the shim is
# found as often as before.
CERTAIN = 900  # a difference in each of six runs
LIKELY = 50  # where there is no time for so many: in each of four

EQUAL, DIFFERS, FLAKY, ONCE, HELD = "equal", "differs", "flaky", "once", "throttled"


def strays(bare, shim):
    """The results under the shim that no bare run has shown."""
    return [r for r in shim if r not in bare]


def odds(bare, shim):
    """One in so many times chance alone would give all the strays to the shim's runs."""
    k = len(strays(bare, shim))
    return comb(len(bare) + len(shim), k) / comb(len(shim), k)


def judge(bare, shim):
    """What the runs of one test so far say: lists of results, in the order of the runs. None if
    they do not say it yet.

    A result that a bare run shows as well is the test's own: flaky. One that none shows is the
    shim's if it comes more often than by chance; else it is told apart, for nobody can know."""
    different = strays(bare, shim)
    if not different:
        return FLAKY if len(set(bare + shim)) > 1 else EQUAL
    if odds(bare, shim) >= CERTAIN:
        return DIFFERS
    rounds = min(len(bare), len(shim))
    if rounds <= ROUNDS or (len(different) > 1 and rounds <= MOST):
        return None
    return ONCE


def settle(bare, shim):
    """The verdict where there is no time for more runs."""
    verdict = judge(bare, shim)
    if verdict is None:
        alone = len(shim) == 1  # it could not even be tried again
        return DIFFERS if alone or odds(bare, shim) >= LIKELY else ONCE
    return verdict


EXIT = "(exit status)"  # the name under which a program's own is compared
EVERY = "*"  # in place of the tests that are known: of a program that ends with the first of them


class Comparison:
    """All the runs of one part: which tests are equal, which are open, which differ."""

    def __init__(self):
        self.runs = {"bare": [], "shim": [], "observe": []}

    def add(self, way, results):
        self.runs[way].append(results)

    def tests(self):
        return sorted(set().union(*self.runs["bare"], *self.runs["shim"]))

    def of(self, test, way):
        """A test that did not report is missing: a result as any other."""
        return [run.get(test, "missing") for run in self.runs[way]]

    def open(self):
        """The tests that need another run."""
        return [t for t in self.tests() if judge(self.of(t, "bare"), self.of(t, "shim")) is None]

    def verdicts(self, known=()):
        """known: the tests that fail a server on purpose and try again. Such a one is throttled if
        that is all that the shim did: in observe mode, where every call is hooked and judged and
        none throttled, it ends as bare."""
        found = {t: settle(self.of(t, "bare"), self.of(t, "shim")) for t in self.tests()}
        for test in [t for t in self.named(known) if found.get(t) == DIFFERS and self.is_policy(t)]:
            found[test] = HELD
        if DIFFERS not in [v for t, v in found.items() if t != EXIT] and HELD in found.values():
            if found.get(EXIT) == DIFFERS and self.is_policy(EXIT):
                found[EXIT] = HELD
        return found

    def named(self, known):
        return self.tests() if EVERY in known else known

    def is_policy(self, test):
        """Whether it ends as bare where nothing is throttled: by the same judgement, for a test that
        crashes one time in twenty may do so there."""
        observed = self.of(test, "observe")
        return bool(observed) and settle(self.of(test, "bare"), observed) != DIFFERS

    def policy_is_open(self, known):
        """Whether a test that may be throttled needs another run in observe mode, and bare."""
        return any(
            judge(self.of(t, "bare"), self.of(t, "observe")) is None
            for t in (*self.named(known), EXIT) if t in self.tests()
        )

    def always(self, result):
        """The tests that ended so in every bare run."""
        return [t for t in self.tests() if set(self.of(t, "bare")) == {result}]

    def story(self, test):
        ways = [way for way in self.runs if self.runs[way]]
        return f"{test}: " + "; ".join(f"{way} {' '.join(self.of(test, way))}" for way in ways)
