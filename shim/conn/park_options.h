/* SPDX-License-Identifier: MIT */
/*
 * Options of ours that park the connect which is under way on a socket, or bound one that is
 * redirected (pace/park.h). They are noted in its entry (TRAIT_PARKED, TRAIT_PUTS_OFF): whoever
 * sees next that the connect is over takes them off. Async-signal-safe; errno is left alone unless
 * it says otherwise.
 */
#ifndef RETRYBUDGET_CONN_PARK_OPTIONS_H
#define RETRYBUDGET_CONN_PARK_OPTIONS_H

#include "conn/sockets.h"
#include "sys/arithmetic.h"

/* The shortest that a connect can be parked for, in ns. */
#define PARK_LEAST NS_PER_S

/* True if a connect on fd can be parked, and need not be redirected instead. */
bool park_options_can(int fd);

/* Bounds the connect that a TCP socket (v6: of IPv6) is about to make to delay ns, a second at
 * least, and keeps its answers out unless delay is 0. False: answers come. errno may change. */
bool park_options_set(int fd, struct socket_entry *entry, bool v6, int64_t delay);

/* park_options_deafen() keeps from a TCP socket (v6: of IPv6) every answer that comes from this
 * machine; false: they come. park_options_hear() takes that off, if it is still as it was set.
 * errno may change. */
bool park_options_deafen(int fd, bool v6);
void park_options_hear(int fd);

/* Takes TCP_FASTOPEN_CONNECT off a socket that is about to be parked or redirected. With it a
 * connect to an address that has given us a cookie, as loopback may have, returns 0 and sends
 * nothing. The kernel lets it be set on sockets without a connection only, so park_options_undo()
 * puts it back. errno may change. */
void park_options_no_cookie(int fd, struct socket_entry *entry);

/* Gives a socket that was parked or redirected its options back, so that it can be connected for
 * real. What the program has set meanwhile stays. */
void park_options_undo(int fd, struct socket_entry *entry);

/* The same, unless the connect is still under way. errno may change. */
void park_options_lift(int fd, struct socket_entry *entry);

#endif
