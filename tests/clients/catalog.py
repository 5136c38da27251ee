# SPDX-License-Identifier: MIT
"""The real clients of the tests, the ways in which a server fails, and the configurations."""

import os
import shutil
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
LOOPS = os.path.join(HERE, "loops")
PORT = 7000
NAME = "svc.test"
PAGE = "the server is well\n"

ROOT = os.path.dirname(os.path.dirname(HERE))
UNPACKED = os.path.join(ROOT, "build", "unpacked", "bin")  # by scripts/install-deps
PATH = f"{UNPACKED}:{os.environ['PATH']}:/usr/sbin"  # daemons, for who is not root
UNIX = "unix.socket"  # in the folder of the run


@dataclass
class Way:
    """A way of failing: how the server and the name server are set for it, and what the clients call
    the server: both ways in which a destination can be known, by its address and by its name."""

    server: str
    dns: str = "ok"
    host: str = NAME
    # storm: ends at once, so the shim must pace it. slow: clients wait, as long as they like.
    # free: the server answers, though not well, or (udp) the shim is told to leave it alone: nothing
    # may be throttled.
    nature: str = "storm"
    counted: str = "syns"  # syns | dns | unix | udp
    seconds: float = 3  # how long the outage is watched under the shim; slow ways also bare
    why: str = ""


WAYS = {
    "refused": Way("down", host="127.0.0.1"),
    "reset": Way("reset"),
    "close": Way("close", host="127.0.0.1"),
    "read-close": Way("read-close"),
    "half": Way("half", nature="free", why="bytes came, then FIN"),
    "half-reset": Way("half-reset", host="127.0.0.1", nature="free", why="bytes came, then RST"),
    "error": Way("error", nature="free", why="HTTP 503 with http = off, a redis error, or a line that says so"),
    "loading": Way("loading", why="a redis that serves nobody yet, which is no answer"),
    "hang": Way("hang", host="127.0.0.1", nature="slow", seconds=4),
    "silent": Way("silent", nature="slow", seconds=5, why="every SYN is dropped"),
    "backlog": Way("backlog", host="127.0.0.1", nature="slow", seconds=4,
                   why="listen(1), no accept"),
    "servfail": Way("healthy", "servfail", counted="dns"),
    "nxdomain": Way("healthy", "nxdomain", nature="free", counted="dns",
                    why="that there is no such name is an answer"),
    "dns-silent": Way("healthy", "silent", nature="slow", counted="dns", seconds=5),
    "unix": Way("healthy", host="", counted="unix", why="the path is not there"),
    "udp": Way("down", host="127.0.0.1", nature="free", counted="udp", why="port unreachable"),
}
# What every client that loops by itself can meet, and which of that was a storm from the first.
FAILURES = ("refused", "reset", "close", "read-close", "servfail")
SLOW = ("hang", "silent", "backlog")
FREE = ("half", "half-reset", "error")
LOOKUPS = ("nxdomain", "dns-silent")
FURTHER = (*SLOW, *FREE, *LOOKUPS)
TIMEOUT = "1.2"  # seconds after which a client gives up waiting, where it has such a limit


# Between their tries these read, or write, and take their time: for all that can be told they may do
# work, and are slowed down by no more than their server's own failures. Bare they use most of a
# processor; what they may use here is less.
MAY_WORK = {"most_cpu": 0.6}
# Runtimes that look names up in threads of a pool: such a thread sleeps while the loop works on another one,
# for a millisecond or more on some machines, and may have work for all that it can tell. It is not held.
POOLED = {"most_cpu_of_lookups": 0.45}
# Each try starts a process, four times a second where it is held, and some of them before it is: what
# that costs is the machine's. Bare all of a processor.
STARTS = {"most_cpu": 0.2}


@dataclass
class Client:
    name: str
    runtime: str
    loop: list  # the command that retries without a pause; {host} and {port} are filled in
    get: list  # the command that makes {n} requests; empty: the client has no such form
    answer: str  # what one good request prints
    failures: tuple = FAILURES
    further: tuple = FURTHER  # ways in the matrix only
    endless: bool = False  # goes on after a success, so the test ends it
    feed: str = ""  # written to stdin without end until the first answer
    entries: bool = False  # works through a list: a first try for each entry, a few of them free
    lookups: int = 1  # per attempt: one for each family has a first try of its own
    why_not: str = ""  # why some failures are left out
    scope: str = "process"
    calm: bool = False  # paces itself
    gives_up: bool = False  # ends by itself during the outage: bare and under the shim alike
    foreign: bool = False  # the server does not speak its language: an accepted connection must do
    service: bool = False  # started by loops/front.py, which itself is not under the shim
    excused: int = 0  # attempts a second that are, or seem to be, new work, and so free
    most_cpu: float = 0.10  # of a processor, while the shim throttles it (MAY_WORK)
    most_cpu_of_lookups: float = 0.10  # the same, where it is its lookups that fail (POOLED)
    environment: dict = field(default_factory=dict)
    policy: str = ""  # more lines of [destination default]

    def cpu_bound(self, way):
        """The share of a processor that it may use while it is throttled."""
        return max(self.most_cpu, self.most_cpu_of_lookups if way.counted == "dns" else 0)

    def missing(self):
        """The programs it needs that are not there."""
        words = self.loop[:1]
        if self.loop[1:2] == [os.path.join(LOOPS, "until.sh")]:
            words += [w for w in self.loop[2:4] if w[0] not in "-{"][:1]
        if self.service:
            words.append({"rsyslog": "rsyslogd"}.get(self.name, self.name))
        if self.loop[:2] == ["sh", "-c"]:
            words.append(self.name)
        return [w for w in words if not shutil.which(w, path=PATH)]


def script(name, runtime, interpreter, file, answer, **more):
    path = [*interpreter, os.path.join(LOOPS, file)]
    return Client(
        name,
        runtime,
        [*path, "loop", "{host}", "{port}"],
        [*path, "get", "{host}", "{port}", "{n}"],
        answer,
        **more,
    )


def java(name, main, classes, answer):
    # One compiler thread and a small heap keep its start from disturbing the neighbours.
    command = ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Xmx64m", "-XX:+UseSerialGC",
               "-Djava.security.properties=" + os.path.join(LOOPS, "java.security"), "-cp", classes,
               main]
    return Client(
        name,
        "Java",
        [*command, "loop", "{host}", "{port}"],
        [*command, "get", "{host}", "{port}", "{n}"],
        answer,
    )


def clients(build):
    """All clients. Debian's python3 is named by its path: another one may come first in PATH."""
    python = ["/usr/bin/python3"]
    classes = os.path.join(build, "clients", "classes")
    url = "http://{host}:{port}/"
    unix = {"further": (*FURTHER, "unix")}
    wget = ["wget", "--no-config", "--no-proxy", "-O", "-"]
    return [
        script("python urllib", "Python", python, "urllib_loop.py", PAGE),
        script("python socket", "Python", python, "socket_loop.py", "hello from python\n",
               **unix),
        script("python asyncio", "Python", python, "asyncio_loop.py", "hello from asyncio\n", **unix, **POOLED),
        script("perl LWP", "Perl", ["perl"], "lwp.pl", PAGE),
        script("perl IO::Socket", "Perl", ["perl"], "iosocket.pl", "hello from perl\n", **unix),
        script("perl HTTP::Tiny", "Perl", ["perl"], "httptiny.pl", PAGE),
        script("php contents", "PHP", ["php"], "contents.php", PAGE),
        script("php stream", "PHP", ["php"], "stream.php", "hello from php\n", **unix),
        script("node http", "Node", ["node"], "http.js", PAGE, **unix, **POOLED),
        script("node net", "Node", ["node"], "net.js", "hello from node\n", **unix, **POOLED),
        java("java URL", "UrlLoop", classes, PAGE),
        java("java Socket", "SocketLoop", classes, "hello from java\n"),
        script("ruby net/http", "Ruby", ["ruby"], "nethttp.rb", PAGE),
        script("ruby TCPSocket", "Ruby", ["ruby"], "tcpsocket.rb", "hello from ruby\n", **unix),
        script("tcl socket", "Tcl", ["tclsh"], "socket.tcl", "hello from tcl\n"),
        script("bash /dev/tcp", "shell", ["bash"], "devtcp.bash", "hello from bash\n"),
        Client(
            "wget",
            "C",
            [*wget, "-nv", "-T", "{timeout}", "--tries=0", "--waitretry=0",
             "--retry-connrefused", "--retry-on-host-error", url],
            [*wget, "-q", "-i", "{urls}"],
            PAGE,
        ),
        Client(
            "curl",
            "C",
            ["curl", "-sSfq", "-m", "{timeout}", "--noproxy", "*", url + "[1-1000000]"],
            ["curl", "-sq", "--noproxy", "*", url + "[1-{n}]"],
            PAGE,
            endless=True,
            entries=True,
        ),
        Client(
            "redis-cli",
            "C",
            ["redis-cli", "-h", "{host}", "-p", "{port}"],
            ["redis-cli", "-h", "{host}", "-p", "{port}", "-r", "{n}", "PING"],
            "PONG\n",
            feed="PING\n",
            lookups=2,
            further=SLOW + LOOKUPS,
            why_not="it takes an error for an answer, and prints half of one",
        ),
        # It leaks a descriptor with each try, and ends itself at the 1,024th.
        Client(
            "socat",
            "C",
            ["socat", "-,ignoreeof",
             "TCP4:{host}:{port},connect-timeout={timeout},forever,interval=0.012"],
            [],
            "hello from socat\n",
            failures=("refused",),
            further=("silent", "backlog"),
            endless=True,
            feed="hello from socat\n",
            why_not="it retries only until it is connected",
        ),
    ]


# A loop that starts a process per attempt needs a budget that outlives the process: scope = user.
def until(name, command, answer="", **more):
    loop = ["bash", os.path.join(LOOPS, "until.sh"), *command]
    settings = {"failures": ("refused",), "further": FURTHER, "scope": "user", **more}
    return Client(name, "shell", loop, [], answer, **settings)


def process_loops():
    url = "http://{host}:{port}/"
    return [
        until("until curl", ["curl", "-sSfq", "--noproxy", "*", "-m", "{timeout}", url], PAGE,
              **STARTS),
        until("until nc", ["-nc", "{host}", "{port}"], "hello from nc\n", further=SLOW, **STARTS),
        until("until wget", ["wget", "-nv", "--no-config", "-t", "1", "-T", "{timeout}", "-O", "-",
                             url], PAGE, **STARTS),
    ]


@dataclass
class Pace:
    """One configuration and what tests/README.md promises for it, in seconds and attempts."""

    name: str
    text: str
    first: float  # the first part of the outage: 30 s by default
    after: float  # how long the outage goes on
    cap: float
    # Ceiling of the first part: the first try, ten tokens of capacity and six of the floor. The
    # goal of 15 is not a ceiling: with full jitter a run passes it with a chance of about 2 %.
    # The mean over all runs is held against the goal of 13 instead (200,000 simulated runs: 12.4).
    most_first: int = 17
    mean_first: float = 13
    # 0.3/s is the goal in the mean. In one part of this length the simulated runs have 6 attempts
    # on average and never more than 12.
    most_after: int = 12
    mean_after_rate: float = 0.3


MEAN_TOO_FREE = 0.1  # retries that are taken for first tries, in an outage of one client that loops

DEFAULT = Pace("default", "", 30, 10, 10)
# Everything ten times faster, so that 3 s show what 30 s would.
FAST = Pace(
    "fast",
    """
[budget]
capacity = 100
floor    = 20/s

[destination default]
capacity = 10
floor    = 2/s
probe    = 1s
base     = 10ms
cap      = 1s
min      = 1ms
horizon  = 60s
min_life = 200ms
http     = off
""",
    3,
    3,
    1,
    mean_after_rate=3,
)
PACES = {p.name: p for p in (DEFAULT, FAST)}


def configuration(pace, log_socket, scope="process"):
    return f"""[retrybudget]
mode   = enforce
scope  = {scope}
share  = clients
reload = 0

[log]
target   = syslog
socket   = {log_socket}
interval = 1s
attempts = on
{pace.text}"""
