# SPDX-License-Identifier: MIT
"""Tests of others that retry a server which they themselves make fail: what the shim is there to
throttle. Each is believed only while it ends as bare in observe mode. {part: {test: why}}"""

ONCE_MORE = "tries once more, at once: refused until the backoff of a tenth of a second is over"

THROTTLED = {
    "ruby/net/http/test_http": {
        "TestNetHTTPKeepAlive#test_keep_alive_server_close":
            f"its server closes each connection without an answer; net/http {ONCE_MORE}, as nobody "
            "listened, where it expects the end of the connection",
    },
    "tornado/process": {
        "tornado.test.process_test.ProcessTest.test_multi_process":
            "asks a server to die without an answer, five times within a second, on one port; one of "
            "the next connects is refused",
    },
    "tornado/web": {
        "tornado.test.web_test.ErrorResponseTest.test_default":
            "asks its own server for a 500, a 503 and a 435 in a row, each on a new connection, "
            "within a millisecond; the third connect is refused: two requests have failed there, "
            "and what the third will ask is not known yet",
    },
}
