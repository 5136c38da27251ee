# SPDX-License-Identifier: MIT
"""Runs test modules of Twisted's trial and says each test's result in a line of JSON, in which its
own reporters have none. Usage: trials.py MODULE..."""

import json
import sys

from twisted.trial.reporter import Reporter
from twisted.trial.runner import TestLoader, TrialRunner


class Lines(Reporter):
    def say(self, test, result):
        print("\n" + json.dumps(["result", test.id(), result]), flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say(test, "passed")

    def addError(self, test, error):
        super().addError(test, error)
        self.say(test, "failed")

    def addFailure(self, test, failure):
        super().addFailure(test, failure)
        self.say(test, "failed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(test, "skipped")

    def addExpectedFailure(self, test, failure, todo=None):
        super().addExpectedFailure(test, failure, todo)
        self.say(test, "passed")

    def addUnexpectedSuccess(self, test, todo=None):
        super().addUnexpectedSuccess(test, todo)
        self.say(test, "failed")


if __name__ == "__main__":
    tests = TestLoader().loadByNames(sys.argv[1:])
    outcome = TrialRunner(Lines, stream=sys.stdout).run(tests)
    sys.exit(not outcome.wasSuccessful())
