# SPDX-License-Identifier: MIT
"""Hosts of a fleet on this machine: each has a network, processes, a /proc and shared memory of its own, an agent, and
programs under the library. All hang on one bridge, at whose address a Redis and the service stand. Nothing of it is
seen outside: the test enters a network of its own first."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from server import HERE, Server, key

OPTIONS = ["--bind", "10.77.0.1", "--protected-mode", "no", "--enable-debug-command", "local", "--enable-protected-configs",
           "local"]
ADDRESS, REDIS, SERVICE, WEB = "10.77.0.1", 6379, 9000, 9465
UNRULED = 9001  # nobody says a rule for it
# Programs that try until they have been served: one ends with its answer, and one lives on, for of one that is served
# at once the agent would see nothing.
ENDS = ["perl", "-e", f"""
use IO::Socket::INET;
until ($s = IO::Socket::INET->new("{ADDRESS}:{SERVICE}") and print $s "GET / HTTP/1.0\\r\\n\\r\\n" and <$s>) {{ }}
"""]
LIVES_ON = [*ENDS[:2], ENDS[2] + "undef $s; sleep 600;"]
WAIT = 30  # seconds for anything that has to come
PREPARED = "RETRYBUDGET_TEST_NETWORK"
SETTINGS = """
[log]
target = none
[fleet]
redis = {redis}
password_file = {password}
sync = {sync}
lease = {lease}
"""
LEASED = """
[destination {label}]
match = {match}
base = {base}
min = 0
cap = {cap}
probe = {probe}
fleet = on
fleet_reserve = {reserve}
fleet_n_max = {n_max}
"""


class Broken(Exception):
    pass


def expect(truth, *what):
    if not truth:
        raise Broken(" ".join(str(w) for w in what))


def wait_for(what, truth, seconds=WAIT):
    until = time.monotonic() + seconds
    while not truth():
        expect(time.monotonic() < until, "in vain:", what() if callable(what) else what)
        time.sleep(0.05)


def may_hold_regions():
    """Whether agents may open what programs have mapped, and read what those leave when they end."""
    with open("/proc/self/maps") as maps:
        first = "-".join(f"{int(end, 16):x}" for end in maps.readline().split()[0].split("-"))
    try:
        os.close(os.open(f"/proc/self/map_files/{first}", os.O_RDONLY))
    except OSError:
        return False
    return True


def enter_network():
    """Begins this program again in a network of its own. Returns why not, or None in there."""
    if os.environ.get(PREPARED):
        for words in (["link", "set", "lo", "up"], ["link", "add", "fleet", "type", "bridge"],
                      ["address", "add", f"{ADDRESS}/24", "dev", "fleet"], ["link", "set", "fleet", "up"]):
            subprocess.run(["ip", *words], check=True)
        return None
    command = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--net", "--mount"]
    tried = subprocess.run([*command, "ip", "link", "add", "fleet", "type", "bridge"], capture_output=True, check=False)
    if tried.returncode:
        return "no network of its own"
    os.environ[PREPARED] = "1"
    os.execvp(command[0], [*command, sys.executable, *sys.argv])
    return None


class Service:
    """Counts who comes, and ends each connection without an answer until it is told to give one."""

    REPLY = b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\ny"

    def __init__(self, port=SERVICE):
        self.listener = socket.create_server((ADDRESS, port), backlog=1024)
        self.answers, self.times, self.peers = False, [], []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                peer, (address, _) = self.listener.accept()
            except OSError:
                return
            self.times.append(time.monotonic())
            self.peers.append(address)
            if self.answers:
                threading.Thread(target=self.answer, args=(peer,), daemon=True).start()
            else:
                peer.close()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def answer(self, peer):
        with peer:
            peer.settimeout(5)
            try:
                if peer.recv(4096):
                    peer.sendall(self.REPLY)
            except OSError:
                pass

    def count(self, since, until=float("inf")):
        return sum(since <= at < until for at in self.times)

    def exceeds(self, capacity, per_s, since, until=float("inf")):
        """The window in which more came than that, if there is one: (attempts, seconds)."""
        times = [at for at in self.times if since <= at < until]
        level, at = 0.0, since
        for n, now in enumerate(times):  # as much as a bucket of that capacity would have let go
            level = max(level - (now - at) * per_s, 0) + 1
            at = now
            if level > capacity + 1e-6:
                return n + 1, now - since, level
        return None


class Program:
    """Tries until it has been served, and ends."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.ended = None
        self.waiter = threading.Thread(target=self.wait, daemon=True)
        self.waiter.start()

    def wait(self):
        said, _ = self.process.communicate()
        if b"y" in said:
            self.ended = time.monotonic()


class Host:
    def __init__(self, fleet, number):
        self.fleet, self.number = fleet, number
        self.name, self.address = f"h{number}", f"10.77.0.{10 + number}"
        self.holder = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--ipc", "--mount",
                                        "--fork", "--mount-proc", "--kill-child", "sleep", "infinity"],
                                       stderr=subprocess.DEVNULL)
        wait_for("a host", lambda: self.child_of(self.holder.pid))
        self.first = self.child_of(self.holder.pid)
        self.agent, self.programs = None, []
        self.log = os.path.join(fleet.folder, self.name + ".log")
        link, run = f"to-{self.name}", self.run
        subprocess.run(["ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(self.first)],
                       check=True)
        subprocess.run(["ip", "link", "set", link, "master", "fleet", "up"], check=True)
        run("mount", "-t", "tmpfs", "none", "/dev/shm")
        run("ip", "link", "set", "lo", "up")
        run("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        run("ip", "link", "set", "eth0", "up")

    @staticmethod
    def child_of(pid):
        try:
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                return int((file.read().split() or [0])[0])
        except OSError:
            return 0

    def command(self, *words):
        return ["nsenter", "--target", str(self.first), "--net", "--pid", "--ipc", "--mount", "--", *words]

    def run(self, *words):
        subprocess.run(self.command(*words), check=True)

    def output(self, *words):
        return subprocess.run(self.command(*words), check=True, capture_output=True, text=True).stdout

    def start_agent(self, *before):
        with open(self.log, "a") as log:
            self.agent = subprocess.Popen(self.command(
                *before, os.path.join(self.fleet.build, "retrybudgetd"), "--config", self.fleet.ini, "--host", self.name,
                "--listen", f"127.0.0.1:{WEB}"), stderr=log)
        wait_for("an agent", lambda: self.child_of(self.agent.pid))

    def signal_agent(self, number):
        os.kill(self.child_of(self.agent.pid), number)
        if number == signal.SIGCONT:  # nsenter stops with its child
            os.kill(self.agent.pid, number)
        if number == signal.SIGKILL:
            self.agent.wait()

    def start(self, *words):
        """A program under the library; when it ends is noted."""
        environment = [f"LD_PRELOAD={self.fleet.build}/libretrybudget.so", f"RETRYBUDGET_CONFIG={self.fleet.ini}"]
        program = Program(self.command("env", *environment, *words))
        self.programs.append(program)

    def get(self, path):
        done = subprocess.run(self.command("curl", "--silent", "--max-time", "5", f"http://127.0.0.1:{WEB}{path}"),
                              capture_output=True, text=True, check=False)
        return done.stdout

    def value(self, name, of="label=service"):
        """Of the line that begins so at /fleet."""
        line = re.search(rf"^{of}.*", self.get("/fleet"), re.M)
        found = re.search(rf"\b{name}=(\S+)", line[0]) if line else None
        return found[1] if found else None

    def await_state(self, words, of="label=service", seconds=WAIT):
        wait_for(lambda: f"{self.name}: none of {words}: {self.get('/fleet')}",
                 lambda: self.value("state", of) in words.split("|"), seconds)

    def is_told(self, words, of, metric, record, seconds=WAIT):
        """At /fleet, in the metrics and in the log. What ends by itself may be over when the metrics are asked."""
        self.await_state(words, of, seconds)
        states = words.split("|")
        wait_for(f"no metric says {words}", lambda: any(f'{metric},state="{word}"}} 1\n' in self.get("/metrics")
                                                        for word in states), seconds)
        with open(self.log) as log:
            told = log.read()
        expect(any(re.search(rf"event={record} state={word} ", told) for word in states), "no record says", words)

    def server_is(self, words):
        self.is_told(words, "server=", f'fleet_server_state{{server="{ADDRESS}:{REDIS}"', r"fleet-server server=\S+")

    def label_is(self, word, label="service"):
        self.is_told(word, f"label={label}", f'fleet_label_state{{policy="{label}"', f"fleet-label label={label}")

    def close(self):
        os.kill(self.first, signal.SIGKILL)  # and with it all that is in there
        subprocess.run(["ip", "link", "delete", f"to-{self.name}"], stderr=subprocess.DEVNULL, check=False)
        for process in [self.holder, *([self.agent] if self.agent else [])]:
            process.wait()
        for program in self.programs:
            program.waiter.join()


class Fleet:
    def __init__(self, build, count, rule, **settings):
        self.build, self.rule = os.path.abspath(build), rule
        self.server = Server("--aclfile", os.path.join(HERE, "../../conf/fleet/users.acl"), "--port", str(REDIS),
                             *OPTIONS)
        self.folder = self.server.folder
        self.prepare_server()
        self.set_rule(rule)
        self.service = Service()
        self.ini = os.path.join(self.folder, "ini")
        secret = os.path.join(self.folder, "password")
        with open(secret, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write("right\n")
        chosen = dict(sync="1s", lease="8s", base="50ms", cap="200ms", probe="10s", reserve="0.001/s", n_max=1000)
        chosen.update(settings)
        with open(self.ini, "w") as file:
            file.write(SETTINGS.format(redis=f"{ADDRESS}:{REDIS}", password=secret, **chosen))
            for label, port in (("service", SERVICE), ("itself", REDIS), ("unruled", UNRULED)):
                file.write(LEASED.format(label=label, match=f"{ADDRESS}:{port}", **chosen))
        self.hosts = [Host(self, i + 1) for i in range(count)]

    def prepare_server(self):
        self.server.load()
        self.password("right")

    def password(self, word):
        self.server.client.execute_command("ACL", "SETUSER", "retrybudget", "on", "resetpass", ">" + word)

    def set_rule(self, rule):
        expect(self.server.call("set", [key("service")], *rule) == rule[0], "no rule")

    def close(self):
        for host in self.hosts:
            host.close()
        self.service.close()
        self.server.close()
        subprocess.run(["nft", "flush", "ruleset"], check=False)


def renewed(fleet, make, scene):
    """Another one in the place of one that a check has left as nobody knows."""
    try:
        fleet.close()
    except Exception as broken:  # whatever is not there any more
        print(f"the fleet before: {broken}", flush=True)
    fleet = make()
    scene(fleet)
    return fleet


def play(checks, make, scene=None):
    """Each is a function that is given the fleet, and may return what it saw. After one that fails the next has a fleet
    of its own, if there is a scene, which is to be played first. Returns the exit status."""
    why = enter_network()
    if why:
        print(f"{why}\n0 passed, 0 failed, {len(checks)} skipped")
        return 0
    fleet, failed, skipped = make(), 0, 0
    try:
        for at, check in enumerate(checks):
            try:
                seen = check(fleet)
                is_skipped = bool(seen) and seen.startswith("not done")
                skipped += is_skipped
                ended = "skipped" if is_skipped else "passed"
                print(f"{check.__name__:50} {ended}{': ' + seen if seen else ''}", flush=True)
            except Exception as broken:  # Redis's, too: the others go on
                failed += 1
                print(f"{check.__name__:50} FAILED: {broken}", flush=True)
                if scene and at + 1 < len(checks):
                    fleet = renewed(fleet, make, scene)
    finally:
        fleet.close()
    print(f"{len(checks) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0
