/* SPDX-License-Identifier: MIT */
/*
 * The fingerprints of requests that are being written (dest/fingerprint.h): what lies in the
 * program's memory, read with care, and what has come so far of a request that is written in
 * pieces. A small fixed table; where it has no room, or a piece goes by a call that shows no bytes
 * (sendfile), the request has no fingerprint. Async-signal-safe, errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_PIECES_H
#define RETRYBUDGET_CONN_PIECES_H

#include "conn/sockets.h"

#include <sys/types.h>
#include <sys/uio.h>

/* The fingerprint of a request of which this is about to be sent, the first of it or (TRAIT_PARTIAL
 * and SOCKET_ASKED) more; 0: there is none, or with TRAIT_PARTIAL none yet. The array of parts has
 * to be there; of parts that are not, nothing is read. */
uint32_t pieces_look(struct socket_entry *entry, const struct iovec *parts, size_t count);

/* The send of a piece of a request with TRAIT_PARTIAL returned `result`. Where that is less than
 * was looked at, the program sends the rest once more, from a byte that nobody here knows: the
 * request then gets no fingerprint. */
void pieces_sent(int fd, struct socket_entry *entry, ssize_t result);

#endif
