/* SPDX-License-Identifier: MIT */
/* What else there is beside an entry: other numbers of the same socket, and other connections to
 * the same destination. */
#ifndef RETRYBUDGET_CONN_TWINS_H
#define RETRYBUDGET_CONN_TWINS_H

#include "conn/sockets.h"

/* Moves the other numbers of a shared socket after it. */
void socket_move_twins(int fd, const struct socket_entry *entry, enum socket_state to);

/* True if the connection lives on under another number. */
bool socket_shared(int fd, struct socket_entry *entry);

/* True if this process has another connection to the same destination that has met its peer: a
 * connect that is given up may have lost a race against it. One that waits as well has won none: at
 * a black hole all of a crowd wait. errno may change. */
bool socket_has_rival(int fd, const struct socket_entry *entry);

/* A connect worked: as socket_move() with ON_CONNECTED, but both states watch the same, and in both
 * the attempt is in flight. */
static inline void socket_connected(int fd, struct socket_entry *entry)
{
	uint8_t expected = SOCKET_CONNECTING, next = moves[SOCKET_CONNECTING][ON_CONNECTED].next;

	if (atomic_compare_exchange_strong(&entry->state, &expected, next) &&
	    LOAD(entry->traits) & TRAIT_SHARED)
		socket_move_twins(fd, entry, next);
}

#endif
