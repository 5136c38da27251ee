/* SPDX-License-Identifier: MIT */
/* Telling a data connection by the other connections to its machine. */
#include "conn/data_connection.h"

#include "conn/tcp_info.h"
#include "dest/destinations.h"
#include "sys/cell.h"

#include <errno.h>

static bool is_at(const struct destination *destination, const struct destination *other)
{
	return LOAD(destination->address[0]) == LOAD(other->address[0]) &&
	       LOAD(destination->address[1]) == LOAD(other->address[1]);
}

/* True if the machine that fd is connected to has answered on a connection to another port of it,
 * which is open still. */
static bool is_talked_to(int fd, const struct socket_entry *entry)
{
	const struct destination *here = destination_at(LOAD(entry->slot), LOAD(entry->generation));
	int limit = (int)socket_limit();

	for (int other = 0; here && other < limit; other++) {
		const struct destination *there;
		const struct socket_entry *at;

		if (other == fd || (socket_watched(other) & (WATCH_END | WATCH_STALE)) != WATCH_END)
			continue;
		at = socket_at(other);
		if (!(LOAD(at->traits) & TRAIT_SERVED) || LOAD(at->state) >= SOCKET_DONE ||
		    LOAD(at->slot) == LOAD(entry->slot))
			continue;
		there = destination_at(LOAD(at->slot), LOAD(at->generation));
		if (there && is_at(here, there))
			return true;
	}
	return false;
}

bool data_connection_is_over(int fd, const struct socket_entry *entry)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return known && !info.tcpi_bytes_sent && !(LOAD(entry->traits) & TRAIT_SERVED) &&
	       info.tcpi_state == TCP_CLOSE_WAIT_ && is_talked_to(fd, entry);
}
