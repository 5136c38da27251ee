# SPDX-License-Identifier: MIT
"""A server that depends on the one that fails, and its user.
front.py nginx|haproxy|rsyslog HOST PORT

Only the service itself runs under the shim (SERVICE_PRELOAD). The user asks it ten times a second
until the page comes through, prints that, and ends."""

import http.client
import os
import subprocess
import sys
import time

kind, host, port = sys.argv[1:4]
HERE = os.getcwd()
FRONT = 7001

# Three entries, so that nginx tries three times for each request.
NGINX = f"""
daemon off; master_process off; pid nginx.pid; error_log {HERE}/nginx.errors error;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4;
  scgi_temp_path t5;
  upstream up {{ {f"server {host}:{port} max_fails=0; " * 3} }}
  server {{
    listen 127.0.0.1:{FRONT};
    location / {{ proxy_pass http://up; proxy_connect_timeout 2s; proxy_read_timeout 2s; }}
  }}
}}
"""
# A request that comes before the first check is over ends within the time that it is watched, too.
HAPROXY = f"""
defaults
  mode http
  retries 0
  timeout connect 2s
  timeout client 5s
  timeout server 2s
listen front
  bind 127.0.0.1:{FRONT}
  server up {host}:{port} check inter 10ms fall 1 rise 1
"""
# A file is followed; what is in it is forwarded, and nothing is waited for between two tries.
RSYSLOG = f"""
global(workDirectory="{HERE}")
module(load="imfile" mode="polling" pollingInterval="1")
input(type="imfile" File="{HERE}/lines" Tag="lines")
action(type="omfwd" target="{host}" port="{port}" protocol="tcp"
       action.resumeRetryCount="-1" action.resumeInterval="0")
"""


def write(name, text):
    with open(name, "w", encoding="ascii") as f:
        f.write(text)
    return os.path.join(HERE, name)


def ask():
    connection = http.client.HTTPConnection("127.0.0.1", FRONT, timeout=30)
    try:
        connection.request("GET", "/")
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    except (OSError, http.client.HTTPException) as e:
        return 0, f"{kind} itself: {e}"
    finally:
        connection.close()


if kind == "nginx":
    command = ["nginx", "-p", HERE, "-c", write("nginx.conf", NGINX)]
elif kind == "haproxy":
    command = ["haproxy", "-db", "-f", write("haproxy.cfg", HAPROXY)]
else:
    write("lines", "a line to forward\n" * 50)
    command = ["rsyslogd", "-n", "-i", "NONE", "-f", write("rsyslog.conf", RSYSLOG)]
environment = dict(os.environ)
if environment.pop("SERVICE_PRELOAD", ""):
    environment["LD_PRELOAD"] = os.environ["SERVICE_PRELOAD"]
service = subprocess.Popen(command, env=environment)
time.sleep(0.3)
said = ""
while True:
    status, text = (0, "") if kind == "rsyslog" else ask()
    if service.poll() is not None:
        print(f"{kind}: ended with {service.returncode}", file=sys.stderr)
        sys.exit(100 - min(service.returncode, 0))
    if status == 200:
        break
    if text and f"{status} {text}" != said:
        said = f"{status} {text}"
        print(said.splitlines()[0], file=sys.stderr)
    time.sleep(0.1)
sys.stdout.write(text)
sys.stdout.flush()
service.kill()
service.wait()
