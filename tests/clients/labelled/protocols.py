# SPDX-License-Identifier: MIT
"""What the failing server speaks. Each class is one connection's state: feed(data) yields, for each
whole message, (unit of work or "", the reply in bytes, whether the connection ends with it). under_way: a
unit that has been accepted, but takes more messages."""

import re

import dialects


class Http:
    """GET /u/UNIT; any other path belongs to no unit."""

    def __init__(self):
        self.text = b""

    def feed(self, data):
        self.text += data
        while b"\r\n\r\n" in self.text:
            head, _, rest = self.text.partition(b"\r\n\r\n")
            length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
            length = int(length.group(1)) if length else 0
            if len(rest) < length:
                return
            self.text = rest[length:]
            unit = re.match(rb"\w+ (?:http://[^/]*)?/u/([\w.-]+)", head)
            last = b"HTTP/1.0" in head.split(b"\r\n")[0] and not re.search(
                rb"\r\nconnection: *keep-alive", head, re.I
            )
            last = last or bool(re.search(rb"\r\nconnection: *close", head, re.I))
            body = b"" if head.startswith(b"HEAD ") else b"done\n"
            yield (
                unit.group(1).decode() if unit else "",
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"
                b"Connection: " + (b"close" if last else b"keep-alive") + b"\r\n\r\n" + body,
                last,
            )


class Git(Http):
    """The same, to a client that wants a list of references (the "dumb" protocol)."""

    def feed(self, data):
        head = b"/HEAD HTTP" in self.text + data  # which is no work of its own
        for unit, reply, last in super().feed(data):
            body = b"" if head else b"5" * 40 + b"\trefs/heads/main\n"
            end = b"Content-Length: %d\r\n" % len(body)
            reply = reply.replace(b"Content-Length: 5\r\n", end).removesuffix(b"done\n") + body
            yield "" if head else unit, reply, last


class Redis:
    """Any command one of whose words is u:UNIT."""

    def __init__(self):
        self.text = b""

    def feed(self, data):
        self.text += data
        while self.text:
            words, at = [], self.text.find(b"\r\n")
            if at < 0:
                return
            if self.text[:1] == b"*":
                count, at = int(self.text[1:at]), at + 2
                for _ in range(count):
                    end = self.text.find(b"\r\n", at)
                    if end < 0:
                        return
                    size = int(self.text[at + 1 : end])
                    if len(self.text) < end + 2 + size + 2:
                        return
                    words.append(self.text[end + 2 : end + 2 + size])
                    at = end + 2 + size + 2
            else:
                words, at = self.text[:at].split(), at + 2
            self.text = self.text[at:]
            unit = next((w[2:].decode() for w in words if w.startswith(b"u:")), "")
            reply = b"+OK\r\n"
            if words and words[0].upper() == b"GET":
                reply = b"$4\r\ndone\r\n"
            elif words and words[0].upper() in (b"COMMAND", b"HELLO"):
                reply = b"-ERR unknown command\r\n"
            yield unit, reply, False


class Lines:
    """u:UNIT and the end of the line; the answer is "done"."""

    def __init__(self):
        self.text = b""

    def feed(self, data):
        self.text += data
        while b"\n" in self.text:
            line, _, self.text = self.text.partition(b"\n")
            unit = line.strip()[2:].decode() if line.startswith(b"u:") else ""
            yield unit, b"done\n", False


BY_NAME = {"http": Http, "git": Git, "redis": Redis, "lines": Lines}
BY_NAME.update(dialects.BY_NAME)
