# SPDX-License-Identifier: MIT
"""The suites and their parts. A part is one program that is run bare and under the shim in
namespaces of its own, and prints the results of many tests."""

import glob
import os
from dataclasses import dataclass, field

import results

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # Debian's own: its version is that of the packaged tests
PACKAGED = "/usr/libexec/installed-tests"


@dataclass
class Part:
    suite: str
    name: str
    command: list  # "{report}" in it is a file of the part's own, which the reader gets
    read: callable
    folder: str = ""  # to run in; "" is an empty one
    source: str = ""  # the tree that the folder is in: each run sees it as it was unpacked
    environment: dict = field(default_factory=dict)
    seconds: int = 300  # a limit for one run
    weight: int = 5  # about how many seconds it takes: long ones start first
    healthy: bool = False  # nothing fails in it, so the shim must throttle nothing

    @property
    def id(self):
        return f"{self.suite}/{self.name}"


CPYTHON = """
    socket selectors socketserver ssl httplib httpservers http_cookiejar ftplib smtplib smtpd poplib
    imaplib nntplib telnetlib urllib urllib2 urllib2_localnet urllib_response urlparse robotparser
    xmlrpc docxmlrpc wsgiref asyncore asynchat poll epoll select timeout eintr file_eintr
    subprocess popen pipes pty openpty wait3 wait4 signal threadsignals fork1 posix os shutil fcntl
    ioctl io fileio file mmap resource atexit syslog logging thread threading
    threading_local threadedtempfile queue sched multiprocessing_fork multiprocessing_forkserver
    multiprocessing_main_handling contextlib_async faulthandler ctypes uuid cgi tempfile mailbox"""
CPYTHON_LONG = {  # seconds on a small machine
    "multiprocessing_forkserver": 70, "multiprocessing_fork": 65, "socket": 40, "subprocess": 25,
    "signal": 48, "threading": 15, "logging": 23, "io": 35, "imaplib": 32, "ssl": 30, "eintr": 10,
    "faulthandler": 20, "ftplib": 15, "asyncio.test_tasks": 28, "xmlrpc": 28, "selectors": 15,
}
# Tests of sockets of a kind that no network namespace holds; and a suite on loopback that asks for
# the resource all the same.
CPYTHON_OPTIONS = {"test_socket": ["-i", "*VSOCK*"], "test_socketserver": ["-u", "network"]}
ASYNCIO = """
    base_events buffered_proto context eager_task_factory events futures futures2 locks
    proactor_events protocols queues runners selector_events sendfile server sock_lowlevel ssl
    sslproto streams subprocess taskgroups tasks threads timeouts transports unix_events waitfor"""


def cpython():
    """The network, process and file parts of the regression tests of the standard library."""
    home = os.path.dirname(PYTHON_TESTS)
    names = [f"test_{n}" for n in CPYTHON.split()]
    names += [f"test_asyncio.test_{n}" for n in ASYNCIO.split()]
    for name in names:
        if not glob.glob(os.path.join(home, name.replace(".", "/")) + "*"):
            continue  # it came or went with another version
        command = [PYTHON, "-m", "test", "--junit-xml", "{report}", *CPYTHON_OPTIONS.get(name, ())]
        yield Part("cpython", name, [*command, name], results.junit,
                   weight=CPYTHON_LONG.get(name[5:], 5))


PYTHON_TESTS = next(iter(glob.glob("/usr/lib/python3.*/test/test_socket.py")), "")
PACKAGES = "/usr/lib/python3/dist-packages"
TORNADO = """
    asyncio curl_httpclient http1connection httpclient httpserver ioloop iostream netutil process
    simple_httpclient tcpclient tcpserver testing twisted web websocket"""
TWISTED_LONG = {"internet.test.test_process", "test.test_process", "web.test.test_agent"}
TWISTED = """
    internet.test.test_abstract internet.test.test_base internet.test.test_core
    internet.test.test_endpoints internet.test.test_epollreactor internet.test.test_fdset
    internet.test.test_filedescriptor internet.test.test_posixbase internet.test.test_posixprocess
    internet.test.test_process internet.test.test_resolver internet.test.test_sigchld
    internet.test.test_socket internet.test.test_stdio internet.test.test_tcp
    internet.test.test_threads internet.test.test_time internet.test.test_tls internet.test.test_udp
    internet.test.test_unix test.test_amp test.test_ftp test.test_internet test.test_loopback
    test.test_memcache test.test_process test.test_protocols test.test_socks test.test_ssl
    test.test_stdio test.test_tcp test.test_threadpool test.test_udp test.test_unix
    web.test.test_agent web.test.test_distrib web.test.test_http web.test.test_http2
    web.test.test_newclient web.test.test_proxy web.test.test_webclient web.test.test_wsgi
    web.test.test_xmlrpc"""


def tornado():
    runner = [PYTHON, os.path.join(HERE, "unittests.py")]
    for name in TORNADO.split():
        if os.path.exists(f"{PACKAGES}/tornado/test/{name}_test.py"):
            yield Part("tornado", name, [*runner, f"tornado.test.{name}_test"],
                       results.lines_of_json)


def twisted():
    """An event loop that makes every kind of transport, process and timer."""
    runner = [PYTHON, os.path.join(HERE, "trials.py")]
    for name in TWISTED.split():
        if os.path.exists(f"{PACKAGES}/twisted/{name.replace('.', '/')}.py"):
            yield Part("twisted", name, [*runner, f"twisted.{name}"], results.lines_of_json,
                       weight=30 if name in TWISTED_LONG else 5)


GLIB = """
    async-close-output-stream async-splice-output-stream cancellable converter-stream
    gdbus-* gsocketclient-slow inet-address io-stream mainloop network-address network-monitor*
    pollable proxy-test resolver-parsing simple-proxy socket socket-* spawn-* asyncqueue thread
    threadtests unix unix-* stream-rw_all gsubprocess task fileutils file mem-overflow tls-*
    io-channel sleepy-stream live-g-file g-file-info error"""
# libsoup's ssl-test hangs every third time without the shim; the other takes a minute to find that
# nothing leaks.
LEFT_OUT = {"ssl-test", "http2-body-stream-test"}


def installed(suite, package, patterns, runner=()):
    """Tests in C that a package installs; those that need a session bus get one."""
    found = set()
    for pattern in patterns:
        found |= set(glob.glob(f"{PACKAGED}/{package}/{pattern}"))
    for path in sorted(found):
        name = os.path.basename(path)
        described = f"/usr/share/installed-tests/{package}/{name}.test"
        if name in LEFT_OUT or not os.path.exists(described):
            continue
        folder = os.path.dirname(path)
        yield Part(suite, name, [*runner, path, "--tap"], results.tap, folder=folder,
                   environment={"G_TEST_SRCDIR": folder, "G_TEST_BUILDDIR": folder})


def glib():
    yield from installed("glib", "glib", GLIB.split(), ["dbus-run-session", "--"])


def libsoup():
    yield from installed("libsoup", "libsoup-3.0", ["*-test"])


# It does not run as root, and other users may not see where its source is.
AS_NOBODY = """mkdir test && cp -r "$1/test/fixtures" test/ && cp "$2" . && chmod -R a+rwX . &&
    [ "$(id -u)" = 0 ] && set -- setpriv --reuid=65534 --regid=65534 --clear-groups
    [ "$1" = setpriv ] || set --
    exec "$@" ./uv_run_tests"""


def libuv(source, build):
    program = os.path.join(build, "suites", "uv_run_tests")
    if source and os.path.exists(program):
        yield Part("libuv", "all", ["sh", "-c", AS_NOBODY, "libuv", source, program], results.tap,
                   weight=90)


TCL = """socket http http11 httpold httpPipeline io ioCmd ioTrans iogt chan chanio event exec thread
    unixForkEvent unixFCmd fCmd"""


def tcl(source):
    for name in TCL.split():
        if source and os.path.exists(f"{source}/tests/{name}.test"):
            command = ["tclsh", "all.tcl", "-file", f"{name}.test", "-verbose", "psebl"]
            yield Part("tcl", name, command, results.tcltest, folder=f"{source}/tests",
                       source=source, weight=30 if name == "io" else 5)


RUBY = """socket/test_* net/*/test_* io/nonblock/test_* io/wait/test_* fiddle/test_func
    openssl/test_ssl openssl/test_ssl_session openssl/test_pair ruby/test_io ruby/test_process
    ruby/test_signal ruby/test_thread ruby/test_thread_queue ruby/test_beginendblock test_open3
    test_timeout test_pty test_syslog resolv/test_* test_tempfile test_open_uri open-uri/test_*
    drb/test_* webrick/test_* rinda/test_* fiber/test_*"""
RUBY_LONG = {"ruby/test_process": 25, "drb/test_drb": 10, "ruby/test_thread": 10}
RUN_RUBY = ["ruby", "-Itool/lib", "-Itest/lib", "test/runner.rb", "-v", "-q", "--test-order=alpha",
            "--color=never"]


def ruby(source):
    for pattern in RUBY.split() if source else ():
        for path in sorted(glob.glob(f"{source}/test/{pattern}.rb")):
            name = os.path.relpath(path, f"{source}/test")[:-3]
            yield Part("ruby", name, [*RUN_RUBY, f"test/{name}.rb"], results.ruby, folder=source,
                       source=source, weight=RUBY_LONG.get(name, 5))


# Where Debian's perl runs the tests of its own source: a folder, the tests in it.
PERL = (
    ("dist/IO", "t/*.t"),
    ("dist/Net-Ping", "t/*.t"),
    ("dist/Thread-Queue", "t/*.t"),
    ("dist/threads", "t/*.t"),
    ("cpan/Socket", "t/*.t"),
    ("cpan/IO-Socket-IP", "t/*.t"),
    ("cpan/libnet", "t/*.t"),
    ("cpan/HTTP-Tiny", "t/*.t"),
    ("cpan/IPC-Cmd", "t/*.t"),
    ("ext/IPC-Open3", "t/*.t"),
    ("ext/POSIX", "t/*.t"),
    ("cpan/Sys-Syslog", "t/*.t"),
    ("t", "io/*.t"),
    ("t", "op/fork.t"),
    ("t", "op/alarm.t"),
    ("t", "op/sselect.t"),
    ("t", "op/kill0.t"),
    ("t", "op/exec.t"),
    ("t", "op/sysio.t"),
)


def perl(source):
    for folder, pattern in PERL if source else ():
        for path in sorted(glob.glob(f"{source}/{folder}/{pattern}")):
            name = os.path.relpath(path, f"{source}/{folder}")
            yield Part("perl", os.path.join(folder, name), ["perl", "-I.", "-It", "-It/lib", name],
                       results.tap, folder=os.path.join(source, folder), source=source,
                       weight=3)


def everything(build):
    """All parts that this machine has what they need for; and what is missing, with the reason."""
    source = os.path.join(build, "suites", "source")

    def tree(name):
        path = os.path.join(source, name)
        return path if os.path.isdir(path) else ""

    import loads

    suites = {
        "cpython": cpython() if PYTHON_TESTS else (),
        "tornado": tornado(),
        "twisted": twisted(),
        "glib": glib(),
        "libsoup": libsoup(),
        "libuv": libuv(tree("libuv1"), build),
        "perl": perl(tree("perl")),
        "tcl": tcl(tree("tcl8.6")),
        "ruby": ruby(tree("ruby3.1")),
        **loads.suites(),
    }
    parts = {name: list(found) for name, found in suites.items()}
    return [p for found in parts.values() for p in found], [n for n, f in parts.items() if not f]
