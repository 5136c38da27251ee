# SPDX-License-Identifier: MIT
"""Runs one part of a suite in the namespaces it was started in: a network that ends at its own
edge, a log socket for the shim's records, shared memory of its own. Prints one line of JSON."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "clients"))

from lab import Lab, LogSocket, MS_BIND, loopback_up, mount  # noqa: E402

LIMIT_STATUS = 124  # as timeout(1)


def network():
    """Loopback, and a way out that swallows everything, so that there are timeouts too: the packets
    come in again at the other end of the pair, where nobody forwards them. Where the kernel has no
    such device there is no way out, bare and under the shim alike."""
    loopback_up()
    far = "02:00:00:00:00:02"
    for words in (
        f"link add out type veth peer name far address {far}",
        "link set out up",
        "link set far up",
        "addr add 10.99.1.1/24 dev out",
        f"neigh add 10.99.1.2 lladdr {far} nud permanent dev out",
        "route add default via 10.99.1.2 dev out",
    ):
        if subprocess.run(["ip", *words.split()], capture_output=True, check=False).returncode:
            break
    Lab.few_syns()


def files(folder):
    """Nothing of this machine's: no name server that answers, no caches, no shared budget."""
    own = os.path.join(folder, "resolv.conf")
    with open(own, "w", encoding="ascii") as f:
        f.write("nameserver 127.0.0.1\noptions attempts:1 timeout:1\n")
    os.chmod(own, 0o644)
    mount(own, "/etc/resolv.conf", "", MS_BIND)
    mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777")
    for daemon in ("/run/nscd", "/run/dbus"):
        if os.path.isdir(daemon):
            mount("tmpfs", daemon, "tmpfs")


def own_copy(folder, source):
    """Lays what this run writes over the tree it shares with others: they use the same names in it,
    and a part that was killed leaves its files behind."""
    over = os.path.join(folder, "over")
    os.mkdir(over)
    mount("tmpfs", over, "tmpfs")
    for name in ("upper", "work"):
        os.mkdir(os.path.join(over, name))
    options = f"lowerdir={source},upperdir={over}/upper,workdir={over}/work"
    mount("overlay", source, "overlay", 0, options)


def configuration(folder, log):
    """The defaults, but for where the records go: they are counted."""
    path = os.path.join(folder, "retrybudget.ini")
    with open(path, "w", encoding="ascii") as f:
        f.write(f"[log]\nsocket = {log}\ninterval = 1s\n")
    os.chmod(path, 0o644)
    return path


def environment(folder, shim, log, mode, more):
    """Little, and the same for both, so that nothing in it decides."""
    home = os.path.join(folder, "home")
    temporary = os.path.join(folder, "tmp")
    for path in (home, temporary):
        os.mkdir(path)
        os.chmod(path, 0o1777)
    env = {
        "PATH": "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": temporary,
        "LC_ALL": "C.UTF-8",
        **more,
    }
    if shim:
        # A copy: parts that run as another user must be able to read it.
        env["LD_PRELOAD"] = os.path.join(folder, os.path.basename(shim))
        shutil.copy(shim, env["LD_PRELOAD"])
        os.chmod(env["LD_PRELOAD"], 0o755)
        env["RETRYBUDGET_CONFIG"] = configuration(folder, log)
        env["RETRYBUDGET"] = mode
    return env


def is_loaded(env):
    maps = subprocess.run(["cat", "/proc/self/maps"], env=env, capture_output=True, check=False)
    return env["LD_PRELOAD"].encode() in maps.stdout


def as_in_the_foreground():
    """A job in the background has SIGINT ignored, and tests that interrupt themselves wait for ever."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def wait(process, seconds):
    """Its exit status. As the first process of the namespace we bury everybody's orphans, or tests
    that wait for a grandchild's end would wait for ever."""

    def too_late(*_):
        os.killpg(process.pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(seconds)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == process.pid:
            late = signal.alarm(0) == 0
            return LIMIT_STATUS if late else os.waitstatus_to_exitcode(status)


def work(order):
    """order: command, folder (to run in), source, env, seconds, shim, mode, output."""
    if os.getpid() == 1:
        os.setsid()
    name = "retrybudget-suites-"
    with tempfile.TemporaryDirectory(prefix=name, ignore_cleanup_errors=True) as own:
        os.chmod(own, 0o755)
        network()
        files(own)
        if order["source"]:
            own_copy(own, order["source"])
        log = LogSocket(os.path.join(own, "log"))
        env = environment(own, order["shim"], log.path, order["mode"], order["env"])
        if order["shim"] and not is_loaded(env):
            return {"problem": "the shim was not loaded"}
        report = os.path.join(own, "report")
        command = [word.replace("{report}", report) for word in order["command"]]
        with open(order["output"], "wb") as out:
            started = time.monotonic()
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=env,
                cwd=order["folder"] or os.path.join(own, "home"),
                start_new_session=True,
                preexec_fn=as_in_the_foreground,
            )
            status = wait(process, order["seconds"])
            seconds = time.monotonic() - started
        if status == LIMIT_STATUS and not order["shim"]:
            return {"problem": f"bare not done after {seconds:.0f} s: there is nothing to compare",
                    "hung": True}
        text = ""
        if os.path.exists(report):
            with open(report, encoding="utf-8", errors="replace") as f:
                text = f.read()
        log.catch_up()
        held = sum("event=throttled" in r for r in log.records)
        return {"status": status, "seconds": seconds, "report": text, "records": len(log.records),
                "held": held}


if __name__ == "__main__":
    print(json.dumps(work(json.load(sys.stdin))))
    sys.stdout.flush()
    os._exit(0)  # the thread of the log socket still listens
