# SPDX-License-Identifier: MIT
"""Runs test modules of Python's unittest and says each test's result in a line of JSON, for runners
that have no report a machine can read. Usage: unittests.py MODULE..."""

import json
import sys
import unittest


class Lines(unittest.TextTestResult):
    def say(self, test, result):
        print("\n" + json.dumps(["result", test.id(), result]), flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say(test, "passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, "failed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, "failed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.say(test, "failed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(test, "skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.say(test, "passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.say(test, "failed")


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    outcome = unittest.TextTestRunner(resultclass=Lines, stream=sys.stdout).run(suite)
    sys.exit(not outcome.wasSuccessful())
