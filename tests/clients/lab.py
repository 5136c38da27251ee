# SPDX-License-Identifier: MIT
"""The laboratory: a network namespace with a failing server, a name server, a log socket and
witnesses that count. Everything here runs inside the namespace, in one process per case."""

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

from catalog import NAME, PATH, TIMEOUT, PORT, UNIX

SIOCSIFADDR, SIOCSIFFLAGS = 0x8916, 0x8914
IFF_UP = 1
MS_BIND = 4096
PR_SET_PDEATHSIG = 1
UDP = 0x10000  # a journal key of syns
TICK = os.sysconf("SC_CLK_TCK")

libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind, flags=0, data=""):
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()):
        code = ctypes.get_errno()
        raise OSError(code, f"cannot mount {source} on {target}: {os.strerror(code)}")


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


QUICK = 0.0025  # seconds for a program to start and end on the machine that the tests' numbers were made on


def quickness():
    """1 where programs start as quickly as there, less where they take longer."""
    began = time.monotonic()
    for _ in range(40):
        subprocess.run(["/bin/true"], check=True)
    return min(1, QUICK / ((time.monotonic() - began) / 40))


def wait_until(condition, seconds, step=0.02):
    """Returns what condition returns as soon as that is true, or the last of it after seconds."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(step)
    return found


def loopback_up():
    """Starts lo, which is down in a new network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
        # AI_ADDRCONFIG looks up IPv4 only where there is an address besides 127.0.0.1.
        address = struct.pack("H2x4s8x", socket.AF_INET, socket.inet_aton("10.99.0.1"))
        fcntl.ioctl(s, SIOCSIFADDR, struct.pack("16s16s", b"lo:1", address))


class Helper:
    """One of the small C programs, under orders by its stdin."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            preexec_fn=die_with_parent,
        )
        if not self.process.stdout.readline():
            raise RuntimeError(f"{command[0]} did not start")

    def ask(self, order):
        self.process.stdin.write(order + "\n")
        answer = self.process.stdout.readline()
        if not answer or answer.startswith("what is"):
            raise RuntimeError(f"{self.process.args[0]} does not understand '{order}'")
        return answer.strip()

    def count(self, key, since=0):
        return int(self.ask(f"count {key} {since}"))

    def times(self, key, since=0):
        return [int(t) for t in self.ask(f"times {key} {since}").split()[1:]]


class LogSocket:
    """Receives records as syslogd would, and keeps them."""

    def __init__(self, path):
        self.path = path
        self.records = []
        self.marks, self.seen = 0, 0  # of our own: all that was sent before has been read
        try:  # the default of ten waiting datagrams is for a quieter machine
            with open("/proc/sys/net/unix/max_dgram_qlen", "w", encoding="ascii") as f:
                f.write("4096")
        except OSError:
            pass
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        os.chmod(path, 0o666)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            record = self.socket.recv(65536)
            if record.startswith(b"mark "):
                self.seen = int(record[5:])
            else:
                self.records.append(record.decode(errors="replace"))

    def catch_up(self):
        """Returns when all that has been sent is in the list, however late this process is."""
        self.marks += 1
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"mark %d" % self.marks, self.path)
        wait_until(lambda: self.seen >= self.marks, 10, step=0.002)

    def fields(self):
        """Every record so far as a dictionary of its fields (none of the tests' own values needs
        the quoting rules)."""
        time.sleep(0.05)  # one that is about to be sent
        self.catch_up()
        return [
            dict(word.split("=", 1) for word in record.split() if "=" in word)
            for record in list(self.records)
        ]


class Run:
    """A client at work."""

    def __init__(self, command, folder, environment, feed=""):
        self.out_path = os.path.join(folder, "out")
        self.errors_path = os.path.join(folder, "errors")
        with open(self.out_path, "wb") as out, open(self.errors_path, "wb") as errors:
            self.started = time.monotonic_ns()
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                env=environment,
                cwd=folder,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        if feed:
            # A small pipe, so that little is left in it when the first answer comes.
            fcntl.fcntl(self.process.stdin, 1031, 4096)  # F_SETPIPE_SZ
            threading.Thread(target=self._feed, args=(feed.encode(),), daemon=True).start()

    def _feed(self, line):
        try:
            while not self.printed():
                os.write(self.process.stdin.fileno(), line)
            self.process.stdin.close()
        except (OSError, ValueError):
            pass

    def printed(self):
        return os.path.getsize(self.out_path)

    def output(self):
        with open(self.out_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def errors(self):
        with open(self.errors_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def cpu(self):
        """Seconds of processor time so far of its whole session, with those of the children that
        were waited for."""
        ticks = 0
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as f:
                    fields = f.read().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            if int(fields[3]) == self.process.pid:
                ticks += sum(map(int, fields[11:15]))
        return ticks / TICK

    def wait(self, seconds):
        """Its exit code, or None if it still runs after that time."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


class Lab:
    """Call once per process, inside new network and mount namespaces."""

    def __init__(self, build):
        self.folder = tempfile.mkdtemp(prefix="retrybudget-clients-")
        loopback_up()
        self._files()
        helper = os.path.join(build, "clients")
        self.syns = Helper(os.path.join(helper, "syns"))
        self.dns = Helper(os.path.join(helper, "dns"), "ok")
        self.server = Helper(os.path.join(helper, "server"), str(PORT), "healthy")
        self.log = LogSocket(os.path.join(self.folder, "log"))

    def _files(self):
        for path, text in (
            ("/etc/resolv.conf", "nameserver 127.0.0.1\noptions attempts:1 timeout:1\n"),
            ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
        ):
            own = os.path.join(self.folder, os.path.basename(path))
            with open(own, "w", encoding="ascii") as f:
                f.write(text)
            os.chmod(own, 0o644)
            mount(own, path, "", MS_BIND)
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777")  # budgets of the scope `user`
        if os.path.isdir("/run/nscd"):
            mount("tmpfs", "/run/nscd", "tmpfs")  # a cache of lookups outside the namespace

    def server_mode(self, mode):
        """Returns when the mode was changed."""
        return int(self.server.ask(f"mode {mode}").split()[2])

    @staticmethod
    def few_syns():
        """One repeat instead of six: who waits for the kernel hears ETIMEDOUT after 3 s, not 127."""
        try:
            with open("/proc/sys/net/ipv4/tcp_syn_retries", "w", encoding="ascii") as f:
                f.write("1")
        except OSError:
            pass  # read-only in some containers: then they wait, bare and under the shim

    def dns_mode(self, mode):
        return int(self.dns.ask(f"mode {mode}").split()[1])

    def attempts(self, way, since=0):
        """Attempts as the kernel or the name server saw them."""
        if way.counted == "dns":
            return self.dns.count(1, since)
        if way.counted == "udp":
            return self.syns.count(UDP + PORT, since)
        if way.counted == "unix":
            return self.traced()
        return self.syns.count(PORT, since)

    def traced(self):
        """Connects to the unix socket: what never reaches a socket, only a tracer sees."""
        try:
            with open(os.path.join(self.folder, "trace"), encoding="utf-8", errors="replace") as f:
                return sum("connect(" in line and UNIX in line for line in f)
        except OSError:
            return 0

    def host(self, way):
        """What the clients call the server."""
        return way.host or os.path.join(self.folder, UNIX)

    def environment(self, shim="", text=""):
        """The environment of a client; under the shim if one is given."""
        env = {
            "PATH": PATH,
            "HOME": self.folder,
            "LC_ALL": "C.UTF-8",
            "TIMEOUT": TIMEOUT,
        }
        if shim:
            config = os.path.join(self.folder, "retrybudget.ini")
            with open(config, "w", encoding="ascii") as f:
                f.write(text)
            os.chmod(config, 0o644)
            env["LD_PRELOAD"] = shim
            env["RETRYBUDGET_CONFIG"] = config
        return env

    def start(self, client, command, environment, host=NAME, n=1, timeout=TIMEOUT):
        environment = {**environment, "TIMEOUT": timeout}
        words = {"host": host, "port": PORT, "n": n, "timeout": timeout}
        if any("{urls}" in word for word in command):
            words["urls"] = os.path.join(self.folder, "urls")
            with open(words["urls"], "w", encoding="ascii") as f:
                f.write(f"http://{host}:{PORT}/\n" * n)
        filled = [word.format(**words) for word in command]
        preload = environment.get("LD_PRELOAD", "")
        if client.service and preload:
            environment = {**environment, "SERVICE_PRELOAD": preload}
            del environment["LD_PRELOAD"]
        if host.startswith("/"):  # the tracer is a grandchild (-D), and not under the shim
            trace = ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-e", "trace=connect"]
            trace += ["-o", os.path.join(self.folder, "trace")]
            if environment.pop("LD_PRELOAD", ""):
                trace += ["-E", f"LD_PRELOAD={preload}"]
            filled = trace + filled
        return Run(filled, self.folder, environment, client.feed)

    def healthy_accepted(self):
        return json.loads(self.server.ask("stats"))["healthy"]["accepted"]
