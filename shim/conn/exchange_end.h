/* SPDX-License-Identifier: MIT */
/*
 * How an exchange on a connection ends, as traffic.c sees it. Each outcome counts once, whoever
 * sees it. entry: of fd, and believed as far as traffic.c does; state: as it was read. errno may
 * change. Async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_EXCHANGE_END_H
#define RETRYBUDGET_CONN_EXCHANGE_END_H

#include "conn/outcome.h"

#include <sys/uio.h>

static inline void trait_add(struct socket_entry *entry, unsigned int trait)
{
	if (!(LOAD(entry->traits) & trait))
		socket_mark(entry, trait);
}

/* True if a success would change the budget: streak, or a bucket that is not full. Fills in trial
 * and account, which are not valid if there is no destination any more. */
bool exchange_end_wanted(const struct socket_entry *entry, struct trial *trial,
                         struct account *account);

/* n bytes came, into these parts; count 0: into none that can be looked at. */
void exchange_end_reply(int fd, struct socket_entry *entry, enum socket_state state,
                        const struct iovec *parts, size_t count, size_t n);

/* More came of the head of a reply that says that its request failed (SOCKET_HEAD). */
void exchange_end_head(int fd, struct socket_entry *entry, const struct iovec *parts, size_t count,
                       size_t n);

/* The connection ended without an answer. err: what the program was told, 0 = the end of the
 * stream.
 */
void exchange_end_close(int fd, struct socket_entry *entry, enum socket_state state,
                        enum failure failure, int err);

/* A read or a write failed with err. flags: as for recv. */
void exchange_end_error(int fd, struct socket_entry *entry, enum socket_state state, int err,
                        int flags);

#endif
