/* SPDX-License-Identifier: MIT */
/*
 * One attempt, from the program's call to its outcome: a connect, a send that connects (TCP Fast
 * Open), a lookup, or a request sent again on a kept connection. The hook begins it, has it paced,
 * makes the real call and settles it. Everything is on the caller's stack; siglongjmp and
 * cancellation may end it anywhere. Async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_ATTEMPT_H
#define RETRYBUDGET_CONN_ATTEMPT_H

#include "conn/outcome.h"
#include "dest/failures.h"
#include "dest/rules.h"

#include <netdb.h>

struct attempt {
	/* Of each attempt: what all that begin one set. */
	struct account account;
	const struct config *config;
	const char *label; /* of the policy */
	const struct sockaddr *address;
	socklen_t len;
	int fd;          /* -1: a lookup */
	int saved_errno; /* what errno was when the program called */
	bool is_unix;
	bool fresh;    /* nothing was known of its number */
	int64_t began; /* ns */
	struct trial trial;
	const struct rule *rule;    /* that said what it is */
	struct socket_entry *entry; /* once the real connect is about to be made; NULL: none */
	/* Of some: zero for the rest. */
	struct unanswered claimed; /* the failure that it was taken to answer; number 0: none */
	int64_t admitted;          /* ns, when it was let through; 0: nobody was asked */
	uint64_t cookie;           /* of its socket (conn/sockets.h), 0 = not known */
	int64_t bound;          /* ns that a lookup may be held at most; 0 = as the policy says */
	int kind;               /* of a lookup: a family, or LOOKUP_RECORD and a type */
	enum workload workload; /* what the program has to do there */
	/* Refused: the errno, or EAI_ code, that the program is told; 0: throttled by us, or the
	 * connection of a request was ended under it. */
	int told;
	uint8_t purse;         /* whose tokens have paid for it: attempt_purse() */
	bool paid : 1;         /* a retry, with tokens */
	bool permit : 1;       /* of a half-open breaker */
	bool repeats : 1;      /* the very datagram, or question, that is unanswered */
	bool unclear : 1;      /* a retry that goes free within the allowance */
	bool stuck : 1;        /* its thread failed there last, and has done nothing else */
	bool asked : 1;        /* within what its thread is asked for: that is its allowance */
	bool lineage : 1;      /* a repeat of what another process did: the first of its own */
	bool over_rate : 1;    /* refused by the policy's rate alone */
	bool demanded : 1;     /* somebody had asked the program for something (dest/demand.h) */
	bool may_be_other : 1; /* than the request that a server put off (judging_may_be_other()) */
	bool unjudged : 1; /* no attempt: it asks how the last connect went, or cannot be judged */
	bool is_datagram : 1;
	bool is_request : 1; /* on a kept connection, or a deferred one */
	bool deferred : 1;   /* its request is judged, and not its connect (pace/defer.h) */
	bool has_data : 1;   /* a send that connects */
	bool parked : 1;     /* refused, and the program is told later */
	bool passes : 1;     /* goes whatever is decided, because the file says so */
	bool timed : 1;      /* a connect_timeout is on its socket */
	bool no_wait : 1;    /* a lookup or a send that must not block, whatever the socket does */
	bool quick : 1;      /* nothing has failed there lately, and its policy is plain */
};

/* A lookup of DNS records of one type, not of a program's addresses. */
#define LOOKUP_RECORD 0x10000

/* False: not ours to judge, errno is untouched, and nothing has been noted but that AF_UNSPEC
 * dissolves what was connected. True: begun and judged; or, with try->unjudged, not an attempt at
 * all: the program asks how its last connect went, and only the call itself is to be made and
 * settled. Those of lookups (node or name: as the program wrote it; kind: a family, or
 * LOOKUP_RECORD and a type) are never the latter. */
bool attempt_begin_connect(struct attempt *try, int fd, const struct sockaddr *address,
                           socklen_t len);
bool attempt_begin_lookup(struct attempt *try, const char *node, const struct addrinfo *hints);
bool attempt_begin_query(struct attempt *try, const char *name, int kind);

/* A send with MSG_FASTOPEN, which connects to address. */
bool attempt_begin_send(struct attempt *try, int fd, int flags, const struct sockaddr *address,
                        socklen_t len);

/* Finds the policy that holds now; again after a wait, during which the file may have changed.
 * False: this destination is not judged. */
bool attempt_open_account(struct attempt *try);

/* Which tokens have paid for it, for when its request shows that it was no retry, and they are
 * refunded: the configuration that held (the last bits of its serial), for by then another may, and
 * whether it was a reserve. */
static inline uint8_t attempt_purse(const struct config *config, enum budget_source source)
{
	return (uint8_t)(config->serial << 1 | (source == SOURCE_RESERVE));
}

/* Tells its account when the failure that it claimed was, and whether it may be for something else.
 */
static inline void attempt_tell_claim(struct attempt *try)
{
	try->account.claimed_at = try->claimed.number > 0 ? try->claimed.at : 0;
	try->account.may_be_other = try->may_be_other;
}

/* True if the number still is the socket that try->cookie is of: another thread may have closed it
 * while this one waited, and the kernel have given it out again. One system call. */
bool attempt_is_there(const struct attempt *try);

/* Notes that the real connect is about to be made: siglongjmp may leave it, and the program then
 * close the socket, which is how old daemons bound their connects. */
void attempt_start(struct attempt *try);

#endif
