/* SPDX-License-Identifier: MIT */
/* Options of ours come off a socket before anybody but us could meet them. Async-signal-safe. */
#ifndef RETRYBUDGET_CONN_RELEASE_H
#define RETRYBUDGET_CONN_RELEASE_H

#include "conn/sockets.h"

/* Traits that say that options of ours are on the socket. */
#define RELEASE_TRAITS (TRAIT_PARKED | TRAIT_PUTS_OFF | TRAIT_BOUNDED)

/* Takes off the socket what parking put on it, if anything: the program makes a connect that is not
 * judged, to another address or none. errno is kept. */
void release_options(int fd);

/* The same, unless the throttled connect is still under way. */
void release_options_lift(int fd, struct socket_entry *entry);
static inline void release_options_over(int fd)
{
	struct socket_entry *entry = socket_find(fd);

	if (entry && LOAD(entry->traits) & RELEASE_TRAITS)
		release_options_lift(fd, entry);
}

#endif
