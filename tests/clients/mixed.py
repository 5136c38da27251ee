# SPDX-License-Identifier: MIT
"""Programs with one event loop that serve a healthy peer and work on a dead one at the same time: the
healthy side must not notice that the dead one is parked or redirected. A sleep in connect, of 20 ms
only, slows it down by a factor of a hundred and more (nginx 400)."""

import os
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time

from catalog import HERE, PORT
from lab import Run, wait_until

MIXED = os.path.join(HERE, "mixed")
DEAD, FRONT = PORT + 1, PORT + 2
REQUESTS, DIALERS, ROUNDS = 600, 4, 3
LIMIT = 30  # seconds for one round
ROUND = 1.5  # seconds at least, as long as a parked connect takes
# Of the healthy requests per second of the bare program. Redirected connects fail as fast as real
# ones, and cost more: down to 0.4 where the processor is the limit. A sleep would show as 0.01.
LEAST = 1 / 5
SLOWEST = 1_000_000  # µs for one healthy request

WAYS = ("bare", "park", "redirect")

CONFIGURATION = """[retrybudget]
mode = enforce
reload = 0
[log]
target = syslog
socket = {socket}
interval = 1s
[destination default]
base = 1s
factor = 1
cap = 1s
jitter = none
nonblocking = {way}
"""

# The dead server twice, so that a request is tried again at once.
NGINX = """daemon off; master_process off; pid {folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 512; }}
http {{
    access_log off; keepalive_requests 1000000;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    upstream healthy {{ server 127.0.0.1:{port}; keepalive 8; }}
    upstream dead {{ {servers} }}
    server {{
        listen 127.0.0.1:{front};
        proxy_http_version 1.1; proxy_set_header Connection "";
        location / {{ proxy_pass http://healthy; }}
        location /dead {{ proxy_pass http://dead; }}
    }}
}}
"""

HAPROXY = """global
    nbthread 1
    maxconn 500
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    retries 3
    option redispatch 1
frontend front
    bind 127.0.0.1:{front}
    use_backend dead if {{ path_beg /dead }}
    default_backend healthy
backend healthy
    server one 127.0.0.1:{port}
backend dead
    balance roundrobin
    {servers}
"""


def nginx(folder):
    servers = f"server 127.0.0.1:{DEAD} max_fails=0; " * 3
    path = os.path.join(folder, "nginx.conf")
    with open(path, "w", encoding="ascii") as f:
        f.write(NGINX.format(folder=folder, port=PORT, front=FRONT, servers=servers))
    return ["nginx", "-p", folder, "-c", path]


def haproxy(folder):
    servers = "\n    ".join(f"server s{i} 127.0.0.1:{DEAD} check inter 10ms" for i in range(4))
    path = os.path.join(folder, "haproxy.cfg")
    with open(path, "w", encoding="ascii") as f:
        f.write(HAPROXY.format(port=PORT, front=FRONT, servers=servers))
    return ["haproxy", "-db", "-q", "-f", path]


def commands(build):
    """Programs that measure themselves, by name."""
    built = os.path.join(build, "clients", "mixed")
    java = ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Xmx64m", "-XX:+UseSerialGC"]
    return {
        "node": ["node", os.path.join(MIXED, "mixed.js")],
        "asyncio": ["/usr/bin/python3", os.path.join(MIXED, "mixed_asyncio.py")],
        "libevent": [os.path.join(built, "libevent")],
        "libuv": [os.path.join(built, "libuv")],
        "java nio": [*java, "-cp", os.path.join(build, "clients", "classes"), "MixedNio"],
    }


PROXIES = {"nginx": nginx, "haproxy": haproxy}


def names():
    return [*PROXIES, *commands("")]


def prepare(build):
    """Ends the run if a program is not there."""
    missing = [c for c in PROXIES if not shutil.which(c)]
    for library in ("libevent", "libuv"):
        path = commands(build)[library][0]
        if not os.path.exists(path):
            missing.append(path)
    if missing:
        sys.exit(f"clients: not there: {', '.join(missing)}. Run scripts/install-deps check and make "
                 "check-clients.")
    classes = os.path.join(build, "clients", "classes")
    source, target = os.path.join(MIXED, "MixedNio.java"), os.path.join(classes, "MixedNio.class")
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        subprocess.run(["javac", "-d", classes, source], check=True)


def measure_itself(command, folder, environment):
    """Runs a program to its end; the µs of its requests and the number of its dials."""
    words = [str(PORT), str(DEAD), str(REQUESTS), str(DIALERS)]
    run = Run([*command, *words], folder, environment)
    try:
        code = run.wait(LIMIT)
    finally:
        run.kill()
    lines = run.output().split("\n")
    if code != 0 or not lines[-2].startswith("dials "):
        why = "still running" if code is None else f"exit {code}"
        return [int(line) for line in lines if line.isdigit()], 0, why
    return [int(line) for line in lines[:-2]], int(lines[-2].split()[1]), ""


def get(connection, path):
    """One request; True if a whole answer came."""
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return False
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(
        line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line
    )
    wanted = int(fields.get(b"content-length", 0))
    while len(body) < wanted:
        more = connection.recv(65536)
        if not more:
            return False
        body += more
    return fields.get(b"connection") != b"close"


def work_on_dead(stop, dials):
    """Asks for what the dead server should answer, one request after the other."""
    while not stop.is_set():
        try:
            with socket.create_connection(("127.0.0.1", FRONT), timeout=20) as connection:
                dials.append(1)
                get(connection, "/dead")
        except OSError:
            pass


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    except OSError:
        return False


def measure_proxy(configure, folder, environment):
    """The same for a proxy, seen from its client."""
    run = Run(configure(folder), folder, environment)
    stop, dials, took = threading.Event(), [], []
    workers = [threading.Thread(target=work_on_dead, args=(stop, dials), daemon=True)
               for _ in range(DIALERS)]
    try:
        if not wait_until(lambda: listens(FRONT), 10):
            with open(run.errors_path, encoding="utf-8", errors="replace") as f:
                return [], 0, f"exit {run.process.poll()}, did not start: {f.read()[:200]}"
        for worker in workers:
            worker.start()
        started = time.monotonic()
        end = started + LIMIT
        connection = socket.create_connection(("127.0.0.1", FRONT), timeout=LIMIT)
        while time.monotonic() < end and (
            len(took) < REQUESTS or time.monotonic() - started < ROUND
        ):
            began = time.monotonic_ns()
            kept = get(connection, "/")
            took.append((time.monotonic_ns() - began) // 1000)
            if not kept:
                connection.close()
                connection = socket.create_connection(("127.0.0.1", FRONT), timeout=LIMIT)
        connection.close()
    except OSError as error:
        code = run.process.poll()
        return took, len(dials), str(error) if code is None else f"exit {code}"
    finally:
        stop.set()
        run.kill()
    return took, len(dials), ""


def summary(rounds):
    """Of the rounds of one way: requests/s and percentiles, in the middle of three; the worst."""
    rates = [len(took) * 1e6 / max(1, sum(took)) for took, _, _ in rounds]
    middle = [statistics.quantiles(took, n=100) if len(took) > 1 else [0] * 99
              for took, _, _ in rounds]
    return {
        "rate": statistics.median(rates),
        "p50": statistics.median(q[49] for q in middle),
        "p99": statistics.median(q[98] for q in middle),
        "worst": max((max(took, default=0) for took, _, _ in rounds), default=0),
        "dials": sum(dials for _, dials, _ in rounds),
    }


def compare(lab, name, library):
    """Bare, parked and redirected, in turns so that a busy machine is as hard on each."""
    rounds = {way: [] for way in WAYS}
    held, problems, chance = {}, [], []
    build = os.path.dirname(library)
    for _ in range(ROUNDS):
        for way in WAYS:
            text = CONFIGURATION.format(socket=lab.log.path, way=way)
            environment = lab.environment("" if way == "bare" else library, text)
            before = len(lab.log.records)
            if name in PROXIES:
                result = measure_proxy(PROXIES[name], lab.folder, environment)
            else:
                result = measure_itself(commands(build)[name], lab.folder, environment)
            records = [r for r in lab.log.fields()[before:] if r.get("event") == "throttled"]
            held[way] = held.get(way, 0) + sum(int(r["throttled"]) for r in records)
            rounds[way].append(result)
            if result[2] or len(result[0]) < REQUESTS:
                kind = problems if result[2].startswith("exit") else chance
                kind.append(f"{way}: {len(result[0])} of {REQUESTS} healthy requests "
                            f"({result[2] or 'out of time'})")
        if problems or chance:
            break  # every other round may take as long
    if problems or chance:
        return {"problems": problems, "chance": chance}
    table = {way: summary(rounds[way]) for way in WAYS}
    for way in WAYS[1:]:
        if table[way]["rate"] < LEAST * table["bare"]["rate"]:
            chance.append(f"{way}: {table[way]['rate']:.0f} healthy requests per second, "
                            f"bare {table['bare']['rate']:.0f}")
        if table[way]["worst"] > max(SLOWEST, 3 * table["bare"]["worst"]):
            chance.append(f"{way}: a healthy request took {table[way]['worst'] / 1e6:.2f} s")
        if not held[way]:
            chance.append(f"{way}: nothing was throttled, so nothing is shown")
        table[way]["held"] = held[way]
    return {"ways": table, "problems": problems, "chance": chance}


def report(done):
    rows = [c for c in done if c["kind"] == "mixed" and "ways" in c["result"]]
    if not rows:
        return
    print(f"\nOne event loop, a healthy peer ({REQUESTS} requests, {ROUNDS} rounds) and a dead one. "
          "dead: what was asked of the\ndead side (proxies: requests; others: connects); held: records"
          " and counts of what was throttled.")
    print(f"\n{'program':<10} {'way':<9} {'healthy/s':>9} {'p50 µs':>8} {'p99 µs':>8} "
          f"{'worst µs':>9} {'dead':>8} {'held':>8}")
    for case in rows:
        for way, r in case["result"]["ways"].items():
            print(f"{case['client']:<10} {way:<9} {r['rate']:>9.0f} {r['p50']:>8.0f} "
                  f"{r['p99']:>8.0f} {r['worst']:>9} {r['dials']:>8} {r.get('held', '-'):>8}"
                  f"{'  FAIL' if case['result']['problems'] else ''}")
