/* SPDX-License-Identifier: MIT */
/* Who is asked by datagrams, and whether he answers. */
#include "conn/asked_by.h"

#include "dest/demand.h"
#include "dest/tries.h"
#include "sys/arithmetic.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

/* Who has answered nothing for so long is asked for nothing that anybody waits for. */
#define ANSWERS_WITHIN (10 * NS_PER_S)

#define OF_SERVICE (WATCH_OTHER | WATCH_SERVER)
#define UNKNOWN    (OF_SERVICE | WATCH_READ | WATCH_WRITE)
#define ASKED      (OF_SERVICE | WATCH_WRITE)
#define ANSWERS    (UNKNOWN | WATCH_EMPTY)

/* Nobody can say which of several requests the thread is at. */
static bool are_several(int fd, int count, int flags)
{
	int before = demand_last_served();

	return count > 1 || flags & MSG_DONTWAIT || LOAD(socket_at(fd)->traits) & TRAIT_NOWAIT ||
	       (before >= 0 && before != fd && socket_watched(before) & WATCH_SERVER);
}

static void look_whether_it_waits(int fd)
{
	int saved = errno, flags = real.fcntl(fd, F_GETFL, 0);

	STORE(socket_at(fd)->traits, flags >= 0 && flags & O_NONBLOCK ? TRAIT_NOWAIT : 0);
	errno = saved;
}

/* Not if it is another socket's since it was looked at: the call may have waited for long. */
static void become(int fd, unsigned int watched, unsigned int bits)
{
	uint8_t seen = (uint8_t)watched;

	(void)atomic_compare_exchange_strong(&socket_watch[fd], &seen, (uint8_t)bits);
}

void asked_by_datagrams(int fd, int count, bool told, int flags)
{
	unsigned int watched = socket_watched(fd);
	bool answers = watched & WATCH_EMPTY;
	struct socket_entry *record;
	int64_t now, since;

	if (count < 1 || flags & (MSG_PEEK | MSG_ERRQUEUE) || !socket_may_be_asked(watched))
		return;
	if (!told) {
		become(fd, watched, WATCH_OTHER);
		return;
	}
	record = socket_at(fd);
	if (!answers)
		look_whether_it_waits(fd);
	now = demand_datagram_read(fd, are_several(fd, count, flags));
	tries_heard(TRIES_NOWHERE);
	since = answers ? LOAD(record->since) : 0;
	if (since == 0)
		STORE(record->since, now);
	if (!answers || (since != 0 && now - since > ANSWERS_WITHIN))
		become(fd, watched, ASKED);
}

void asked_has_sent(int fd)
{
	unsigned int watched = socket_watched(fd);

	if (!socket_may_be_asked(watched))
		return;
	if ((watched & (UNKNOWN | WATCH_EMPTY)) == UNKNOWN) {
		become(fd, watched, WATCH_OTHER);
		return;
	}
	demand_answered(fd);
	STORE(socket_at(fd)->since, 0);
	if (watched != ANSWERS)
		become(fd, watched, ANSWERS);
}
