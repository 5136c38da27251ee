/* SPDX-License-Identifier: MIT */
/*
 * Datagrams that were sent and not answered. A fixed table of this process, keyed by the socket's
 * cookie, which is the same on every number of a socket and never reused: what was closed unseen
 * (HAZARDS 24) mixes with nothing. Where it is full the oldest is forgotten, and no retry is made
 * of it.
 *
 * The rule: a datagram repeats an earlier one to the same destination that is still unanswered if
 * it has the same bytes (a retransmission), or if that one has waited for DATAGRAM_TIMEOUT and was
 * sent on the same socket or by the same thread (a new query, or a new socket for each try). Two
 * questions in a row, as for the IPv4 and the IPv6 address of a name, repeat nothing.
 *
 * All functions: lock-free, async-signal-safe, no system call. now: ns.
 */
#ifndef RETRYBUDGET_CONN_DATAGRAMS_H
#define RETRYBUDGET_CONN_DATAGRAMS_H

#include "budget/policy.h"

#include <stdbool.h>

#define DATAGRAMS 256

/* A program with a timer of a second sets it before it sends, or counts in whole milliseconds. */
#define DATAGRAM_TIMEOUT (900 * NS_PER_MS)

struct sent_datagram {
	uint64_t cookie;           /* of the socket */
	uint64_t mark;             /* hash of the bytes, not 0 */
	uint64_t peer;             /* hash of the address it went to, 0 = any may answer */
	int64_t at;                /* ns, when it was sent */
	uint32_t slot, generation; /* of the destination */
	int32_t owner, process;    /* that sent it */
	uint32_t place;            /* of the address among those of its name */
	uint32_t number;           /* tries of the request, as far as is known */
	bool retry;
	bool probe;                /* of a half-open breaker */
	bool flying, paid, permit; /* as the traits of a socket say (sockets.h) */
};

/* A datagram was sent. */
void datagrams_add(const struct sent_datagram *sent);

/* True if nothing is known of any datagram: the question that costs least. */
bool datagrams_none(void);

/* True if an unanswered datagram to the destination of `next` is on the books. */
bool datagrams_is_open(const struct sent_datagram *next);

/* Finds the unanswered datagram that `next` (cookie, mark, slot, generation, owner, process, at =
 * now) repeats, by the rule above, and takes it off the unanswered ones: it has failed. Those
 * older than horizon ns are forgotten instead. False: next repeats nothing. */
bool datagrams_repeated(const struct sent_datagram *next, int64_t horizon,
                        struct sent_datagram *failed);

/* True if an unanswered datagram of a socket has waited for `least` ns. */
bool datagrams_waits(uint64_t cookie, int32_t process, int64_t least, int64_t now);

/* Takes the oldest such datagram off the unanswered ones: it has failed. */
bool datagrams_overdue(uint64_t cookie, int32_t process, int64_t least, int64_t now,
                       struct sent_datagram *failed);

/* A datagram came from `peer` (0: from somebody) on a socket: that answers everything it asked
 * there, also what has failed in the meantime. Takes one of those off at each call. False: there is
 * none, or no more. */
bool datagrams_answered(uint64_t cookie, uint64_t peer, struct sent_datagram *one);

/* The socket is gone. */
void datagrams_drop(uint64_t cookie, int32_t process);

#endif
