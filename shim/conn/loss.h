/* SPDX-License-Identifier: MIT */
/*
 * Losses: connections that had been kept, and that the peer ended while nothing was asked of it.
 * Nobody's failure, but when many are lost at once, their replacements may have to be spread
 * (budget/spread.h). Looked for only where the policy says reconnect_spread (TRAIT_KEPT).
 * Async-signal-safe; errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_LOSS_H
#define RETRYBUDGET_CONN_LOSS_H

#include "conn/sockets.h"

/* The peer has ended this connection, and the caller is the one who moved its entry to SOCKET_DONE.
 * Counts it if it was one that had been kept. */
void loss_seen(const struct socket_entry *entry);

#endif
