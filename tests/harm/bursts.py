# SPDX-License-Identifier: MIT
"""The scenes of work that comes in bursts, and of services whose server returns while they are asked."""

from table import DEAD, LIVE, PORT, load, scene, serve

NGINX_ONE = """daemon off; user root; worker_processes 1; pid {T}/pid; error_log {T}/errors;
events { worker_connections 1000; }
http { access_log off; client_body_temp_path {T}; proxy_temp_path {T}; fastcgi_temp_path {T};
 uwsgi_temp_path {T}; scgi_temp_path {T};
 upstream one { server 127.0.0.1:9001 max_fails=0; KEPT }
 server { listen 8001; location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://one; } } }
"""


def bursts():
    def burst(name, rule, what, manner, count, seconds, every, servers, **more):
        scene(f"burst/{name}", rule, what,
              ["/usr/bin/python3", "{H}/hosts/bursts.py", manner, str(LIVE), str(count), str(seconds), str(every)],
              servers, seconds, fixed=True, **more)

    for name, every, seconds in (("late", 12, 27), ("late-often", 5, 24)):
        burst(name, "quiet", f"sixty connects each {every} s, and three more, whose requests hang and are given up last",
              "late", 60, seconds, every, [f"{LIVE}:polls"])
    burst("often", "unclear", "sixty connects each 4 s, a hundredth are closed without an answer", "plain",
          60, 23, 4, [f"{LIVE}:nth=100"], failing=0.01)
    for name, every, seconds, after in (("goodbye", 14, 31, 11), ("goodbye-often", 4, 15, 1)):
        burst(name, "quiet", f"twenty connections each {every} s, which say goodbye after {after} s, and the server's "
              "answer is their end", f"quit={after}", 20, seconds, every, [f"{LIVE}:lines"])
    burst("stale", "quiet", "twenty kept connections that something between forgot, asked at once", "stale",
          20, 15, 4, [f"{LIVE}:ok,vanish@2,ok@2.1,vanish@6,ok@6.1,vanish@10,ok@10.1"])


def services():
    """A server is away for ten seconds, and whoever asks its service then is told so. It is served again when
    the server is back; up to three seconds may pass, which are 0.13 of the whole."""
    servers, seconds = [f"{LIVE}:ok,refuse@2,ok@12"], 22
    hosts = {
        "reactor": (serve("reactor", "-n 8 -t 1"), {}),
        "perconn": (serve("perconn", "-t 1"), {}),
        "python": (["/usr/bin/python3", "{H}/hosts/service.py", str(PORT), str(LIVE), str(DEAD)], {}),
        "node": (["node", "{H}/hosts/service.js", str(PORT), str(LIVE), str(DEAD)], {"needs": ["node"]}),
        "node-cluster": (["node", "{H}/hosts/service.js", str(PORT), str(LIVE), str(DEAD), "cluster"],
                         {"needs": ["node"], "load": load(50, 8, "", f"{PORT}=p")}),
    }
    for name, kept in (("nginx", ""), ("nginx-kept", "keepalive 8;")):
        hosts[name] = (["nginx", "-c", "{T}/nginx.conf", "-p", "{T}"],
                       {"files": {"nginx.conf": NGINX_ONE.replace("KEPT", kept)}, "needs": ["nginx"],
                        "quick": not kept})
    for name, (host, more) in hosts.items():
        scene(f"back/{name}", "return", "a service whose server is away for ten seconds", host, servers, seconds,
              front=PORT, failing=0.5, least=0.42, later=500,
              per_demand=(LIVE, "p", 1.3, "syns"), fixed=True,
              **{"load": load(50, 8, "-k", f"{PORT}=p"), **more})
