# SPDX-License-Identifier: MIT
"""What else the failing server speaks (protocols.py): memcached, MQTT 3.1.1, and as much PostgreSQL
as a client needs to start up and to ask one question."""

import struct


class Memcached:
    """The text protocol: get u:UNIT."""

    def __init__(self):
        self.text = b""

    def feed(self, data):
        self.text += data
        while b"\r\n" in self.text:
            line, _, self.text = self.text.partition(b"\r\n")
            words = line.split()
            if words[:1] in ([b"get"], [b"gets"]):
                unit = words[1].removeprefix(b"u:").decode()
                yield unit, b"VALUE " + words[1] + b" 0 4\r\ndone\r\nEND\r\n", False
            elif words == [b"version"]:
                yield "", b"VERSION 1.6.18\r\n", False
            else:
                yield "", b"", True  # quit


class Mqtt:
    """CONNECT tells the unit by the client's name. Who subscribes is hung up on: it comes again."""

    CONNECT, PUBLISH, SUBSCRIBE, PING = 1, 3, 8, 12

    def __init__(self):
        self.data, self.under_way = b"", ""

    def _packets(self):
        """(type and flags, body) of each whole packet."""
        while len(self.data) >= 2:
            length, shift, at = 0, 0, 1
            while at < len(self.data) and self.data[at] & 0x80:
                length |= (self.data[at] & 0x7F) << shift
                shift, at = shift + 7, at + 1
            if at >= len(self.data):
                return
            length |= self.data[at] << shift
            end = at + 1 + length
            if len(self.data) < end:
                return
            packet = self.data[0], self.data[at + 1 : end]
            self.data = self.data[end:]
            yield packet

    def feed(self, data):
        self.data += data
        for head, body in self._packets():
            if head >> 4 == self.CONNECT:
                name = body[12 : 12 + struct.unpack("!H", body[10:12])[0]].decode()
                yield name, b"\x20\x02\x00\x00", False
                self.under_way = name
            elif head >> 4 == self.PUBLISH and head & 6:
                self.under_way = ""
                at = 2 + struct.unpack("!H", body[:2])[0]
                yield "", b"\x40\x02" + body[at : at + 2], False
            elif head >> 4 == self.SUBSCRIBE:
                self.under_way = ""
                yield "", b"\x90\x03" + body[:2] + b"\x00", True
            elif head >> 4 == self.PING:
                yield "", b"\xd0\x00", False


def message(kind, *parts):
    body = b"".join(parts)
    return kind + struct.pack("!I", len(body) + 4) + body


class Postgres:
    """The start-up packet tells the unit by application_name; every query's answer is 1."""

    SSL, GSS = 80877103, 80877104
    READY = message(b"Z", b"I")
    HELLO = b"".join((
        message(b"R", struct.pack("!I", 0)),
        message(b"S", b"server_version\0", b"15.0\0"),
        message(b"S", b"client_encoding\0", b"UTF8\0"),
        message(b"S", b"standard_conforming_strings\0", b"on\0"),
        message(b"K", struct.pack("!II", 1, 1)),
        READY,
    ))
    ONE = b"".join((
        message(b"T", struct.pack("!H", 1), b"one\0", struct.pack("!IHIHiH", 0, 0, 23, 4, -1, 0)),
        message(b"D", struct.pack("!HI", 1, 1), b"1"),
        message(b"C", b"SELECT 1\0"),
        READY,
    ))

    def __init__(self):
        self.data, self.started, self.under_way = b"", False, ""

    def feed(self, data):
        self.data += data
        while True:
            first = 1 if self.started else 0  # the start-up packet has no type
            if len(self.data) < first + 4:
                return
            end = first + struct.unpack("!I", self.data[first : first + 4])[0]
            if len(self.data) < end:
                return
            kind, body = self.data[:first], self.data[first + 4 : end]
            self.data = self.data[end:]
            if kind == b"Q":
                self.under_way = ""
                yield "", self.ONE, False
            elif kind == b"X":
                yield "", b"", True
            elif not kind and struct.unpack("!I", body[:4])[0] in (self.SSL, self.GSS):
                yield "", b"N", False
            elif not kind:
                words = body[4:].split(b"\0")
                self.started = True
                name = dict(zip(words[::2], words[1::2])).get(b"application_name", b"").decode()
                yield name, self.HELLO, False
                self.under_way = name


BY_NAME = {"memcached": Memcached, "mqtt": Mqtt, "postgres": Postgres}
