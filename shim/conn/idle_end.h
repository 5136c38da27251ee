/* SPDX-License-Identifier: MIT */
/* Ends of connections that are nobody's failure. */
#ifndef RETRYBUDGET_CONN_IDLE_END_H
#define RETRYBUDGET_CONN_IDLE_END_H

#include "conn/outcome.h"
#include "conn/sockets.h"

/* True if the end that a call has told says nothing of the peer. failure, err: as that end would be
 * counted (err: 0 in order). A goodbye of the program's is noted (TRAIT_FINISHED). errno is left
 * alone. Async-signal-safe. */
bool idle_end(int fd, struct socket_entry *entry, enum socket_state state, enum failure failure,
              int err);

#endif
