# SPDX-License-Identifier: MIT
"""Other libraries beside the shim: allocators, false clocks, sanitizers, proxies, wrappers. Each
before the shim in LD_PRELOAD and after it; what the guest prints must be what it prints with that
library alone."""

import glob
import os
import re
import struct
import subprocess
from dataclasses import dataclass, field
from fnmatch import fnmatch

from catalog import NAME, PORT
from lab import Helper
from socks import PROXY, Socks
from stage import (
    Outage, compare, configuration, environment, guest_words, run_guest, summary,
)

LIBRARIES = "/usr/lib/*-linux-gnu/"
ELSEWHERE = "10.99.0.1"  # an address of the laboratory that is not loopback's: the proxies' server
CAPTURE = re.compile(r"open: \d+,(?= mode 100000)")


class Proxied(Outage):
    """A server behind a proxy: what counts are the connections that the proxy was asked for."""

    def __init__(self, lab):
        super().__init__(lab)
        self.socks = Socks(PORT)

    def count(self):
        return self.socks.asked


class Wrapped(Outage):
    """socket_wrapper: the server is a unix socket in its folder, and its own capture counts."""

    def __init__(self, lab, build, library):
        super().__init__(lab)
        self.folder = os.path.join(lab.folder, "wrapper")
        self.capture = os.path.join(lab.folder, "capture")
        os.mkdir(self.folder, 0o700)
        self.extra = {"SOCKET_WRAPPER_DIR": self.folder, "SOCKET_WRAPPER_DEFAULT_IFACE": "1"}
        self.server = Helper(
            "env", *(f"{k}={v}" for k, v in self.extra.items()), f"LD_PRELOAD={library}",
            os.path.join(build, "clients", "server"), str(PORT + 1), "healthy",
        )
        self.extra["SOCKET_WRAPPER_PCAP_FILE"] = self.capture

    def stop(self):
        self.server.ask("mode down")

    def start(self):
        self.server.ask("mode healthy")

    def count(self):
        """TCP packets with SYN and without ACK in the capture of raw IPv4 packets."""
        try:
            with open(self.capture, "rb") as f:
                data = f.read()
        except OSError:
            return 0
        at, found = 24, 0
        while at + 16 <= len(data):
            length = struct.unpack_from("=I", data, at + 8)[0]
            packet = data[at + 16:at + 16 + length]
            at += 16 + length
            if len(packet) < 40 or packet[9] != 6:
                continue
            found += packet[(packet[0] & 15) * 4 + 13] & 0x12 == 0x02
        return found


@dataclass
class Company:
    """A library that the guest has beside the shim."""

    name: str
    library: str  # below LIBRARIES, or a whole path; a pattern
    extra: dict = field(default_factory=dict)  # of the environment
    address: str = "127.0.0.1"
    host: str = NAME
    outage: str = ""  # "socks", "wrapped"
    sees: tuple = ("first", "last")  # the shim's places in LD_PRELOAD where it sees the retries
    jumps: tuple = ()  # of the false clock, one in each storm
    early: bool = True  # can be called before its constructor was
    wrapper: tuple = ()  # the command that starts programs with it, for one more place: "run"


def clock(name, time_, *jumps):
    extra = {"FAKETIME": time_, "FAKETIME_NO_CACHE": "1"}
    # libfaketime opens its shared memory twice if libunwind asks it for the status of a file first.
    library = "faketime/libfaketimeMT.so.1"
    return Company(f"libfaketime-{name}", library, extra, jumps=jumps, early=False)


COMPANY = [
    Company("jemalloc", "libjemalloc.so.2"),
    Company("tcmalloc", "libtcmalloc_minimal.so.4"),
    Company("mimalloc", "libmimalloc.so.2*"),
    clock("ahead", "+10d"),
    clock("behind", "-10d"),
    clock("stopped", "2020-01-01 00:00:00"),
    clock("fast", "+0 x50"),
    clock("slow", "+0 x0.1"),
    clock("jumps-ahead", "+0", "+400d", "+800d"),
    clock("jumps-back", "+0", "-2d", "-4d"),
    clock("stops", "+0", "2020-01-01 00:00:00", "+0"),
    # Of these three the last sees nothing, or only the proxy, which is well.
    Company(
        "torsocks", "torsocks/libtorsocks.so", {}, ELSEWHERE, outage="socks",
        sees=("first", "run"), wrapper=("torsocks",),
    ),
    Company(
        "proxychains", "libproxychains.so.4", {}, ELSEWHERE, outage="socks",
        sees=("first", "run"), wrapper=("proxychains4", "-q"),
    ),
    Company("socket_wrapper", "libsocket_wrapper.so", outage="wrapped", sees=("first",)),
    Company("nss_wrapper", "libnss_wrapper.so", host="wrapped.test"),
    Company("eatmydata", "libeatmydata.so"),
    Company("stdbuf", "/usr/libexec/coreutils/libstdbuf.so", {"_STDBUF_O": "L", "_STDBUF_I": "0"}),
]


@dataclass
class Host:
    """A program built with a sanitizer."""

    name: str
    program: str
    first: str = ""  # a library of it that goes before the shim in LD_PRELOAD
    run: bool = False  # by the command, which knows what to do


# ASan's library ends a program in which it is not the first, unless it was told; TSan's is content
# with any place.
SANITIZED = [
    Host("asan", "guest-asan", "libasan.so*"),
    Host("asan-run", "guest-asan", run=True),
    Host("asan-static", "guest-asan-static"),
    Host("asan-clang", "guest-asan-clang"),
    Host("tsan", "guest-tsan"),
    Host("tsan-clang", "guest-tsan-clang"),
]


def find(company):
    """The library's path, or None."""
    found = sorted(glob.glob(os.path.join(LIBRARIES, company.library)))
    return found[0] if found else None


def runtime_of(program, pattern):
    """The path of a library that a program is linked with."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return next(row[2] for row in rows if len(row) > 2 and fnmatch(row[0], pattern))


def write(lab, name, text):
    path = os.path.join(lab.folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def prepare(lab, company, build, library):
    """The outage of a company, and what its environment needs of the stage."""
    extra, outage = dict(company.extra), Outage(lab)
    if company.outage == "socks":
        outage = Proxied(lab)
        extra["TORSOCKS_LOG_LEVEL"] = "1"  # it writes a line for each failure
        extra["TORSOCKS_CONF_FILE"] = write(
            lab, "torsocks.conf", f"TorAddress 127.0.0.1\nTorPort {PROXY}\n")
        extra["PROXYCHAINS_CONF_FILE"] = write(
            lab, "proxychains.conf",
            f"strict_chain\nquiet_mode\nproxy_dns\n[ProxyList]\nsocks5 127.0.0.1 {PROXY}\n")
        extra["PROXYCHAINS_QUIET_MODE"] = "1"
    elif company.outage == "wrapped":
        outage = Wrapped(lab, build, library)
        extra.update(outage.extra)
    if company.name == "nss_wrapper":
        extra["NSS_WRAPPER_HOSTS"] = write(lab, "hosts", f"127.0.0.1 {company.host}\n")
    if company.jumps:
        extra["FAKETIME_TIMESTAMP_FILE"] = os.path.join(lab.folder, "faketimerc")
        del extra["FAKETIME"]
    return outage, extra


def run(lab, build, shim, company, place):
    """One company, the shim before it ("first"), behind it ("last"), or by the commands of both."""
    library = find(company)
    if not library:
        return {"skipped": f"{company.library} is not installed"}
    outage, extra = prepare(lab, company, build, library)
    port = PORT + 1 if company.outage == "wrapped" else PORT
    words = guest_words(build, company.address, port, company.host)
    left = []

    def jump():
        if left:
            write(lab, "faketimerc", left.pop(0) + "\n")

    def one(words, preload, text, limited):
        if company.jumps:
            write(lab, "faketimerc", company.extra["FAKETIME"] + "\n")
            left[:] = company.jumps
        env = environment(lab, preload, text, extra)
        return run_guest(lab, words, env, outage, limited, jump)

    bare = one(words, library, None, False)
    if company.outage == "wrapped":  # its capture is opened whenever, by the first to connect
        bare.lines = [CAPTURE.sub("open: ?,", line) for line in bare.lines]
    preload = f"{shim}:{library}" if place == "first" else f"{library}:{shim}"
    # With call sites libunwind is opened before the library that comes first is ready.
    trace = 4 if place == "last" and company.early else 0
    limited = place in company.sees
    if place == "run":
        preload = ""
        words = [*company.wrapper, os.path.join(build, "retrybudget"), "run", "--", *words]
    said = one(words, preload, configuration(lab, trace=trace), limited)
    if company.outage == "wrapped":
        said.lines = [CAPTURE.sub("open: ?,", line) for line in said.lines]
    return {"problems": compare(bare, said, limited), "note": summary(bare, said)}


def run_sanitized(lab, build, shim, host, trace):
    """A report goes to stderr, which must be as empty as without the shim."""
    words, outage = guest_words(build, program=host.program), Outage(lab)
    preload = shim
    if host.first:
        preload = f"{runtime_of(words[0], host.first)}:{shim}"
    bare = run_guest(lab, words, environment(lab, ""), outage, False)
    text = configuration(lab, trace=trace)
    if host.run:
        words, preload = [os.path.join(build, "retrybudget"), "run", "--", *words], ""
    said = run_guest(lab, words, environment(lab, preload, text), outage, True)
    return {"problems": compare(bare, said), "note": summary(bare, said)}
