/* SPDX-License-Identifier: MIT */
/* Options of ours come off a socket before anybody but us could meet them. */
#include "conn/release.h"

#include "conn/connect_timeout.h"
#include "conn/park_options.h"

/* The entry of a socket that has our options; NULL: it has none. */
static struct socket_entry *parked(int fd)
{
	struct socket_entry *entry = socket_find(fd);

	return entry &&
	               atomic_load(&entry->traits) &
	                   (TRAIT_PARKED | TRAIT_PUTS_OFF | TRAIT_BOUNDED) &&
	               socket_believe(fd, entry)
	           ? entry
	           : NULL;
}

void release_options(int fd)
{
	struct socket_entry *entry = parked(fd);

	if (!entry)
		return;
	park_options_undo(fd, entry);
	connect_timeout_undo(fd, entry);
}

void release_options_over(int fd)
{
	struct socket_entry *entry = parked(fd);

	if (!entry)
		return;
	park_options_lift(fd, entry);
	connect_timeout_lift(fd, entry);
}
