/* SPDX-License-Identifier: MIT */
/* Who is asked by datagrams, and whether he answers. */
#include "conn/asked_by.h"

#include "dest/demand.h"
#include "dest/tries.h"
#include "sys/arithmetic.h"
#include "sys/thread.h"

#include <sys/socket.h>

/* Who has answered nothing for so long is asked for nothing that anybody waits for. */
#define ANSWERS_WITHIN (10 * NS_PER_S)

#define OF_SERVICE (WATCH_OTHER | WATCH_SERVER)
#define ANSWERS    (OF_SERVICE | WATCH_EMPTY | WATCH_READ)

void asked_by_datagram(int fd, int flags)
{
	unsigned int watched = socket_watched(fd);
	bool answers = watched & WATCH_EMPTY, waiting = answers && watched & WATCH_WRITE;
	cell64 *since = &socket_at(fd)->since; /* no entry: nobody else has a use for it */
	int before = demand_last_served();
	int64_t now;

	if (flags & (MSG_PEEK | MSG_ERRQUEUE))
		return;
	/* A thread may be started for each, as for a connection. */
	demand_of_any_thread();
	demand_request_read(
	    fd, waiting || (before >= 0 && before != fd && socket_watched(before) & WATCH_SERVER));
	tries_heard(TRIES_NOWHERE);
	now = thread_mine()->asked_at;
	if (!waiting)
		STORE(*since, now);
	else if (now - LOAD(*since) > ANSWERS_WITHIN)
		answers = false;
	STORE(socket_watch[fd], answers ? ANSWERS | WATCH_WRITE : OF_SERVICE | WATCH_WRITE);
}

void asked_sent_datagram(int fd)
{
	unsigned int watched = socket_watched(fd);
	bool is_fresh = !(watched & WATCH_EMPTY) && watched & WATCH_READ;

	STORE(socket_watch[fd], is_fresh ? WATCH_OTHER : ANSWERS);
}
