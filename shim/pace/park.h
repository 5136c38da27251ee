/* SPDX-License-Identifier: MIT */
/*
 * Throttling a non-blocking connect the way a kernel would: asynchronously. No kernel tells at once
 * that a peer refuses a TCP connect, and programs break on it (HAZARDS 82).
 */
#ifndef RETRYBUDGET_PACE_PARK_H
#define RETRYBUDGET_PACE_PARK_H

#include "conn/attempt.h"

#include <sys/socket.h>

/* Starts a connect on fd, in place of one to target, that sends nothing off the machine: it ends in
 * ETIMEDOUT after delay ns (one second at least), or, where that is not possible or delay is 0, in
 * ECONNREFUSED at once. Returns how it will end, errno being EINPROGRESS and entry knowing what to
 * undo. 0: not possible here, nothing has changed, and errno is what the kernel said to a connect
 * on fd (0: it was not asked). */
int park(int fd, const struct sockaddr *target, socklen_t target_len, int64_t delay,
         struct socket_entry *entry);

/* Enters what park() has begun in place of this attempt's connect: the program is told EINPROGRESS.
 */
void park_enter(struct attempt *try, struct socket_entry *entry);

#endif
