# SPDX-License-Identifier: MIT
"""The servers behind an [admission] section: how each is started, and what it needs to be there."""

import os
import shutil
import subprocess

from catalog import UNPACKED

# Not the shell's own node or python of a version manager, which start others.
PATH = f"{UNPACKED}:/usr/sbin:/usr/bin:/sbin:/bin:{os.environ['PATH']}"
PORT = 8080
MS = 50  # that one request takes
HERE = os.path.dirname(os.path.abspath(__file__))

APACHE = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/pid
ErrorLog {folder}/log
Listen {port}
LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule alias_module {modules}/mod_alias.so
LoadModule cgi_module {modules}/mod_cgi.so
Mutex file:{folder}
User nobody
Group nogroup
KeepAlive Off
StartServers 2
MinSpareServers 1
MaxSpareServers 2
ServerLimit 2
MaxRequestWorkers 2
ScriptAlias /cgi-bin/ {folder}/cgi-bin/
<Directory {folder}/cgi-bin>
Require all granted
</Directory>
"""

NGINX = """
daemon off;
worker_processes 2;
pid {folder}/pid;
error_log {folder}/log;
events {{ worker_connections 512; {events} }}
http {{ access_log off; client_body_temp_path {folder}; proxy_temp_path {folder};
 fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
 server {{ listen {port} {listen}; location / {{ return 200 "ok\\n"; }} }} }}
"""

HAPROXY = """
defaults
  mode http
  timeout client 5s
frontend f
  bind :{port}
  http-request return status 200 content-type text/plain string "ok"
"""

ASYNCIO = """
import asyncio
async def answer(reader, writer):
    await reader.readline()
    writer.write(b"HTTP/1.0 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\nok\\n")
    await writer.drain()
    writer.close()
async def main():
    await (await asyncio.start_server(answer, "127.0.0.1", %d, backlog=512)).serve_forever()
asyncio.run(main())
"""

# Its accept comes after select, on a blocking socket.
SOCKETSERVER = """
import socketserver
class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        self.rfile.readline()
        self.wfile.write(b"HTTP/1.0 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\nok\\n")
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    request_queue_size = 512
    daemon_threads = True
Server(("127.0.0.1", %d), Answer).serve_forever()
"""

NODE = """
require("http").createServer((q, r) => { r.setHeader("Connection", "close"); r.end("ok\\n"); })
  .listen(%d, "127.0.0.1", 512);
"""

PHP = '<?php echo "ok\\n";'


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def cgi(build, folder, one_at_a_time):
    """A folder of CGI programs; returns it."""
    place = os.path.join(folder, "cgi-bin")
    os.makedirs(place, exist_ok=True)
    shutil.copy(os.path.join(build, "clients", "slow"), os.path.join(place, "slow"))
    write(place, "ms", str(MS))
    if one_at_a_time:
        os.chmod(write(place, "turn", ""), 0o666)
    return place


def small(build, folder):
    return [os.path.join(build, "clients", "slow"), str(PORT), str(MS)]


def busybox(build, folder):
    cgi(build, folder, True)  # it forks for each connection: only the work is one at a time
    return ["busybox", "httpd", "-f", "-p", str(PORT), "-h", folder]


def apache(build, folder):
    cgi(build, folder, False)
    text = APACHE.format(folder=folder, port=PORT, modules="/usr/lib/apache2/modules")
    return ["apache2", "-D", "FOREGROUND", "-f", write(folder, "apache.conf", text)]


def nginx(events="", listen=""):
    def command(build, folder):
        text = NGINX.format(folder=folder, port=PORT, events=events, listen=listen)
        return ["nginx", "-c", write(folder, "nginx.conf", text), "-e", f"{folder}/log"]

    return command


def haproxy(build, folder):
    return ["haproxy", "-db", "-f", write(folder, "haproxy.cfg", HAPROXY.format(port=PORT))]


def php(build, folder):
    return ["php", "-S", f"127.0.0.1:{PORT}", write(folder, "ok.php", PHP)]


def python(text):
    return lambda build, folder: ["/usr/bin/python3", "-c", text % PORT]


# Name: the command, the path asked for, how many it serves at a time.
LIMITED = {
    "small C server": (small, "/", 1),
    "busybox httpd": (busybox, "/cgi-bin/slow", 1),
    "apache prefork": (apache, "/cgi-bin/slow", 2),
}
# What those of a short queue (busybox: nine) do not take at once comes again a second later.
CROWDS = {"busybox httpd": 30}
# Those that only have to go on serving, whatever their accept is told.
LOOPS = {
    "small C server": (small, "/"),
    "busybox httpd": (busybox, "/cgi-bin/slow"),
    "apache prefork": (apache, "/cgi-bin/slow"),
    "nginx": (nginx(), "/"),
    "nginx, deferred": (nginx(listen="deferred"), "/"),
    "nginx, multi_accept": (nginx("multi_accept on;"), "/"),
    "haproxy": (haproxy, "/"),
    "node": (lambda build, folder: ["node", "-e", NODE % PORT], "/"),
    "python asyncio": (python(ASYNCIO), "/"),
    "python socketserver": (python(SOCKETSERVER), "/"),
    "php -S": (php, "/"),
}


def missing():
    programs = ("busybox", "apache2", "nginx", "haproxy", "node", "php", "curl", "ab")
    found = [p for p in programs if not shutil.which(p, path=PATH)]
    if "busybox" not in found:
        words = [shutil.which("busybox", path=PATH), "--list"]
        applets = subprocess.run(words, capture_output=True, text=True, check=False)
        if "httpd" not in applets.stdout.split():
            found.append("busybox httpd")
    return found
