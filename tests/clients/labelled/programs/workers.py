# SPDX-License-Identifier: MIT
"""Programs with work of their own to do, in threads or an event loop."""

import os
from dataclasses import dataclass

from client import DRIVERS, Client

PYTHON = ["/usr/bin/python3", "-B"]


@dataclass
class Paced(Client):
    """Words also: {gap}, seconds between two units, such that an outage has an end within them."""

    at_a_time: int = 1  # units that pause together

    def fill(self, stage, **more):
        outage = stage.condition.outage
        gap = 2 * outage / len(stage.units) * self.at_a_time if outage else 0.004
        return super().fill(stage, gap=gap, **more)


def worker(name, file, *arguments, **more):
    path = os.path.join(DRIVERS, file)
    command = [*PYTHON, path, "{host}", "{port}", "{count}", "{gap}", *arguments]
    return Paced(name, command, refuse=True, fresh=True, **more)


CLIENTS = [
    worker("thread pool, same thread", "pool.py", "same"),
    worker("thread pool, any thread", "pool.py", "requeue"),
    worker("thread pool, one try", "pool.py", "none", retries=False),
    worker("crawler, again at the end", "crawler.py", "1"),
    worker("crawler, one try", "crawler.py", "0", retries=False),
    worker("asyncio gather, one try", "gather.py", "10", retries=False, at_a_time=10),
]
