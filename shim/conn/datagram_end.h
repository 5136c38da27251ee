/* SPDX-License-Identifier: MIT */
/*
 * What the beginning of a request by datagram (datagram.c) and its end (datagram_end.c) share.
 * Thread-safe, async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_DATAGRAM_END_H
#define RETRYBUDGET_CONN_DATAGRAM_END_H

#include "conn/datagram.h"

/* The socket of a number, whichever number it has; never 0. One system call. */
uint64_t datagram_cookie(int fd);

/* Whom an address stands for, 0 = unknown. Without the scope, which the program may leave out where
 * the kernel tells it. Nobody has the address 0, and whoever gets what is sent there answers from
 * his own. */
uint64_t datagram_peer(const struct address *address);

/* Counts a datagram that was not answered. err: what the program was told of it, or 0. */
void datagram_failed(const struct sent_datagram *one, enum failure failure, int err);

/* What has been begun with MSG_MORE on a number goes with its socket. */
void datagram_forget_pieces(int fd);

#endif
