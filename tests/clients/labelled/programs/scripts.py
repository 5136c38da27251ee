# SPDX-License-Identifier: MIT
"""Node, Perl, Ruby, PHP."""

from client import driver

CLIENTS = [
    driver("node http", ["node"], "http.js", "3", "close"),
    driver("node http, kept", ["node"], "http.js", "3", "keep"),
    driver("node http, one try", ["node"], "http.js", "1", "close", retries=False),
    driver("perl HTTP::Tiny", ["perl"], "tiny.pl", "3"),
    driver("perl LWP, kept", ["perl"], "lwp.pl", "3", named=True),
    driver("ruby net/http", ["ruby"], "nethttp.rb", "3", named=True),
    driver("php contents", ["php"], "contents.php", "3"),
]
