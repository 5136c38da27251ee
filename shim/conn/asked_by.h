/* SPDX-License-Identifier: MIT */
/*
 * Services that are asked by datagrams: DNS, RADIUS, SIP. A UDP socket which sends or connects
 * before anything has come is a client's, and what comes there is a reply; one which something
 * comes to first, from an address that the program wants to know, is a service's, and that is
 * demand: its first datagram, and from its first answer on each, for as long as it goes on
 * answering. What never answers (syslog, statsd) has no excuse for each line.
 *
 * One socket has all its clients, so whoever must not wait on it is an event loop: whose request an
 * attempt of his is for cannot be told, as with many connections.
 *
 * In bits of socket_watch[], beside OTHER and SERVER:
 *   READ | WRITE          nothing has come or gone yet
 *   WRITE                 asked, and has not answered (of late)
 *   EMPTY | READ | WRITE  answers
 * Of the record of the number, which is no entry, TRAIT_NOWAIT is in use, and `since`: when the
 * first came that nothing has followed, 0 if something has. Who reads one socket with others is
 * asked one at a time all the same, as long as he answers before he reads again. A client
 * makes no system call more, nor does who only listens, but for one at the first datagram. All
 * functions: thread-safe, async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_ASKED_BY_H
#define RETRYBUDGET_CONN_ASKED_BY_H

#include "conn/sockets.h"

/* Datagrams came on a number with OTHER and SERVER. told: from whom, the program has been told.
 * flags: as for recv. One system call at the first. errno is left alone. */
void asked_by_datagrams(int fd, int count, bool told, int flags);

/* Something came there by a call which does not say from whom: nobody could answer that. */
static inline void asked_by_nobody(int fd)
{
	STORE(socket_watch[fd], WATCH_OTHER);
}

/* Something went. */
void asked_has_sent(int fd);

/* The program connects what is no stream: whoever has one peer asks him. */
static inline void asked_connects(int fd)
{
	if (socket_may_be_asked(socket_watched(fd)))
		asked_by_nobody(fd);
}

/* Whether it matters who closes what is served: a vfork child closes nothing of its parent's. Of
 * UDP that has never answered nothing is known which is worth the question. */
static inline bool asked_is_known(unsigned int watched)
{
	return watched & WATCH_SERVER && (!(watched & WATCH_OTHER) || watched & WATCH_EMPTY);
}

#endif
