/* SPDX-License-Identifier: MIT */
/* Options of ours come off a socket before anybody but us could meet them. */
#include "conn/release.h"

#include "conn/connect_timeout.h"
#include "conn/park_options.h"

void release_options(int fd)
{
	struct socket_entry *entry = socket_find(fd);

	if (!entry || !(LOAD(entry->traits) & RELEASE_TRAITS) || !socket_believe(fd, entry))
		return;
	park_options_undo(fd, entry);
	connect_timeout_undo(fd, entry);
}

void release_options_lift(int fd, struct socket_entry *entry)
{
	if (!socket_believe(fd, entry))
		return;
	park_options_lift(fd, entry);
	connect_timeout_lift(fd, entry);
}
