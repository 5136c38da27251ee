# SPDX-License-Identifier: MIT
"""One play of a storm, in the namespaces of this process: servers, hops and clients, with the library or
without. What it measures is measured at the servers: attempts by their SYNs, answers by the server's own count."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "clients"))

from lab import Helper, die_with_parent, loopback_up, mount  # noqa: E402  (the path had to be set first)

SLACK = 15  # seconds that clients may take longer than they were told


def environment(folder, library, policy, name):
    found = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"}
    if library:
        config = os.path.join(folder, name + ".ini")
        with open(config, "w", encoding="ascii") as file:
            file.write("[log]\ntarget = none\n" + policy.replace("; ", "\n") + "\n")
        found["LD_PRELOAD"] = library
        found["RETRYBUDGET_CONFIG"] = config
    return found


def start(command, folder, environ, **more):
    return subprocess.Popen(command, cwd=folder, env=environ, stdin=more.pop("stdin", subprocess.DEVNULL),
                            text=True, preexec_fn=die_with_parent, **more)


def work_of(text):
    """The pieces of work that the clients tell of: milliseconds and ok or an error."""
    times, errors = [], {}
    for line in text.splitlines():
        words = line.split()
        if len(words) != 3:
            continue
        times.append(float(words[1]))
        if words[2] != "ok":
            errors[words[2]] = errors.get(words[2], 0) + 1
    times.sort()
    asked = len(times)
    return {"asked": asked, "ok": asked - sum(errors.values()), "errors": errors,
            "p50": times[asked // 2] if asked else None,
            "p99": times[min(asked - 1, asked * 99 // 100)] if asked else None}


def bins(moments, began, seconds):
    found = [0] * int(seconds * 10)
    for moment in moments:
        at = int((moment - began) / 1e8)
        if 0 <= at < len(found):
            found[at] += 1
    return found


def play(options, case):
    """case: servers (commands), hops and clients (each a command, with "library": true or false, and a
    policy), ports to count, seconds, and before: commands of the machine's own, such as a firewall's."""
    folder = tempfile.mkdtemp(prefix="retrybudget-lab-")
    os.chmod(folder, 0o755)
    loopback_up()
    mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777")
    for command in case.get("before", []):
        subprocess.run(command, check=True)
    syns = Helper(os.path.join(options.build, "clients", "syns"))
    servers, hosts, clients = [], [], []
    for command in case["servers"]:
        one = start(fill(command, options), folder, environment(folder, None, "", ""),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if one.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{command[0]} did not start")
        servers.append(one)
    began = time.monotonic_ns()
    for number, host in enumerate(case.get("hops", [])):
        library = options.shim if host["library"] else None
        hosts.append(start(fill(host["command"], options), folder,
                           environment(folder, library, case["policy"], f"hop{number}")))
    if hosts:
        time.sleep(1)
    for number, client in enumerate(case["clients"]):
        library = options.shim if client["library"] else None
        with open(os.path.join(folder, f"client{number}"), "w", encoding="utf-8") as out:
            clients.append(start(fill(client["command"], options), folder,
                                 environment(folder, library, client.get("policy", case["policy"]), f"client{number}"),
                                 stdout=out))
    end = time.monotonic() + case["seconds"] + SLACK
    for one in clients:
        try:
            one.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()
    lines = []
    for number in range(len(clients)):
        with open(os.path.join(folder, f"client{number}"), encoding="utf-8") as file:
            lines.append(file.read())
    found = {"seconds": case["seconds"], "load": {}, "answered": {}, "in_vain": {}, "reset": {}, "waiting": {}}
    groups = {}
    for client, text in zip(case["clients"], lines):
        groups.setdefault(client.get("group", "work"), []).append(text)
    found["work"] = {group: work_of("".join(texts)) for group, texts in groups.items()}
    for port in case["ports"]:
        found["load"][port] = bins(syns.times(port), began, case["seconds"])
    for port, one in zip(case["server_ports"], servers):
        out, _ = one.communicate()
        rows = [list(map(int, line.split())) for line in out.splitlines() if len(line.split()) == 4]
        for place, name in enumerate(("answered", "in_vain", "reset", "waiting")):
            found[name][port] = [row[place] for row in rows][:int(case["seconds"] * 10)]
    for one in hosts:
        one.kill()
        one.wait()
    syns.process.kill()
    shutil.rmtree(folder)
    return found


def fill(command, options):
    return [str(word).replace("{B}", options.build).replace("{H}", os.path.join(os.path.dirname(HERE), "harm", "hosts"))
            for word in command]


def main(options):
    json.dump(play(options, json.load(sys.stdin)), sys.stdout)
