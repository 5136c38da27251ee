/* SPDX-License-Identifier: MIT */
/* Entries by what they have in common, looked for number by number. */
#include "conn/twins.h"

#include "conn/tcp_info.h"
#include "sys/cell.h"

/* The next number from `from` on that refers to the same socket as fd; -1: none. */
static int next_twin(int fd, const struct socket_entry *entry, int from)
{
	uint64_t cookie = LOAD(entry->cookie);
	int limit = (int)socket_limit();

	if (!(LOAD(entry->traits) & TRAIT_SHARED) || cookie == 0 || cookie == COOKIE_NONE)
		return -1;
	for (int other = from; other < limit; other++)
		if (other != fd &&
		    (socket_watched(other) & (WATCH_END | WATCH_STALE)) == WATCH_END &&
		    LOAD(socket_at(other)->cookie) == cookie)
			return other;
	return -1;
}

void socket_move_twins(int fd, const struct socket_entry *entry, enum socket_state to)
{
	for (int twin = next_twin(fd, entry, 0); twin >= 0; twin = next_twin(fd, entry, twin + 1)) {
		STORE(socket_at(twin)->traits, LOAD(entry->traits));
		socket_put(twin, socket_at(twin), to);
	}
}

bool socket_shared(int fd, struct socket_entry *entry)
{
	return next_twin(fd, entry, 0) >= 0;
}

/* Connects under way that are asked whether they have met their peer: in a race there are few. */
#define RUNNERS 8

/* The program may know it by poll(), and nobody else. */
static bool has_met(int fd)
{
	struct tcp_info info;

	return tcp_info(fd, &info) && info.tcpi_state != TCP_SYN_SENT_;
}

bool socket_has_rival(int fd, const struct socket_entry *entry)
{
	uint32_t slot = LOAD(entry->slot);
	int limit = (int)socket_limit(), runners = 0;

	for (int other = 0; other < limit; other++) {
		const struct socket_entry *rival;
		enum socket_state state;

		if (other == fd || (socket_watched(other) & (WATCH_END | WATCH_STALE)) != WATCH_END)
			continue;
		rival = socket_at(other);
		state = LOAD(rival->state);
		if (LOAD(rival->slot) != slot)
			continue;
		if (state >= SOCKET_OPEN && state < SOCKET_DONE)
			return true;
		if (state == SOCKET_CONNECTING && runners++ < RUNNERS && has_met(other))
			return true;
	}
	return false;
}
