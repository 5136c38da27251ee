# SPDX-License-Identifier: MIT
"""Real clients of an HTTPS server that is well: whatever the configuration says, none may notice
the shim."""

import hashlib
import http.server
import os
import socketserver
import subprocess
import threading

import statuses
from healthy import is_throttled
from lab import Run
from secure import HOST, PORT, READ, URL, WGET, certificate, loop

REQUESTS = 20
# A reply of several TLS records, in whose body nobody may look for a status.
LINE = "HTTP/1.1 503 Not now\r\nRetry-After: 100\r\nContent-Length: 0\r\n\r\n"
BODY = (LINE * 1000).encode()
REFS = b"0123456789012345678901234567890123456789\trefs/heads/main\n"


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves BODY, and a repository as files; counts what it is asked for."""

    protocol_version = "HTTP/1.1"
    timeout = 30

    def setup(self):
        self.request = self.server.context.wrap_socket(self.request, server_side=True)
        with self.server.lock:
            self.server.seen["connections"] += 1
        super().setup()

    def finish(self):
        super().finish()
        self.request.settimeout(1)
        try:
            self.request.unwrap()
        except OSError:
            pass

    def count(self, sent):
        with self.server.lock:
            self.server.seen["requests"].append(f"{self.command} {self.path}")
            self.server.seen["bodies"].append(hashlib.sha256(sent).hexdigest())

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        self.count(b"")
        refs = self.path.startswith("/repository/info/refs")
        self.answer(REFS if refs else BODY)

    do_HEAD = do_GET

    def do_POST(self):
        self.count(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(BODY)

    def log_message(self, *_):
        pass


class Well(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 128

    def __init__(self, context):
        self.context, self.lock = context, threading.Lock()
        self.seen = {"connections": 0, "requests": [], "bodies": []}
        super().__init__((HOST, PORT), Handler)
        threading.Thread(target=self.serve_forever, daemon=True, args=(0.05,)).start()

    def handle_error(self, request, client_address):
        pass  # a client that ends as it likes

    def stop(self):
        self.shutdown()
        self.server_close()


def programs(build):
    n, at = str(REQUESTS), ("get", HOST, str(PORT), str(REQUESTS))
    classes = os.path.join(build, "clients", "classes")
    lftp = f"set ssl:verify-certificate no; {'cat ' + URL + '; '}"
    return {
        "curl": ["curl", "-kqsSf", f"{URL}[1-{n}]"],
        "curl, a process each": ["sh", "-c", f"for i in 1 2 3 4 5; do curl -kqsSf {URL}; done"],
        "curl, upload": ["curl", "-kqsSf", "--data-binary", "@body", URL, URL],
        "wget": [*WGET, "-nv", *[URL] * REQUESTS],
        "python http.client": loop("tls_loop.py", "http.client", *at),
        "python urllib": loop("tls_loop.py", "urllib", *at),
        "python requests": loop("tls_loop.py", "requests", *at),
        "python pycurl": loop("tls_loop.py", "pycurl", *at),
        "python asyncio": loop("tls_loop.py", "asyncio", *at),
        "perl LWP": loop("tls_loop.pl", "lwp", *at),
        "perl HTTP::Tiny": loop("tls_loop.pl", "tiny", *at),
        "ruby net/http": loop("tls_loop.rb", *at),
        "php curl": loop("tls_loop.php", "curl", *at),
        "php stream": loop("tls_loop.php", "stream", *at),
        "node https": loop("tls_loop.js", HOST, str(PORT), n),
        "java URL": ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Xmx64m", "-cp", classes,
                     "TlsLoop", HOST, str(PORT), n],
        "git": ["git", "-c", "http.sslVerify=false", "ls-remote", f"{URL}repository"],
        "apt": ["/usr/lib/apt/apt-helper", "-o", "Acquire::https::Verify-Peer=false", "-o",
                "Acquire::https::Verify-Host=false", "-o", "APT::Sandbox::User=root",
                "download-file", URL, "page"],
        "aria2c": ["aria2c", "-q", "--no-conf", "--check-certificate=false", "-o", "page",
                   "--allow-overwrite=true", URL],
        "lftp": ["lftp", "-c", lftp * 3],
        "w3m": ["w3m", "-o", "ssl_verify_server=0", "-dump_source", URL],
        "ab": ["ab", "-q", "-n", n, "-c", "1", URL],
    }


def ask_well(lab, command, environment, context):
    """One run against a server that is well: what the client and the server have seen."""
    server = Well(context)
    run = Run(command, lab.folder, environment)
    try:
        code = run.wait(60)
    finally:
        run.kill()
        server.stop()
    page = os.path.join(lab.folder, "page")
    files = b""
    if os.path.exists(page):
        with open(page, "rb") as f:
            files = f.read()
        os.unlink(page)
    with open(run.out_path, "rb") as f:
        out = f.read()
    return {
        "exit": code,
        "out": out,
        "file": files,
        "errors": run.errors(),
        "connections": server.seen["connections"],
        "requests": sorted(server.seen["requests"]),
        "bodies": sorted(server.seen["bodies"]),
    }


def compare(lab, build, name, library):
    """Bare, under the shim as it comes, and with the replies inside TLS read."""
    problems, context = [], certificate(lab.folder)
    command = programs(build)[name]
    with open(os.path.join(lab.folder, "body"), "wb") as f:
        f.write(BODY * 3)
    bare = ask_well(lab, command, lab.environment(), context)
    if bare["exit"] != 0 or not bare["requests"] or not bare["out"] + bare["file"]:
        problems.append(f"bare: exit {bare['exit']}, {len(bare['requests'])} requests, "
                        f"{bare['errors'][-80:]!r}")
    text = statuses.CONFIGURATION.format(log=lab.log.path, more="")
    text = text.replace("interval = 0", "interval = 0\nattempts = on")
    throttled = 0
    problems += misunderstood(lab, build, text + READ)
    for way, more in (("off", ""), ("on", READ)):
        before = len(lab.log.fields())
        shim = ask_well(lab, command, lab.environment(library, text + more), context)
        records = lab.log.fields()[before:]
        for what, mine in shim.items():
            if same(name, what, mine) != same(name, what, bare[what]):
                problems.append(f"{way}: {what} differs: {str(mine)[-80:]!r}, "
                                f"bare {str(bare[what])[-80:]!r}")
        held = [r for r in records if is_throttled(r)]
        throttled += len(held)
        problems += [f"{way}: record on a healthy server: {held[0]}"] if held else []
        seen = sum(r.get("dest", "").endswith(f":{PORT}") for r in records)
        if seen != shim["connections"]:
            problems.append(f"{way}: {seen} attempts recorded, {shim['connections']} accepted")
    return {"problems": problems, "requests": len(bare["requests"]), "throttled": throttled,
            "connections": bare["connections"], "bytes": len(bare["out"]) + len(bare["file"])}


def misunderstood(lab, build, text):
    path = os.path.join(lab.folder, "checked.ini")
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    check = subprocess.run([os.path.join(build, "retrybudget"), "check", path], text=True,
                           capture_output=True, check=False)
    if check.returncode == 0:
        return []
    return [f"the configuration is not understood: {check.stderr[-60:]!r}"]


def same(name, what, value):
    """Without what differs from run to run: times and rates."""
    if name == "ab" and what == "out":
        return [line for line in value.splitlines() if line.startswith((b"Complete", b"Failed",
                b"Non-2xx", b"Document", b"Total transferred", b"HTML"))]
    if name in ("wget", "apt", "aria2c") and what in ("errors", "out") and len(value) < len(BODY):
        return None
    return value


def report(done):
    rows = [c for c in done if c["kind"] == "tls-healthy"]
    if rows:
        print("\nTLS, a healthy server: with tls off and on as bare, nothing throttled.")
    for case in rows:
        r = case["result"]
        print(f"{case['client']:<28} {r.get('requests', '-'):>4} requests "
              f"{r.get('connections', '-'):>3} connections {r.get('bytes', '-'):>9} bytes "
              f"{r.get('throttled', '-'):>3} throttled{'  FAIL' if r['problems'] else ''}")
