# SPDX-License-Identifier: MIT
"""Tests of others that retry a server which they themselves make fail: what the shim is there to
hold back. Each is believed only while it ends as bare in observe mode. {part: {test: why}}"""

HELD_BACK = {
    "tornado/process": {
        "tornado.test.process_test.ProcessTest.test_multi_process":
            "asks a server to die without an answer, five times within a second, on one port; from "
            "the third connect on it is parked",
    },
    # Only where localhost has two addresses, and Apache takes libsoup's configuration.
    "tcl/http": {
        "http-4.14":
            "asks a port that refuses, by both addresses of localhost, again at once: parked, which "
            "ends in ETIMEDOUT, where it compares the text for ECONNREFUSED",
    },
    "libsoup/connection-test": {
        "/connection/preconnect":
            "connects three times in a row to a port that refuses: as above",
    },
}
