/* SPDX-License-Identifier: MIT */
/* Whether calls on a socket block, and the bounds that its owner set on that. */
#ifndef RETRYBUDGET_SYS_SOCKET_TIMEOUT_H
#define RETRYBUDGET_SYS_SOCKET_TIMEOUT_H

#include <stdbool.h>
#include <stdint.h>

/* The bound (name: SO_SNDTIMEO, SO_RCVTIMEO), in ns; INT64_MAX if there is none. One that is longer
 * than can be said, as programs make that mean never by it, is one less: the kernel treats it as a
 * bound still. One system call; errno may change. Async-signal-safe. */
int64_t socket_timeout(int fd, int name);

/* True if calls on this number wait; false where nothing may be asked. One system call; errno may
 * change. Async-signal-safe. */
bool socket_waits(int fd);

#endif
