# SPDX-License-Identifier: MIT
"""A redis-server of a test's own, on a socket in a folder of its own, with the fleet's library."""

import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

import redis

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "../../conf/fleet/retrybudget.lua")
PREFIX = "retrybudget"
WAIT = 10  # seconds for a server to answer


def key(label):
    return f"{{{PREFIX}}}:ledger:{label}"


def host_key(host):
    return f"{{{PREFIX}}}:host:{host}"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def numbers(answer):
    return [int(number) for number in struct.unpack(f"<{len(answer) // 8}d", answer)]


def library(clock=None):
    """The library's text; clock: a key that says the time in us, instead of TIME."""
    with open(LIBRARY) as file:
        text = file.read()
    if clock:
        told = "local t = redis.call('TIME')\n\treturn tonumber(t[1]) * 1000000 + tonumber(t[2])"
        assert told in text
        text = text.replace(told, f"return tonumber(redis.call('GET', '{clock}'))")
    return text


class Server:
    def __init__(self, *options, folder=None, prefix=()):
        self.folder = folder or tempfile.mkdtemp(prefix="retrybudget-redis-")
        self.socket = os.path.join(self.folder, "redis.sock")
        self.options, self.prefix = options, prefix
        self.start()

    def start(self):
        command = [*self.prefix, "redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.folder,
                   "--save", "", "--logfile", os.path.join(self.folder, "log"), *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.client = redis.Redis(unix_socket_path=self.socket)
        until = time.monotonic() + WAIT
        while True:
            try:
                self.client.ping()
                return
            except redis.exceptions.ConnectionError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def load(self, clock=None):
        self.client.execute_command("FUNCTION", "LOAD", "REPLACE", library(clock))

    def call(self, function, keys, *args):
        return self.client.execute_command("FCALL", f"retrybudget_1_{function}", len(keys), *keys, *args)

    def sync(self, host, asks, client=None):
        """asks: of each label 16 numbers. Returns the numbers of each answer."""
        answers = (client or self.client).execute_command(
            "FCALL", "retrybudget_1_sync", len(asks) + 1, host_key(host), *map(key, asks),
            *(struct.pack("<16d", *ask) for ask in asks.values()))
        return [numbers(answer) for answer in answers]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
