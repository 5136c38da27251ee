/* SPDX-License-Identifier: MIT */
/* How an attempt ends: by its call, by what the program asks later, or when the number is given up.
 */
#ifndef RETRYBUDGET_CONN_SETTLE_H
#define RETRYBUDGET_CONN_SETTLE_H

#include "conn/attempt.h"

/* The slow half of the next. */
int attempt_settle_slowly(struct attempt *try, int result);

/* Notes how the real call ended and returns its result, errno as the call left it. */
static inline int attempt_settle(struct attempt *try, int result)
{
	if (result != 0 || !try->quick || !try->entry)
		return attempt_settle_slowly(try, result);
	/* Nothing on the quick way has changed errno. */
	STORE(try->entry->calling, false);
	socket_connected(try->fd, try->entry);
	return 0;
}

/* The same of a send that connects. fingerprint: of what it sends, as looked at before the call. */
ssize_t attempt_settle_send(struct attempt *try, ssize_t result, uint32_t fingerprint);
/* The same of a lookup; result: 0 or an EAI_ code. */
int attempt_settle_lookup(struct attempt *try, int result);

/* What the program gets for an attempt that was not let through: -1 with errno set; of a lookup an
 * EAI_ code. */
int attempt_refused(struct attempt *try);
int attempt_refused_lookup(struct attempt *try);

/* A refused attempt has answered nothing: the failure stands again, as of now (ns). held: it was
 * made to wait, so that the pause before the next try says nothing of the program. */
void attempt_unanswered(struct attempt *try, bool held, int64_t now);

/* The program asked SO_ERROR and was told err: the outcome of a non-blocking connect. True: of one
 * that we throttled. */
bool attempt_observed(int fd, int err);

/* True if the outcome is for this process to tell: neither for a vfork child, which runs in our
 * memory, nor for a forked one that ends what it inherited while its parent goes on with it. */
bool attempt_is_ours(const struct socket_entry *entry);

/* The program ends the conversation, or its own half of it, but keeps the number. */
void attempt_hung_up(int fd, int how);

/* True if this thread is inside the real connect of the number: a proxy, preloaded behind us, puts
 * the connection that it has made in the place of the program's socket. */
bool attempt_is_calling(int fd);

/* The program gives a number up, or puts another file on it. */
void attempt_end(int fd);

/* The process ends, and may have connections that it never closed: those that can tell whether a
 * destination which failed is back are asked. Nothing is taken down, for code may run after this.
 * No system call where nothing has failed. Async-signal-safe; errno is left alone. */
void attempts_left_open(void);

#endif
