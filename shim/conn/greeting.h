/* SPDX-License-Identifier: MIT */
/*
 * Servers that speak first, or switch to another protocol: as a rule that is a sign of life, but
 * one that dies, or refuses in words that nobody here knows, greets as well, and a client that
 * tries again at once would be forgiven by each greeting. TRAIT_AGREES stands from the greeting
 * until the first answer. Async-signal-safe; errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_GREETING_H
#define RETRYBUDGET_CONN_GREETING_H

#include "conn/sockets.h"

#include <stdbool.h>
#include <sys/uio.h>

/* More came on a connection that had been answered, or greeted: n bytes, in these parts (count 0:
 * nobody can read them). */
void greeting_more(int fd, struct socket_entry *entry, const struct iovec *parts, size_t count,
                   size_t n);

/* The peer has ended the connection. True: it is young, nothing was answered since the greeting,
 * and that happens too often (dest/answer_time.h) to be all that there was to tell. Never of a unix
 * socket: a server on this machine may tell one thing by it, and close. */
bool greeting_was_in_vain(const struct socket_entry *entry);

#endif
