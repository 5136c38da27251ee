/* SPDX-License-Identifier: MIT */
/* The one path of a connection that failed. Async-signal-safe; errno may change. */
#ifndef RETRYBUDGET_CONN_CONNECTION_END_H
#define RETRYBUDGET_CONN_CONNECTION_END_H

#include "conn/outcome.h"

/*
 * The event ends the attempt of a connection in `from`: moves it, and where the state table says
 * that this is a failure counts one of this class (FAILURE_NONE: it has been counted, or is none).
 * err: what the program was told by the kernel, 0 if nothing. A permit of a half-open breaker is
 * given back only after that, or somebody would get by before the breaker knows that it is to open.
 * False: another caller was first, or nothing follows.
 */
bool connection_failed(int fd, struct socket_entry *entry, enum socket_state from,
                       enum socket_event event, enum failure failure, int err);

#endif
