/* SPDX-License-Identifier: MIT */
/* A server is given a connection: new work, or one of those that admission rejects. */
#include "admission/entry.h"
#include "admission/queue.h"
#include "admission/reject.h"
#include "conn/sockets.h"
#include "dest/demand.h"
#include "hook/hook.h"
#include "sys/memory.h"

#define WITHOUT_FLAGS (-1) /* the program called accept, not accept4 */

static int accepted(int fd)
{
	if (fd >= 0 && shim_ready()) {
		demand_accepted();
		socket_created(fd, WATCH_SERVER);
	}
	return fd;
}

static inline int next_accept(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	return flags == WITHOUT_FLAGS ? real.accept(fd, address, len)
	                              : real.accept4(fd, address, len, flags);
}

/* The kernel has the length overwritten by that of an address which the program never gets to see.
 */
static __attribute__((noinline)) int guarded(int fd, struct sockaddr *address, socklen_t *len,
                                             int flags)
{
	bool has_length = address && memory_is_there(len, sizeof(*len));
	socklen_t room = has_length ? *len : 0;
	struct entry entry = { .rule = NULL };
	struct queue queue;
	struct shelter shelter;
	bool interrupted;
	int peer;

	queue_enter(&queue, fd);
	do {
		entry_refresh();
		peer = next_accept(fd, address, len, flags);
		if (peer < 0)
			return peer;
		/* From here on the program's handler would leave it open, and nobody would answer.
		 */
		shelter_enter(&shelter);
		entry_judge(&entry, fd);
		if (!entry.rule) {
			accepted(peer);
			shelter_leave(&shelter);
			return peer;
		}
		reject(peer, entry.rule, queue_rejecting(&queue) ? fd : -1);
		entry_tell(&entry, fd);
		interrupted = reject_interrupted(&shelter);
		shelter_leave(&shelter);
		if (has_length)
			*len = room;
	} while (queue_again(&queue, interrupted));
	return -1;
}

int accept(int fd, struct sockaddr *address, socklen_t *len)
{
	if (entry_guarded())
		return guarded(fd, address, len, WITHOUT_FLAGS);
	return accepted(real.accept(fd, address, len));
}

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	if (entry_guarded() && flags != WITHOUT_FLAGS)
		return guarded(fd, address, len, flags);
	return accepted(real.accept4(fd, address, len, flags));
}
