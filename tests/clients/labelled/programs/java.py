# SPDX-License-Identifier: MIT
"""Java's clients, in one thread and in several."""

import os
from dataclasses import dataclass

from client import Client
from join import fields

# One compiler thread and a small heap keep its start from disturbing the neighbours.
JAVA = ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Xmx64m", "-XX:+UseSerialGC", "-cp"]


@dataclass
class Java(Client):
    """Words also: {classes}, where make puts what javac makes of drivers/."""

    def fill(self, stage, **more):
        return super().fill(stage, classes=os.path.join(stage.build, "clients", "labelled"), **more)


@dataclass
class OneAtATime(Java):
    """It connects in threads of its own, but for the one unit that the main thread has named."""

    def unit_of(self, stage, attempt):
        if not hasattr(stage, "named"):
            words = [fields(r) for r in stage.log.records if r.startswith("event=unit")]
            stage.named = sorted((int(f["when"]), f["unit"]) for f in words)
        before = [unit for when, unit in stage.named if when < attempt.began()]
        return before[-1] if before else ""


def command(how, threads, tries):
    return [*JAVA, "{classes}", "Tries", "{host}", "{port}", "{count}", how, threads, tries]


CLIENTS = [
    Java("java URL", command("url", "1", "3"), refuse=True),
    Java("java URL, pool", command("url", "8", "3"), refuse=True),
    # Without tries of ours: HttpURLConnection itself repeats a GET once that broke.
    Java("java URL, pool, its own tries", command("url", "8", "1"), refuse=True),
    OneAtATime("java HttpClient", command("client", "1", "3"), refuse=True),
    Java("java HttpClient, pool", command("client", "8", "3"),
         conditions=("none", "5 %", "20 %", "50 %", "100 %"),
         why_not="whom a refused connect of its threads was for is not known"),
]
