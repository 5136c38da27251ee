# SPDX-License-Identifier: MIT
"""One play of a storm, in the namespaces of this process: servers, hops and clients, with the library or
without. What it measures is measured at the servers: attempts by their SYNs, answers by the server's own count."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "clients"))

from lab import MS_BIND, Helper, die_with_parent, loopback_up, mount  # noqa: E402  (the path had to be set first)

QUERY_A = 1  # the resolver's journal
SLACK = 15  # seconds that clients may take longer than they were told
LOOK = 0.2  # seconds from one look at the traffic to the next


def environment(folder, library, policy, name):
    found = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"}
    if library:
        config = os.path.join(folder, name + ".ini")
        with open(config, "w", encoding="ascii") as file:
            file.write("[log]\ntarget = none\n" + policy.replace("; ", "\n") + "\n")
        found["LD_PRELOAD"] = library
        found["RETRYBUDGET_CONFIG"] = config
    return found


def work_of(text, keeps_each):
    """The pieces of work that the clients tell of: a kind, milliseconds and ok or an error. Kept each: in the order
    in which they ended, [milliseconds, was it answered]."""
    times, errors, kinds, each = [], {}, {}, []
    for line in text.splitlines():
        words = line.split()
        if len(words) != 3:
            continue
        times.append(float(words[1]))
        each.append([times[-1], int(words[2] == "ok")])
        kinds.setdefault(words[0], []).append(float(words[1]))
        if words[2] != "ok":
            errors[words[2]] = errors.get(words[2], 0) + 1
    asked = len(times)
    return {"asked": asked, "ok": asked - sum(errors.values()), "errors": errors, **quantiles(times),
            "by kind": {kind: quantiles(some) for kind, some in kinds.items()},
            **({"each": each} if keeps_each else {})}


def quantiles(times):
    times, asked = sorted(times), len(times)
    return {"p50": times[asked // 2] if asked else None,
            "p99": times[min(asked - 1, asked * 99 // 100)] if asked else None}


def bins(moments, began, seconds):
    found = [0] * int(seconds * 10)
    for moment in moments:
        at = int((moment - began) / 1e8)
        if 0 <= at < len(found):
            found[at] += 1
    return found


class Play:
    """The programs of one case, and what came of them."""

    def __init__(self, options, case):
        self.options, self.case = options, case
        self.folder = tempfile.mkdtemp(prefix="retrybudget-lab-")
        os.chmod(self.folder, 0o755)
        self.servers, self.hops, self.clients, self.resolver = [], [], [], None
        self.syns, self.asking = None, threading.Lock()  # the resolver

    def filled(self, command):
        words = {"{B}": self.options.build, "{F}": self.folder, "{L}": HERE}
        for word in map(str, command):
            for name, value in words.items():
                word = word.replace(name, value)
            yield word

    def start(self, command, library, policy, name, **more):
        return subprocess.Popen(list(self.filled(command)), cwd=self.folder, text=True,
                                env=environment(self.folder, self.options.shim if library else None, policy, name),
                                stdin=more.pop("stdin", subprocess.DEVNULL), preexec_fn=die_with_parent, **more)

    def prepare(self):
        loopback_up()
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777")
        self.syns = Helper(os.path.join(self.options.build, "clients", "syns"))
        for name, text in self.case.get("files", {}).items():
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
                file.write(text)
        for command in self.case.get("before", []):
            subprocess.run(command, check=True)
        if "dns" in self.case:
            path = os.path.join(self.folder, "resolv.conf")
            with open(path, "w", encoding="ascii") as file:
                file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
            mount(path, "/etc/resolv.conf", "", MS_BIND)
            self.resolver = Helper(os.path.join(self.options.build, "clients", "dns"), self.case["dns"][0][1])

    def start_servers(self):
        for number, one in enumerate(self.case["servers"]):
            command, policy = (one["command"], one["policy"]) if isinstance(one, dict) else (one, None)
            server = self.start(command, policy is not None, policy or "", f"server{number}", stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
            if server.stdout.readline().strip() != "ready":
                raise RuntimeError(f"{command[0]} did not start")
            self.servers.append(server)

    def start_programs(self):
        policy = self.case["policy"]
        for number, hop in enumerate(self.case.get("hops", [])):
            self.hops.append(self.start(hop["command"], hop["library"], policy, f"hop{number}"))
        if self.hops:
            time.sleep(1)
        for number, client in enumerate(self.case["clients"]):
            with open(os.path.join(self.folder, f"client{number}"), "w", encoding="utf-8") as out:
                self.clients.append(self.start(client["command"], client["library"], policy, f"client{number}",
                                               stdout=out))

    def ask_resolver(self, order):
        with self.asking:
            return self.resolver.ask(order)

    def do_later(self, began):
        """What is to happen at a moment: of the resolver, or of the machine."""
        orders = [(at, self.ask_resolver, f"mode {mode}") for at, mode in self.case.get("dns", [])[1:]]
        orders += [(at, lambda command: subprocess.run(command, check=True), command)
                   for at, command in self.case.get("then", [])]
        for at, call, what in orders:
            timer = threading.Timer(max(0, at - (time.monotonic_ns() - began) / 1e9), call, [what])
            timer.daemon = True
            timer.start()

    def counted(self):
        """Attempts so far, at all that is counted."""
        return sum(int(self.ask_resolver(f"count {QUERY_A} 0")) if port == "dns" else self.syns.count(port)
                   for port in self.case["ports"])

    def wait(self):
        """Until all clients have ended, their time is over, or more came than may. Returns what came if that is so."""
        end = time.monotonic() + self.case["seconds"] + SLACK
        over = None
        while not over and time.monotonic() < end and any(one.poll() is None for one in self.clients):
            time.sleep(LOOK)
            count = self.counted()
            over = count if count > self.case["most"] else None
        for one in self.clients:
            one.kill()
            one.wait()
        return over

    def work(self):
        groups = {}
        for number, client in enumerate(self.case["clients"]):
            with open(os.path.join(self.folder, f"client{number}"), encoding="utf-8") as file:
                groups.setdefault(client.get("group", "work"), []).append(file.read())
        return {group: work_of("".join(texts), self.case.get("each")) for group, texts in groups.items()}

    def end(self):
        for one in self.hops:
            one.kill()
            one.wait()
        self.syns.process.kill()
        shutil.rmtree(self.folder)


def play(options, case):
    """What of a case is optional: hops (between clients and servers, started a second before them), policy, files,
    dns (moments, and how the resolver answers from then on), before and then (commands of the machine, such as a
    firewall's; then: with moments), each (keep the time of each piece of work). Most: attempts, of all that are
    counted, after which the play is ended. Of commands: {B} the build, {L} this folder, {F} the play's own."""
    one, seconds = Play(options, case), case["seconds"]
    one.prepare()
    one.start_servers()
    began = time.monotonic_ns()
    one.do_later(began)
    one.start_programs()
    over = one.wait()
    found = {"over": over, "seconds": seconds, "load": {}, "answered": {}, "in_vain": {}, "reset": {}, "waiting": {},
             "work": one.work()}
    for port in case["ports"]:
        times = one.resolver.times(QUERY_A) if port == "dns" else one.syns.times(port)
        found["load"][port] = bins(times, began, seconds)
    for port, server in zip(case["server_ports"], one.servers):
        out, _ = server.communicate()
        rows = [list(map(int, line.split())) for line in out.splitlines() if len(line.split()) == 4]
        for place, name in enumerate(("answered", "in_vain", "reset", "waiting")):
            found[name][port] = [row[place] for row in rows][:int(seconds * 10)]
    one.end()
    return found


def main(options):
    json.dump(play(options, json.load(sys.stdin)), sys.stdout)
