# SPDX-License-Identifier: MIT
"""Real clients over TLS. What the server says inside TLS must throttle a loop as it does in clear
text (statuses.py), where the program reads it through OpenSSL or GnuTLS."""

import os
import shutil
import ssl
import subprocess
import time

import statuses
from catalog import LOOPS, PATH
from lab import Run, wait_until

PORT = 8443
HOST = "127.0.0.1"
URL = f"https://{HOST}:{PORT}/"
READ = f"[destination tls]\nmatch = {HOST}:{PORT}\ntls = on\n"

# A reply that comes as a whole on a connection that lasts, and one whose connection ends with it.
SCENES = (
    ("503", True, False),
    ("429", False, True),
)


def certificate(folder):
    """A context for a server, with a key made for this run and signed by itself."""
    path = os.path.join(folder, "pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", f"/CN={HOST}", "-keyout", path, "-out", path + ".crt"],
        check=True, capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path + ".crt", path)
    return context


def missing():
    words = ("curl", "wget", "perl", "php", "ruby", "node", "java", "wrk", "git", "aria2c", "lftp",
             "w3m", "ab", "openssl")
    return [w for w in words if not shutil.which(w, path=PATH)]


def loop(file, *words):
    interpreter = {"py": "/usr/bin/python3", "pl": "perl", "rb": "ruby", "php": "php",
                   "js": "node"}[file.rpartition(".")[2]]
    return [interpreter, os.path.join(LOOPS, file), *words]


WGET = ["wget", "--no-config", "--no-check-certificate", "-O", "-"]


def programs():
    """Each prints the page and ends well as soon as it is served."""
    until, at = ["sh", "-c"], ("until", HOST, str(PORT))
    again = ["--retry-on-http-error=429,503", "--retry-connrefused"]
    return {
        "curl": until + [f"until curl -kqsSf {URL}; do :; done"],
        "curl, one process": until + [f"curl -kqsS {' '.join([URL] * 300)} | grep -m1 -x hello"],
        "curl --retry": ["curl", "-kqsSf", "--retry", "20", URL],
        "wget, a process for each": until + [f"until {' '.join(WGET)} -nv -t1 {URL}; do :; done"],
        "wget, one process": [*WGET, "-nv", "--tries=20", *again, URL],
        "python http.client": loop("tls_loop.py", "http.client", *at),
        "python http.client, timeout": loop("tls_loop.py", "http.client", *at, "20"),
        "python urllib": loop("tls_loop.py", "urllib", *at),
        "python requests, timeout": loop("tls_loop.py", "requests", *at, "20"),
        "python pycurl": loop("tls_loop.py", "pycurl", *at),
        "perl LWP": loop("tls_loop.pl", "lwp", *at),
        "perl HTTP::Tiny": loop("tls_loop.pl", "tiny", *at),
        "ruby net/http": loop("tls_loop.rb", *at),
        "php curl": loop("tls_loop.php", "curl", *at),
        "php stream": loop("tls_loop.php", "stream", *at),
    }


def compare(lab, name, scene, library):
    return statuses.judge(lab, programs()[name], name, [scene], library, READ,
                          PORT, certificate(lab.folder))


# --- as fast as it can ---

SECONDS = 5
BARE_SECONDS = 1
MOST = 40  # five first tries, ten tokens, what time gives, a few for connections made anew
LEAST_BARE = 300  # of the server below, on a busy machine


class Ill(statuses.Server):
    """Says 503 to everything until it is made well, and asks for no time."""

    well = False

    def reply(self):
        head = "200 OK" if self.well else "503 Not now"
        return (f"HTTP/1.1 {head}\r\nContent-Length: {len(statuses.PAGE)}\r\n\r\n"
                f"{statuses.PAGE}".encode(),)


STORMS = {
    "wrk": ["wrk", "-t1", "-c5", f"-d{SECONDS + 40}s", URL],
    "python http.client": loop("tls_loop.py", "http.client", "storm", HOST, str(PORT), "5"),
    "python pycurl": loop("tls_loop.py", "pycurl", "storm", HOST, str(PORT), "5"),
}


def storm(lab, name, library):
    """Five kept connections against 503 without a Retry-After, then the recovery."""
    problems, chance, counts = [], [], {}
    text = statuses.CONFIGURATION.format(log=lab.log.path, more=READ)
    text = text.replace("base = 10ms\ncap  = 100ms\n", "base = 100ms\ncap = 10s\n")
    context = certificate(lab.folder)
    for way, seconds in (("bare", BARE_SECONDS), ("shim", SECONDS)):
        server = Ill("503", True, None, PORT, context)
        environment = lab.environment() if way == "bare" else lab.environment(library, text)
        run = Run(STORMS[name], lab.folder, environment)
        try:
            wait_until(lambda: server.requests, 20, step=0.005)
            time.sleep(seconds)
            counts[way] = len(server.requests)
            server.well = True
            if way == "shim":
                at, good = time.monotonic(), len(server.requests)
                if not wait_until(lambda: len(server.requests) > good + 100, 25, step=0.05):
                    chance.append("not back within 25 s of the server's recovery")
                counts["back"] = round(time.monotonic() - at, 1)
            if run.process.poll() is not None:
                problems.append(f"{way}: ended with {run.process.poll()}")
        finally:
            run.kill()
            server.stop()
    if counts["bare"] < LEAST_BARE:
        chance.append(f"only {counts['bare']} requests bare: nothing to throttle")
    if counts["shim"] > MOST:
        chance.append(f"{counts['shim']} requests in {SECONDS} s, not {MOST}")
    return {"problems": problems, "chance": chance, "counts": counts}


def report(done):
    for case in (c for c in done if c["kind"] == "tls-storm"):
        counts = case["result"].get("counts", {})
        print(f"five TLS connections of {case['client']} against 503: bare {counts.get('bare')} "
              f"requests in {BARE_SECONDS} s, shim {counts.get('shim')} in {SECONDS} s, back after "
              f"{counts.get('back')} s")
