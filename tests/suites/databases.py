# SPDX-License-Identifier: MIT
"""A database and its own benchmark: every request is answered, and counted by the server. Both
inherit the shim, or its absence. Usage: databases.py redis|postgresql"""

import glob
import os
import re
import shutil
import subprocess
import sys
import time

FOLDER = os.environ["TMPDIR"]
PORT = "7379"


def say(good, name, why=""):
    print(f"passed {name}" if good else f"failed {name}: {why}", flush=True)


def output(*command):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def until(command, seconds=30):
    """Bare: a server that is not up yet is a failing one, and its repeats would be throttled."""
    end = time.monotonic() + seconds
    while output("env", "-u", "LD_PRELOAD", *command)[0] and time.monotonic() < end:
        time.sleep(0.1)


def is_reached(pid):
    """Under the shim the server must have it too, whoever it runs as."""
    preload = os.environ.get("LD_PRELOAD", "")
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        return preload in f.read()


def redis_calls(command):
    text = output("redis-cli", "-p", PORT, "info", "commandstats")[1]
    found = re.search(rf"cmdstat_{command}:calls=(\d+)", text)
    return int(found[1]) if found else 0


def redis():
    unix = os.path.join(FOLDER, "redis.sock")
    server = subprocess.Popen(
        ["redis-server", "--port", PORT, "--unixsocket", unix, "--dir", FOLDER, "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    until(["redis-cli", "-p", PORT, "ping"])
    say(is_reached(server.pid), "redis is reached")
    runs = (
        ("kept connections", 40000, ["-p", PORT, "-c", "50"]),
        ("pipelined", 80000, ["-p", PORT, "-c", "20", "-P", "16"]),
        ("a connection per request", 8000, ["-p", PORT, "-c", "20", "-k", "0"]),
        ("unix socket", 40000, ["-s", unix, "-c", "50"]),
        ("unix socket, a connection per request", 8000, ["-s", unix, "-c", "20", "-k", "0"]),
        ("threads", 40000, ["-p", PORT, "-c", "50", "--threads", "2"]),
    )
    for name, n, more in runs:
        before = redis_calls("set"), redis_calls("get")
        status, text = output("redis-benchmark", "-n", str(n), "-t", "set,get", "-q", *more)
        done = redis_calls("set") - before[0], redis_calls("get") - before[1]
        # A benchmark that has what it wants leaves before the last answers come, and sends more
        # than it counts: with a connection per request it may be a few on the way.
        right = status == 0 and "rror" not in text and all(n <= d <= n + 50 for d in done)
        say(right, f"redis {name}", f"status {status}, {done} of {n}, {text[-300:]!r}")
    errors = output("redis-cli", "-p", PORT, "info", "stats")[1]
    say("rejected_connections:0" in errors and "total_error_replies:0" in errors, "redis no errors",
        errors)
    output("redis-cli", "-p", PORT, "shutdown", "nosave")
    say(server.wait(30) == 0, "redis ends well")


def postgresql():
    home = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    # initdb refuses root, and a user namespace has no other user.
    if not home or os.getuid() or not shutil.which("runuser"):
        print("skipped postgresql: no server here, or not root")
        return
    binaries = os.path.dirname(home[-1])
    data = os.path.join(FOLDER, "data")
    user = ["runuser", "-u", "postgres", "--"]
    start = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories={FOLDER} -c fsync=off"
    for command in (
        [f"{binaries}/initdb", "-D", data, "-A", "trust", "-U", "bench"],
        [f"{binaries}/pg_ctl", "-D", data, "-w", "-l", f"{FOLDER}/log", "-o", start, "start"],
        [f"{binaries}/createdb", "-h", FOLDER, "-U", "bench", "bench"],
        [f"{binaries}/pgbench", "-q", "-i", "-s", "5", "-h", FOLDER, "-U", "bench", "bench"],
    ):
        status, text = output(*user, *command)
        say(status == 0, f"postgresql {os.path.basename(command[0])}", text[-500:])
    with open(f"{data}/postmaster.pid", encoding="ascii") as f:
        say(is_reached(f.readline().strip()), "postgresql is reached")
    runs = (
        ("kept connections", 8, 600, ["-h", "127.0.0.1"]),
        ("a connection per transaction", 8, 60, ["-C", "-h", "127.0.0.1"]),
        ("unix socket", 8, 600, ["-h", FOLDER]),
        ("unix socket, a connection per transaction", 8, 60, ["-C", "-h", FOLDER]),
        ("threads, prepared, select only", 8, 2000, ["-S", "-j4", "-Mprepared", "-h", "127.0.0.1"]),
    )
    for name, clients, each, more in runs:
        status, text = output(
            *user, f"{binaries}/pgbench", "-n", "-c", str(clients), "-t", str(each), "-U", "bench",
            *more, "bench",
        )
        n = clients * each
        right = (status == 0 and f"actually processed: {n}/{n}\n" in text
                 and "failed transactions: 0 " in text)
        say(right, f"postgresql {name}", f"status {status}, {text[-500:]!r}")
    query = "select count(*) from pgbench_history"
    ask = [f"{binaries}/psql", "-h", FOLDER, "-U", "bench", "-Atc", query, "bench"]
    status, text = output(*user, *ask)
    kept = sum(c * each for _, c, each, more in runs if "-S" not in more)
    say(text.strip() == str(kept), "postgresql kept every transaction", f"{text!r} of {kept}")
    status, text = output(*user, f"{binaries}/pg_ctl", "-D", data, "-w", "stop")
    say(status == 0, "postgresql ends well", text[-500:])
    with open(f"{FOLDER}/log", encoding="utf-8", errors="replace") as f:
        bad = [line for line in f if re.search(r"\b(ERROR|FATAL|PANIC)\b|could not", line)]
    say(not bad, "postgresql no errors", repr(bad[:5]))


if __name__ == "__main__":
    {"redis": redis, "postgresql": postgresql}[sys.argv[1]]()
