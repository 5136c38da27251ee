/* SPDX-License-Identifier: MIT */
/*
 * Holding back a non-blocking connect the way a kernel would: asynchronously. No kernel refuses a
 * non-blocking TCP connect at once, and programs break on it (EVIDENCE section 5).
 */
#ifndef RETRYBUDGET_PACE_PARK_H
#define RETRYBUDGET_PACE_PARK_H

#include "track/sockets.h"

/* Starts a connect on fd that sends nothing off the machine and ends in ETIMEDOUT after delay ns
 * (one second at least). False: not possible here, nothing has changed. On success entry->traits
 * says what to undo, and errno is EINPROGRESS. */
bool park(int fd, int64_t delay, struct socket_entry *entry);

/* Starts a connect on fd that ends in ECONNREFUSED at once. Likewise. */
bool park_redirect(int fd);

/* True unless a connect is under way on fd. */
bool park_is_over(int fd);

/* Takes our options off a socket that was parked, so that it can be connected for real. errno is
 * kept. */
void park_undo(int fd, struct socket_entry *entry);

#endif
