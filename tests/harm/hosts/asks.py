#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Asks a service by datagrams: asks.py PORT SECONDS RATE KINDS [FROM-PORT]. KINDS: a letter for each request in
turn, with which its path begins, and of which it is told as pool does. s: lines that nobody answers. It waits
until the service has begun to listen, and answers its pings."""

import select
import socket
import sys
import time

port, seconds, rate, kinds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
TIMEOUT = 5
ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ours.bind(("127.0.0.1", int(sys.argv[5]) if len(sys.argv) > 5 else 0))
service, asked = ("127.0.0.1", port), {}


def is_there():
    with open("/proc/net/udp", encoding="ascii") as file:
        return f":{port:04X} " in file.read()


def hear(until):
    while select.select([ours], [], [], max(0, until - time.monotonic()))[0]:
        words = ours.recv(500).decode().split()
        if words == ["ping"]:
            ours.sendto(b"pong", service)
        elif words and words[0] in asked:
            kind, due = asked.pop(words[0])
            print(kind, f"{(time.monotonic() - due) * 1e3:.2f}", words[1])


while not is_there():
    time.sleep(0.05)
hear(time.monotonic() + 0.3)
started = time.monotonic()
for number in range(int(seconds * rate)):
    kind, due = kinds[number % len(kinds)], started + number / rate
    hear(due)
    if kind != "s":
        asked[str(number)] = (kind, due)
    ours.sendto(f"{number} /{kind}{number}".encode(), service)
end = time.monotonic() + TIMEOUT
while asked and time.monotonic() < end:
    hear(min(end, time.monotonic() + 0.1))
for kind, due in asked.values():
    print(kind, f"{TIMEOUT * 1e3:.2f}", "LATE")
