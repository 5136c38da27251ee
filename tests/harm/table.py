# SPDX-License-Identifier: MIT
"""What a scene says, and the words that most of them are made of.

What a scene may say beside name, rule (of the judging, or what of it), what, host and servers:
  seconds    how long it is played, {S} in commands; the option --seconds scales it unless fixed
  load, front  the command that asks the host for work, and the port where the host listens
  storm      where attempts are counted and bounded: port, more, what, and beside: the kind of the live work
             that goes there, too, and is no part of it
  per_demand (port, kind, most, what): attempts at that port for each piece of work of that kind
  steady     (port, kind, most, from): the same of connects, from a second on
  failing    the share that fails, for work of kind p: served must be what no retry would serve
  later, dead_later   ms that the p99 of healthy and of hopeless work may be later (None: any); worst: the last
  least      the share of kind p that must be served, where no chance has a part in it
  ends       the host must end by itself, at most so many seconds after bare
  cpu        so many loops use little of a processor; endless: the host never ends by itself
  policy     what stands in the INI file; files: written to {T} before; needs: commands without which it is skipped; dns: a resolver
  names      lines of /etc/hosts; own_ports: the range of ports that connects leave from
  quick      played by `make check-harm`; open scenes stand in open.txt
"""

PORT = 8001  # where a host listens
LIVE, DEAD, NEXT = 9001, 9002, 9003
SCENES = []

WAYS = {  # how a destination fails
    "refused": "refuse",
    "closed": "close",
    "read": "readclose",
    "hang": "hang",
    "blackhole": "blackhole",
}


def scene(name, rule, what, host, servers, seconds=8, **more):
    SCENES.append({"name": name, "rule": rule, "what": what, "host": host, "servers": servers,
                   "seconds": seconds, **more})


def pool(options, *targets):
    return ["{B}/pool", "-s", "{S}", *options.split(), *targets]


def load(rate, threads=16, options="", *targets):
    return pool(f"-n {threads} -r {rate} {options}", *(targets or (f"{PORT}=h", f"{PORT}=d")))


def serve(mode, options=""):
    return ["{B}/serve", "-M", mode, "-l", str(PORT), "-h", str(LIVE), "-d", str(DEAD),
            *options.split()]


def pair(way):
    return [f"{LIVE}:ok", f"{DEAD}:{WAYS[way]}"]
