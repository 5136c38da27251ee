/* SPDX-License-Identifier: MIT */
/*
 * A socket, or a file, of ours that lives for microseconds. The program must never find it, and we
 * must never touch one of its (HAZARDS 32, 33): another thread may close every descriptor and open
 * its own at any moment. Use it in a shelter, so that no handler carries the thread away while it
 * is open.
 */
#ifndef RETRYBUDGET_SYS_TRANSIENT_H
#define RETRYBUDGET_SYS_TRANSIENT_H

#include <stdbool.h>
#include <stdint.h>

/* The number, and what tells the descriptor from any other that may get the same number. */
struct transient {
	int fd;
	bool is_file;
	uint64_t identity;
};

/* Opens a datagram socket, non-blocking and close-on-exec, with a number that is not the program's
 * even while it is closed (0-2). False: none can be had. Async-signal-safe; errno is changed. */
bool transient_open(struct transient *at, int domain);

/* The same of a file, for reading: by pread() alone, which moves nobody's place in a file should
 * the number have become the program's. */
bool transient_open_file(struct transient *at, const char *path);

/* The same for a socket that was just made for us, and that the program knows nothing of. */
void transient_take(struct transient *at, int fd);

/* False if the program has closed our descriptor meanwhile; the number may be its own now. */
bool transient_is_ours(const struct transient *at);

/* Closes it if it still is ours. */
void transient_close(const struct transient *at);

#endif
