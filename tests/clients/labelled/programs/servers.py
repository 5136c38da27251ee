# SPDX-License-Identifier: MIT
"""Servers that are clients too. Their backend answers at every address of 127.0.0.0/8."""

import os

from behind import Behind, Checks
from client import DRIVERS

PYTHON = ["/usr/bin/python3", "-B"]
NGINX = ["nginx", "-e", "stderr", "-p", "{folder}", "-c", "{config}"]
HAPROXY = ["haproxy", "-db", "-q", "-f", "{config}"]


def daemon(name, file, *arguments, **more):
    command = [*PYTHON, os.path.join(DRIVERS, file), "{host}", "{port}", "{listen}", *arguments]
    return Behind(name, command, fresh=True, **more)


def nginx(name, peers, **more):
    return Behind(name, NGINX, template="nginx.conf", words=(("peers", peers),), **more)


def haproxy(name, servers, retry_on="conn-failure", **more):
    words = (("servers", servers), ("retry_on", retry_on))
    return Behind(name, HAPROXY, template="haproxy.cfg", words=words, **more)


ONE = "server one 127.0.0.1:{port}"
TWO = "server two 127.0.0.2:{port}"
CHECK = "check inter 100ms"

CLIENTS = [
    daemon("prefork server, 3 tries", "prefork.py", "3", refuse=True),
    daemon("prefork server, one try", "prefork.py", "1", refuse=True, retries=False),
    daemon("proxy in threads", "proxy_threads.py", retries=False),
    daemon("proxy in threads, clients retry", "proxy_threads.py", retries=False, tries=3),
    daemon("proxy with epoll", "proxy_epoll.py", retries=False),
    daemon("proxy with epoll, clients retry", "proxy_epoll.py", retries=False, tries=3),
    # The second server is a failover; max_fails=0: the first is tried again for every request.
    nginx("nginx, two servers", "server 127.0.0.1:{port} max_fails=0; "
          "server 127.0.0.2:{port} max_fails=0;", retries=False),
    nginx("nginx, two servers, max_fails=1", "server 127.0.0.1:{port} fail_timeout=1s; "
          "server 127.0.0.2:{port} max_fails=0;", retries=False),
    # One server listed twice: the second try goes to the address that has just failed.
    nginx("nginx, one server twice", 2 * "server 127.0.0.1:{port} max_fails=0; ", fresh=True),
    haproxy("haproxy, connection retries", f"{ONE}\n    {TWO}"),
    haproxy("haproxy, request retries", ONE, "conn-failure empty-response response-timeout"),
    Checks("haproxy, health checks", HAPROXY, template="haproxy.cfg",
           words=(("servers", f"{ONE} {CHECK}\n    {TWO} {CHECK}"), ("retry_on", "conn-failure")),
           retries=False),
]
