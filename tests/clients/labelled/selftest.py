# SPDX-License-Identifier: MIT
"""Is the measure itself right? Records and a server's log made up by hand, whose truth is plain."""

import join
from server import Connection, Request

PORT = 7000


class Story:
    """Builds datagrams as the shim and the witness send them, one millisecond apart."""

    def __init__(self):
        self.records, self.connections, self.now = [], [], 0

    def tick(self):
        self.now += 1_000_000
        return self.now

    def guess(self, kind, thread=1, address="127.0.0.1"):
        self.records.append(f"<30>retrybudget[1]: event=attempt prog=x dest={address}:{PORT} "
                            f"addr={address}:{PORT} policy=default kind={kind} thread={thread}")

    def connect(self, port, thread=1, errno=0, cookie=None):
        self.records.append(f"event=connect pid=1 ppid=9 thread={thread} when={self.tick()} "
                            f"to={PORT} port={port} cookie={cookie or self.now} errno={errno} "
                            "refused=0")

    def word(self, event, unit, thread=1):
        self.records.append(f"event={event} pid=1 ppid=9 thread={thread} when={self.tick()} "
                            f"unit={unit}")

    def served(self, port, *requests):
        """requests: (unit, failed)"""
        c = Connection(None, port, self.tick(), None)
        c.requests = [Request(unit, self.tick(), failed) for unit, failed in requests]
        self.connections.append(c)

    def truth(self):
        joined = join.join(self.records, self.connections, PORT)
        return [a.truth for a in joined.attempts], joined


def one_unit_fails_and_is_tried_again(story):
    for port, failed in ((1, True), (2, True), (3, False)):
        story.guess("first")
        story.connect(port)
        story.served(port, ("a", failed))
    return [False, True, True]


def another_unit_is_a_first_try(story):
    for port, unit in ((1, "a"), (2, "b")):
        story.guess("retry")
        story.connect(port)
        story.served(port, (unit, True))
    return [False, False]


def a_kept_connection_breaks_under_a_later_unit(story):
    story.guess("first")
    story.connect(1)
    story.served(1, ("a", False), ("b", True))
    story.guess("retry")
    story.connect(2)
    story.served(2, ("b", False))
    return [False, True]


def what_follows_an_answer_is_new_work(story):
    for port, failed in ((1, True), (2, False), (3, True), (4, False)):
        story.guess("first")
        story.connect(port)
        story.served(port, ("subscriber", failed))
    return [False, True, False, True]


def two_tries_at_once(story):
    for port in (1, 2):
        story.guess("first")
        story.connect(port)
    for port in (1, 2):
        story.served(port, ("a", True))
    return [False, False]


def a_refusal_is_known_by_the_programs_word(story):
    for unit in ("a", "a", "b"):
        story.word("unit", unit)
        story.guess("retry")
        story.connect(5, errno=111)
    return [False, True, False]


def tries_are_told_before_several_connects(story):
    for unit in ("a", "b"):
        story.word("try", unit)
    for port, unit in ((3, "a"), (4, "b")):
        story.guess("first")
        story.connect(port, errno=115)
        story.served(port, (unit, True))
    story.word("try", "b")
    story.guess("retry")
    story.connect(6, errno=115)
    return [False, False, True]


def another_address_is_a_failover(story):
    story.word("unit", "a")
    for address in ("127.0.0.1", "127.0.0.2", "127.0.0.1"):
        story.guess("retry", address=address)
        story.connect(5, errno=111)
    return [False, False, True]


def a_local_port_is_used_twice(story):
    for unit in ("a", "b", "a"):
        story.guess("first")
        story.connect(1)
        story.served(1, (unit, True))
    return [False, False, True]


def threads_are_told_apart(story):
    story.word("unit", "a", 1)
    story.word("unit", "b", 2)
    story.guess("first", 1)
    story.guess("first", 2)
    story.connect(2, 2)
    story.connect(1, 1)
    story.served(2, ("b", True))
    story.served(1, ("a", True))
    story.guess("retry", 2)
    story.connect(3, 2)
    story.served(3, ("b", False))
    return [False, False, True]


def nobody_knows_the_unit(story):
    story.guess("first")
    story.connect(5, errno=111)
    return [None]


STORIES = (
    one_unit_fails_and_is_tried_again,
    another_unit_is_a_first_try,
    a_kept_connection_breaks_under_a_later_unit,
    what_follows_an_answer_is_new_work,
    two_tries_at_once,
    a_refusal_is_known_by_the_programs_word,
    tries_are_told_before_several_connects,
    another_address_is_a_failover,
    a_local_port_is_used_twice,
    threads_are_told_apart,
    nobody_knows_the_unit,
)


def unseen_and_counted():
    """A connect without a record is noticed; a question about one under way is not one."""
    story = Story()
    story.connect(1, cookie=7)
    story.guess("retry")
    story.connect(2, cookie=8)
    story.connect(2, cookie=8, errno=106)
    story.served(2, ("a", True))
    for kind in ("retry", "first"):
        story.guess(kind)
        story.connect(3)
        story.served(3, ("a", True))
    _, joined = story.truth()
    found = join.confusion(joined)
    wanted = join.Confusion(true_retry=1, false_retry=1, false_first=1, unseen=1)
    return found == wanted and (found.precision(), found.recall()) == (0.5, 0.5)


def failures():
    """Names of the stories that come out wrong."""
    wrong = []
    for tell in STORIES:
        story = Story()
        wanted = tell(story)
        found, joined = story.truth()
        if found != wanted or joined.disagreements:
            wrong.append(f"{tell.__name__.replace('_', ' ')}: {found}, not {wanted}")
    if not unseen_and_counted():
        wrong.append("unseen and counted")
    return wrong
