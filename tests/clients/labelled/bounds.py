# SPDX-License-Identifier: MIT
"""What the shim's guess is held to, and where it falls short of the goals, with the reason.

The goals are those of the project. A shortfall that is named here is printed as such and does not
fail the test, as long as it does not grow: each has a bound of its own."""

OVERALL = 0.95  # goal: precision and recall each, over all clients together
EACH = 0.85  # goal: and for each client
REFUSED = 0.01  # goal: of the requests of a client that never retries
CHANCE = 2  # standard deviations of a share of n, by which it may fall short of a goal that it meets
UNLABELLED = 0.05  # of the attempts; beyond, the measurement says too little


def least(n):
    """What a client is held to by n cases: the goal, but for what may be chance."""
    return EACH - CHANCE * (EACH * (1 - EACH) / max(n, 1)) ** 0.5


# Where only some requests fail, and where all do. In the second nothing tells new work from a
# storm: a destination from which nothing but failures comes gets a few entries of a list, and then
# whatever follows a failure is a retry (shim/dest/profile.h). There recall matters, for a storm must
# be known as one.
PARTLY, WHOLLY = "partly", "wholly"
HELD_TO = {PARTLY: (0.75, 0.85), WHOLLY: (0.50, 0.92)}  # precision, recall over all clients

# Loops of many processes that share a budget (programs/shares.py), partly failing and in an outage: each
# process has one try or two, and mostly its arguments say what they are for. Not all: of the others each has what can tell.
SHARED = 0.95
SHARED_BUT = {"share: cron, one command", "share: farm, forked anew"}

# Several pieces of work are under way at once, and each waits before it is tried again. A connect
# does not say which of them it is for: of two that come at about the same moment the wrong one may
# be called the retry. That there was one is right; so the number is held to, not which.
AT_ONCE = "work at once: the number of retries is right, which they are is not"
KEPT = "few connects: most requests go out on connections that are there"
ONCE_EACH = "two or three tries at each destination teach little"
SHORT = {
    "aria2 -j4, URLs": AT_ONCE,
    "java HttpClient, pool": AT_ONCE,
    "java URL, pool": AT_ONCE,
    "python asyncio": AT_ONCE,
    "node http": AT_ONCE,
    "node http, kept": AT_ONCE,
    "thread pool, any thread": AT_ONCE,
    "crawler, again at the end": ONCE_EACH,
    "curl, URLs, kept": KEPT,
    "libmemcached, kept": KEPT,
    "redis-cli": KEPT,
    "wget --tries, URLs": "a reset that comes before the host reads is told by TCP_INFO alone",
    "pgbench -C loop": "the start-up packet is the same for each piece of work",
}
# Of those loops. The first never retries, and so has no precision; the others are above their own bounds.
MISSING = {
    "share: cron, one command": "nothing tells the run that is due from one that tries again",
    "share: farm, forked": "which job a worker is handed",
    "share: farm, forked anew": "which job a worker is handed: one that one left which has gone, or the next",
}
NUMBER = (0.5, 2.5)  # retries called so, per retry made, of a client with a shortfall
ENOUGH = 20  # retries made, for that to mean something

# At 50 % a run of six failures, after which whatever follows is a retry, is no rarity; and half of
# the failures are refusals, of which nothing is learned.
REFUSED_AT_HALF = 0.06
