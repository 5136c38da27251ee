/* SPDX-License-Identifier: MIT */
/*
 * The guess that an attempt was a retry, held against its request once that goes out. A wrong guess
 * is put right (tokens given back, the failure left for whoever answers it) and remembered
 * (dest/profile.h). Async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_FEEDBACK_H
#define RETRYBUDGET_CONN_FEEDBACK_H

#include "conn/sockets.h"
#include "dest/failures.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* The fingerprint of a request of which the program is about to send this on a connection, all or
 * the last of it; 0 unless its destination has failed lately, or has never answered: while all is
 * well nothing is looked at. data: n bytes, looked at only if they are there. Before the call, for
 * afterwards another thread may have had the reply, and freed them. */
uint32_t feedback_look(struct socket_entry *entry, const void *data, size_t n);

/* The same of what is written in parts. */
uint32_t feedback_look_parts(struct socket_entry *entry, const struct iovec *parts, size_t count);

uint32_t feedback_look_message(struct socket_entry *entry, const struct msghdr *message);

/* The failure that a connection's attempt was taken to answer. */
struct unanswered feedback_claimed(const struct socket_entry *entry);

/* The first request of a connection goes out. fingerprint: as looked at before. True: it is one
 * that has failed. */
bool feedback_first(struct socket_entry *entry, uint32_t fingerprint);

/* A reply says when its request may come again. Of the first of all, which else is left unknown
 * (from it alone would be learned how the program tries), it is then known which that is. */
void feedback_put_off(struct socket_entry *entry);

/* True if what the connection was used for first is known to want an answer. */
bool feedback_wants_answer(const struct socket_entry *entry);

/* Another request on a kept connection did: it is nobody's retry. */
void feedback_next(struct socket_entry *entry, uint32_t fingerprint);

/* The last of a request on a kept connection did, whose first was sent before anything could be
 * said of it: it may be somebody's retry. */
void feedback_late(struct socket_entry *entry, uint32_t fingerprint);

#endif
