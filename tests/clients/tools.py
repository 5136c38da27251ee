# SPDX-License-Identifier: MIT
"""More clients for the matrix: tools that retry by themselves, tools in a shell loop (a process per
attempt), services that depend on what fails, and clients of datagrams. They only have to keep the
promises of the matrix; the storms of catalog.py are held against the goals as well."""

import os

from catalog import FREE, LOOKUPS, LOOPS, MAY_WORK, PAGE, POOLED, SLOW, Client, until

TCP = ("refused", "reset", "close", "read-close")
ALL = (*TCP, "servfail", *LOOKUPS, *SLOW, *FREE)
CONNECT = ("refused", "reset", "close", *SLOW)  # where the server speaks first
# A process per attempt costs what a process costs, at ten times the usual pace.
PROCESSES = {"failures": (), "most_cpu": 0.45}


def loop(name, runtime, command, answer, further, **more):
    return Client(name, runtime, command, [], answer, failures=(), further=further, **more)


def python(name, file, answer, further=ALL, **more):
    path = ["/usr/bin/python3", os.path.join(LOOPS, file), "loop", "{host}", "{port}"]
    return loop(name, "Python", path, answer, further, **more)


def front(kind, answer, further, **more):
    path = ["/usr/bin/python3", os.path.join(LOOPS, "front.py"), kind, "{host}", "{port}"]
    return loop(kind, "C", path, answer, further, service=True, endless=not answer, **more)


def own_loops():
    url = "http://{host}:{port}/"
    lftp = ("set net:max-retries 0; set net:reconnect-interval-base 1;"
            "set net:reconnect-interval-max 1; set net:reconnect-interval-multiplier 1; set net:timeout {timeout};"
            "set net:persist-retries 1000000; set dns:fatal-timeout never; set dns:max-retries 0;"
            "set cmd:fail-exit yes; cat ")
    return [
        python("python redis", "redis_loop.py", "PONG\n", (*ALL, "loading", "unix")),
        python("python requests", "requests_loop.py", PAGE),
        python("python aiohttp", "aiohttp_loop.py", PAGE, **POOLED),
        loop("gawk /inet", "C", ["gawk", "-f", os.path.join(LOOPS, "inet.awk"), "loop", "{host}",
                                 "{port}"], "hello from gawk\n", ALL),
        loop("wrk", "C", ["wrk", "-t1", "-c2", "-d60s", "--timeout", "1s", url], "",
             ("reset", "close", "read-close", *FREE, "hang", "backlog"), endless=True,
             foreign=True, why_not="it ends unless its first connection is made"),
        loop("siege", "C", ["siege", "-R", os.path.join(LOOPS, "siege.rc"), "-b", "-c1",
                                "-r20", url], "", TCP, endless=True, foreign=True, gives_up=True),
        loop("ab", "C", ["ab", "-r", "-q", "-n", "20", "-c", "2", "-s", "5", url], "",
             ("refused", "reset", "close"), endless=True, foreign=True, gives_up=True),
        loop("kcat", "C", ["sh", "-c", "echo message | kcat -E -P -b {host}:{port} -t topic "
                           "-X reconnect.backoff.ms=1 -X reconnect.backoff.max.ms=1"], "",
             (*TCP, *SLOW), endless=True, foreign=True, calm=True),
        loop("lftp", "C", ["lftp", "-c", lftp + url], PAGE, ("refused", *SLOW), calm=True),
        loop("ssh", "C", ["ssh", "-F", "none", "-o", "ConnectionAttempts=1000", "-o",
                          "ConnectTimeout=1", "-p", "{port}", "nobody@{host}"], "",
             ("refused", "silent"), endless=True, foreign=True, calm=True),
        front("nginx", PAGE, (*TCP, "silent"), excused=10),
        # Its checks run on the threads that take requests. Each request may excuse a check on the
        # thread that accepted its connection, and one on the thread that read it.
        front("haproxy", PAGE, ("refused", "silent"), excused=20),
        front("rsyslog", "", ("refused", "silent"), foreign=True),
    ]


def process_loops():
    url = "http://{host}:{port}/"
    foreign = {**PROCESSES, "endless": True, "foreign": True}
    return [
        until("until aria2c", ["aria2c", "-q", "--no-conf", "--max-tries=1", "--timeout=1",
                               "--connect-timeout=1", "--allow-overwrite=true", "-o", "page", url],
              further=(*TCP, *SLOW), **foreign),
        until("until tnftp", ["tnftp", "-q", "1", "-o", "-", url], PAGE,
              further=("refused", *SLOW, "error", "servfail"),
              why_not="it sends each line by itself, so that a SIGPIPE may end it with its socket open, "
                      "and nobody sees how the attempt went (its next process is taken for a first "
                      "try)", **PROCESSES),
        until("until w3m", ["-line", "w3m", "-dump_source", url], PAGE, further=("refused", *SLOW),
              **PROCESSES),
        until("until mosq.._sub", ["mosquitto_sub", "-h", "{host}", "-p", "{port}", "-t", "x", "-C",
                                   "1"], further=("refused", "servfail"), **foreign),
        until("until mariadb", ["mariadb", "--no-defaults", "-h", "{host}", "-P", "{port}",
                                "--protocol=tcp", "--connect-timeout=1", "-e", "select 1"],
              further=(*CONNECT, "servfail"), **foreign),
        until("until pg_isready", ["pg_isready", "-q", "-h", "{host}", "-p", "{port}", "-t", "1"],
              further=(*TCP, *SLOW, "servfail"), **foreign),
        until("until memccat", ["memccat", "--servers={host}:{port}", "key"],
              further=(*TCP, "silent"), **foreign),
        until("until ldapsearch", ["ldapsearch", "-x", "-H", "ldap://{host}:{port}", "-o",
                                   "nettimeout=1", "-l", "1", "-b", ""], further=("refused", *SLOW),
              **foreign),
        until("until gearman", ["-line", "gearman", "-h", "{host}", "-p", "{port}", "-t", "1000",
                                "-f", "x", "y"], further=("refused", *SLOW), **foreign),
        until("until nc -U", ["nc.openbsd", "-N", "-U", "{host}"], further=("unix",), **foreign),
    ]


def secured():
    """The server speaks no TLS: what they meet, they meet before or inside the handshake."""
    url = "https://{host}:{port}/"
    common = {"foreign": True, "endless": True, "policy": "tls = on\n", **MAY_WORK}
    ways = ("refused", "close", "hang")
    client = ["/usr/bin/python3", os.path.join(LOOPS, "tls_loop.py"), "http.client", "until",
              "{host}", "{port}", "{timeout}"]
    return [
        loop("python TLS", "Python", client, "", ways, **common),
        loop("curl TLS", "C", ["curl", "-sSfqk", "-m", "{timeout}", "--noproxy", "*",
                               url + "[1-1000000]"], "", ways, entries=True, **common),
        until("until wget TLS", ["wget", "-nv", "--no-config", "--no-check-certificate", "-t", "1",
                                 "-T", "{timeout}", "-O", "-", url], further=ways,
              **{**PROCESSES, **common}),
    ]


def datagrams():
    python_udp = ["/usr/bin/python3", os.path.join(LOOPS, "udp_loop.py"), "{host}", "{port}"]
    request = "echo User-Name=x | radclient -r 4 -t 1 -x {host}:{port} auth secret"
    return [
        loop("python udp", "Python", python_udp, "", ("udp",), gives_up=True),
        loop("bash /dev/udp", "shell", ["bash", os.path.join(LOOPS, "udp.bash"), "{host}", "{port}"],
             "", ("udp",), gives_up=True),
        loop("snmpget", "C", ["snmpget", "-v1", "-c", "x", "-r", "5", "-t", "0.3", "{host}:{port}",
                              ".1.3.6.1.2.1.1.1.0"], "", ("udp",), gives_up=True),
        loop("radclient", "C", ["sh", "-c", request], "", ("udp",), gives_up=True),
    ]


def clients():
    return [*own_loops(), *process_loops(), *secured(), *datagrams()]
