/* SPDX-License-Identifier: MIT */
/*
 * Options of ours that bound the connect which is under way on a socket. They are noted in its
 * entry (TRAIT_BOUNDED), since siglongjmp, cancellation or a handler may end the call while the
 * connect goes on: then whoever sees next that it is over takes them off. Async-signal-safe; errno
 * is left alone.
 */
#ifndef RETRYBUDGET_CONN_CONNECT_TIMEOUT_H
#define RETRYBUDGET_CONN_CONNECT_TIMEOUT_H

#include "conn/sockets.h"

/* Bounds a connect that fd is about to make to ns; on TCP to a second at least, which is when the
 * kernel first looks. False: the program has set a bound of its own, which holds, or the socket
 * knows none (MPTCP, SCTP). */
bool connect_timeout_set(int fd, struct socket_entry *entry, bool is_unix, int64_t ns);

/* Takes off what is still as we set it. */
void connect_timeout_undo(int fd, struct socket_entry *entry);

/* The same, unless the connect is still under way. */
void connect_timeout_lift(int fd, struct socket_entry *entry);

#endif
