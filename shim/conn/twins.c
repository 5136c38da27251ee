/* SPDX-License-Identifier: MIT */
/* Entries by what they have in common, looked for number by number. */
#include "conn/twins.h"

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

bool socket_has_sibling(int fd, const struct socket_entry *entry)
{
	uint32_t slot = LOAD(entry->slot);
	int limit = (int)socket_limit();

	for (int other = 0; other < limit; other++) {
		const struct socket_entry *sibling;
		enum socket_state state;

		if (other == fd || (socket_watched(other) & (WATCH_END | WATCH_STALE)) != WATCH_END)
			continue;
		sibling = socket_at(other);
		state = LOAD(sibling->state);
		if (LOAD(sibling->slot) == slot &&
		    (state == SOCKET_CONNECTING || (state >= SOCKET_OPEN && state < SOCKET_DONE)))
			return true;
	}
	return false;
}
