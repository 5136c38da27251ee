/* SPDX-License-Identifier: MIT */
/* The end of an attempt whose call has returned: told when the program asks, or asked of the kernel
 * when it gives the number up. */
#include "conn/attempt_end.h"

#include "conn/asked_by.h"
#include "conn/connection_end.h"
#include "conn/datagram_end.h"
#include "conn/flight.h"
#include "conn/tcp_info.h"
#include "conn/twins.h"
#include "conn/unseen.h"
#include "sys/cell.h"
#include "sys/process.h"
#include "sys/thread.h"

#include <errno.h>
#include <sys/socket.h>

bool attempt_observed(int fd, int err)
{
	struct socket_entry *entry = socket_find(fd);
	int saved = errno;
	enum socket_state state;
	bool moved;

	if (!entry)
		return false;
	if (LOAD(entry->calling))
		return false;
	state = LOAD(entry->state);
	if (err == 0) {
		if (state == SOCKET_CONNECTING)
			socket_move(fd, entry, state, ON_CONNECTED);
		return false;
	}
	if ((state != SOCKET_THROTTLED && state != SOCKET_CONNECTING && state != SOCKET_OPEN &&
	     (state != SOCKET_ASKED || tcp_info_met(fd))) ||
	    !socket_believe(fd, entry))
		return false;
	moved = connection_failed(fd, entry, state, ON_ERROR_TOLD, failure_of(err, false), err);
	errno = saved;
	return moved && state == SOCKET_THROTTLED;
}

bool attempt_is_calling(int fd)
{
	const struct socket_entry *entry = socket_find(fd);

	return entry && LOAD(entry->calling) && LOAD(entry->owner) == thread_id();
}

static inline bool is_ours(const struct socket_entry *entry)
{
	int32_t process = thread_process_noted();

	/* Without a cookie yet nothing else could tell the close of a vfork child from ours. */
	return LOAD(entry->process) == process &&
	       (LOAD(entry->cookie) != 0 || process == process_id());
}

bool attempt_is_ours(const struct socket_entry *entry)
{
	return is_ours(entry);
}

void attempt_hung_up(int fd, int how)
{
	struct socket_entry *entry = socket_find(fd);

	if (entry && LOAD(entry->state) == SOCKET_THROTTLED) /* the next connect begins anew */
		socket_move(fd, entry, SOCKET_THROTTLED, ON_HUNG_UP);
	if (!entry || LOAD(entry->state) < SOCKET_OPEN)
		return;
	/* That the peer then closes too without a word is how one-way conversations end. */
	if (how == SHUT_WR) {
		socket_mark(entry, TRAIT_FINISHED);
		return;
	}
	if (attempt_is_ours(entry))
		unseen_ask(fd, entry);
	/* A read of 0 from now on is the program's own doing. */
	socket_move(fd, entry, LOAD(entry->state), ON_HUNG_UP);
}

void attempt_end(int fd)
{
	unsigned int watched = socket_watched(fd);
	struct socket_entry *entry;

	/* Nothing but this tells the close of a vfork child from ours. */
	if ((watched & WATCH_DATAGRAM || asked_is_known(watched)) && thread_is_borrowed())
		return;
	if (watched & WATCH_DATAGRAM)
		datagram_end(fd);
	if (!(watched & WATCH_END)) {
		socket_forget(fd);
		return;
	}
	entry = socket_at(fd);
	if (!is_ours(entry)) {
		if (LOAD(entry->process) != thread_process_noted())
			socket_closed(fd, entry);
		return;
	}
	if (LOAD(entry->traits) & TRAIT_SHARED && socket_shared(fd, entry)) {
		atomic_fetch_and(&entry->traits, (uint32_t) ~(TRAIT_FLYING | TRAIT_PERMIT));
	} else {
		unseen_ask(fd, entry);
		if (LOAD(entry->traits) & (TRAIT_FLYING | TRAIT_PERMIT))
			flight_end(entry);
	}
	socket_closed(fd, entry);
}

void attempts_left_open(void)
{
	unsigned int limit = socket_limit();
	const struct destination *to;
	struct socket_entry *entry;

	for (unsigned int fd = 0; fd < limit; fd++) {
		entry = socket_find((int)fd);
		if (!entry || !is_ours(entry))
			continue;
		to = destination_at(LOAD(entry->slot), LOAD(entry->generation));
		if (to && LOAD(to->budget.streak) > 0)
			unseen_ask((int)fd, entry);
		flight_end(entry);
	}
}
