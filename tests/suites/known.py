# SPDX-License-Identifier: MIT
"""Tests of others that retry a server which they themselves make fail: what the shim is there to
hold back. Each is believed only while it ends as bare in observe mode. {part: {test: why}}"""

from verdict import EVERY

ONCE_MORE = "tries once more, at once: refused until the backoff of a tenth of a second is over"

RACING = "test.test_asyncio.test_sock_lowlevel.{}EventLoopTests.test_sock_client_connect_racing"

HELD_BACK = {
    "cpython/test_asyncio.test_sock_lowlevel": {
        RACING.format(loop): f"connects to a port that refuses, opens it, and {ONCE_MORE}; 128 times, "
                             "all before that, and then skips itself"
        for loop in ("EPoll", "Poll", "Select")
    },
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
    "libsoup/timeout-test": {
        "/timeout/http/async":
            f"its session gives up on a server that is asleep; the next request {ONCE_MORE}",
    },
    "libsoup/misc-test": {
        EVERY:
            "its server resets the first connection that it ever gets, for too long a head; the next "
            f"test {ONCE_MORE}, and the program ends there",
    },
}
