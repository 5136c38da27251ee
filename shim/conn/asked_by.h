/* SPDX-License-Identifier: MIT */
/*
 * Services that are asked by datagrams: DNS, RADIUS, SIP. A UDP socket which sends or connects
 * before anything has come is a client's, and what comes there is a reply; one which something
 * comes to first is a service's, and that is demand: its first datagram, and from its first answer
 * on each, for as long as it goes on answering. What never answers (syslog, statsd) has no excuse
 * for each line.
 *
 * In bits of socket_watch[], beside OTHER and SERVER:
 *   READ | WRITE          nothing has come or gone yet
 *   WRITE                 asked, and has not answered (of late)
 *   EMPTY | READ          has answered all
 *   EMPTY | READ | WRITE  has answered before, and is asked again
 * All functions: thread-safe, async-signal-safe, no system call.
 */
#ifndef RETRYBUDGET_CONN_ASKED_BY_H
#define RETRYBUDGET_CONN_ASKED_BY_H

#include "conn/sockets.h"

/* A datagram came on a number with OTHER and SERVER. flags: as for recv. */
void asked_by_datagram(int fd, int flags);

/* One went. */
void asked_sent_datagram(int fd);

/* The program connects what is no stream: whoever has one peer asks him. */
static inline void asked_connects(int fd)
{
	if (!(~socket_watched(fd) & (WATCH_OTHER | WATCH_SERVER)))
		STORE(socket_watch[fd], WATCH_OTHER);
}

#endif
