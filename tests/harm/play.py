# SPDX-License-Identifier: MIT
"""Plays a scene once, in the namespaces of this process, bare or under the shim; returns what came
of it for verdict.py."""

import os
import resource
import signal
import socket
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SLACK = 12  # seconds that a host may take longer than it was told


def summary(lines):
    """The work that the host tells of, by kind."""
    kinds = {}
    for line in lines:
        words = line.split()
        if len(words) == 3 and words[0] in ("h", "d", "p"):
            kinds.setdefault(words[0], []).append((float(words[1]), words[2]))
    return {kind: about(work) for kind, work in kinds.items()}


def about(work):
    times = sorted(ms for ms, _ in work)
    errors = {}
    for _, word in work:
        if word != "ok":
            errors[word] = errors.get(word, 0) + 1
    return {
        "asked": len(work),
        "ok": sum(word == "ok" for _, word in work),
        "errors": errors,
        "p50": times[len(times) // 2],
        "p99": times[min(len(times) - 1, int(len(times) * 0.99))],
        "max": times[-1],
    }


def ports(text):
    found = {}
    for line in text.splitlines():
        words = [int(word) for word in line.split()]
        about_port = found.setdefault(
            words[0], {"syns": 0, "connections": 0, "requests": 0, "by_second": []})
        for name, count in zip(("syns", "connections", "requests"), words[1:4]):
            about_port[name] += count
        about_port["by_second"] = words[4:]
    return found


def wait_for(port, process):
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"the host does not listen at {port}")


def processor(pid):
    """Seconds of processor time that the threads of a process have used. By the scheduler's account: the
    ticks of /proc/PID/stat count threads that a timer wakes for twice what they use."""
    used = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            used += int(file.read().split()[0])
    return used / 1e9


def stop(process):
    """Ends a process and what it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            pass


def listening(port):
    fd = socket.socket()
    fd.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    fd.bind(("127.0.0.1", port))
    fd.listen(1024)
    return fd


class Play:
    def __init__(self, scene, build, shim, off):
        self.scene, self.folder = scene, tempfile.mkdtemp(prefix="harm.")
        self.seconds = scene["seconds"]
        if not shim and scene.get("storm") and not scene.get("load") and scene.get("brief", True):
            self.seconds = min(self.seconds, scene.get("brief_seconds", 1.5))
        self.words = {
            "B": os.path.join(build, "harm"), "H": HERE, "S": str(self.seconds), "T": self.folder,
        }
        policy = os.path.join(self.folder, "retrybudget.ini")
        with open(policy, "w", encoding="ascii") as file:
            file.write(scene.get("policy", ""))
        self.environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.folder,
            "LC_ALL": "C.UTF-8", "RETRYBUDGET_CONFIG": policy, "RETRYBUDGET_LOG": "stderr",
        }
        if shim:
            self.environment["LD_PRELOAD"] = shim
        if off:
            self.environment["RETRYBUDGET"] = off

    def filled(self, text):
        for name, value in self.words.items():
            text = text.replace("{" + name + "}", value)
        return text

    def start(self, command, log, environment=None, **more):
        with open(os.path.join(self.folder, log), "w", encoding="ascii") as errors:
            return subprocess.Popen(
                [self.filled(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=errors, text=True, cwd=self.folder,
                start_new_session=True, **more)

    def files(self):
        for name, text in self.scene.get("files", {}).items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(self.filled(text))
        if self.scene.get("dns"):
            resolver = os.path.join(self.folder, "resolv.conf")
            with open(resolver, "w", encoding="ascii") as file:
                file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
            subprocess.run(["mount", "--bind", resolver, "/etc/resolv.conf"], check=True)
        if self.scene.get("names"):
            names = os.path.join(self.folder, "names")
            with open(names, "w", encoding="ascii") as file:
                file.write("127.0.0.1 localhost\n" + "".join(f"{line}\n" for line in self.scene["names"]))
            subprocess.run(["mount", "--bind", names, "/etc/hosts"], check=True)

    def run(self):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # A storm must not end because its ports are used up: each connection leaves one waiting.
        try:
            with open("/proc/sys/net/ipv4/tcp_max_tw_buckets", "w", encoding="ascii") as file:
                file.write("2000")
        except OSError:
            pass  # then it may, on such a machine
        if self.scene.get("own_ports"):
            with open("/proc/sys/net/ipv4/ip_local_port_range", "w", encoding="ascii") as file:
                file.write(self.scene["own_ports"])
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 8192), limit))
        self.files()
        servers = subprocess.Popen(
            [self.words["B"] + "/faulty", *[self.filled(s) for s in self.scene["servers"]]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if servers.stdout.readline() != "ready\n":
            raise RuntimeError("the servers do not start")
        started = time.monotonic()
        hosts, helpers = [], []
        try:
            result = self.play(hosts, helpers)
        finally:
            for process in helpers + hosts:
                if process.poll() is None:
                    stop(process)
        result["ports"] = ports(servers.communicate()[0])
        result["total"] = time.monotonic() - started
        with open(os.path.join(self.folder, "host.log"), encoding="utf-8", errors="replace") as file:
            said = file.read().splitlines()
        result["records"] = [line[:300] for line in said if "retrybudget[" in line][:40]
        result["said"] = [line[:300] for line in said if "retrybudget[" not in line][-5:]
        subprocess.run(["rm", "-rf", self.folder], check=False)
        return result

    def play(self, hosts, helpers):
        scene = self.scene
        activated = listening(scene["front"]) if scene.get("activated") else None
        keep = {} if activated is None else {
            "preexec_fn": lambda: os.dup2(activated.fileno(), 3), "pass_fds": (3,)}
        started = time.monotonic()
        for command in scene.get("hosts", [scene["host"]]):
            hosts.append(self.start(command, "host.log", self.environment, **keep))
        host = hosts[0]
        if not scene.get("load"):
            return self.alone(host, started)
        if "front" in scene:  # else the load sees for itself when the host is there
            wait_for(scene["front"], host)
        lines = []
        load = self.start(scene["load"], "load.log")
        helpers.append(load)
        lines += load.communicate(timeout=self.seconds + 4 * SLACK)[0].splitlines()
        status = host.poll()  # a service goes on: that it ended is the news
        return {"kinds": summary(lines), "seconds": time.monotonic() - started, "cpu": None,
                "status": status if status is not None else 0}

    def alone(self, host, started):
        """A host that does its work by itself and ends, or loops until it is stopped."""
        cpu = None
        if self.scene.get("cpu"):
            time.sleep(min(2, self.seconds / 2))
            cpu, since = processor(host.pid), time.monotonic()
            time.sleep(max(0.0, self.seconds - (since - started) - 0.3))  # while all its threads are there
            cpu = (processor(host.pid) - cpu) / (time.monotonic() - since)
        if self.scene.get("endless"):
            time.sleep(max(0.0, self.seconds - (time.monotonic() - started)))
            stop(host)
            return {"kinds": summary(host.stdout.read().splitlines()), "cpu": cpu, "status": None,
                    "seconds": time.monotonic() - started}
        try:
            out = host.communicate(timeout=self.scene.get("limit", self.seconds + SLACK))[0]
            status = host.returncode
        except subprocess.TimeoutExpired:
            stop(host)
            out, status = host.stdout.read(), None
        return {"kinds": summary(out.splitlines()), "cpu": cpu, "status": status,
                "seconds": time.monotonic() - started}


def play(scene, build, shim, off):
    return Play(scene, build, shim, off).run()
