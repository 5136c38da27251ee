/* SPDX-License-Identifier: MIT */
/* How an attempt ends by the call that made it, and what the program gets of one that was not let
 * through. Async-signal-safe. */
#ifndef RETRYBUDGET_CONN_SETTLE_H
#define RETRYBUDGET_CONN_SETTLE_H

#include "conn/attempt.h"
#include "conn/twins.h"

/* The slow half of attempt_settle(). */
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

/* As attempt_settle(), of a send that connects. fingerprint: of what it sends, as looked at before
 * the call. */
ssize_t attempt_settle_send(struct attempt *try, ssize_t result, uint32_t fingerprint);
/* As attempt_settle(), of a lookup; result: 0 or an EAI_ code. */
int attempt_settle_lookup(struct attempt *try, int result);

/* What the program gets for an attempt that was not let through: -1 with errno set; of a lookup an
 * EAI_ code. */
int attempt_refused(struct attempt *try);
int attempt_refused_lookup(struct attempt *try);

/* A refused attempt has answered nothing: the failure stands again, as of now (ns). held: it was
 * made to wait, so that the pause before the next try says nothing of the program. */
void attempt_unanswered(struct attempt *try, bool held, int64_t now);

#endif
