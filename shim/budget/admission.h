/* SPDX-License-Identifier: MIT */
/*
 * Admission to a server: a token bucket that only time fills, and that each connection let in takes
 * one token of. Its state lies in the region, so that the children of a pre-forking server share
 * it.
 *
 * The bucket is asked when the server accepts, not when a client comes, and so says nothing of how
 * long that one has waited: a server at its limit takes one token for each that time gives, and a
 * queue once long would stay, with everybody in it served too late. So nobody comes in who has
 * `burst` others waiting behind. It is the oldest who is rejected, whose client has the least
 * time left (Lakshman, Neidhardt and Ott, The Drop From Front Strategy in TCP and in TCP over
 * ATM, INFOCOM 1996).
 *
 * Source of the rule: load shedding as in the SRE book, chapter 21 (Handling Overload): a server at
 * its limit goes on serving as much as it can if it rejects the rest early and cheaply.
 *
 * Pure, thread-safe and async-signal-safe.
 */
#ifndef RETRYBUDGET_BUDGET_ADMISSION_H
#define RETRYBUDGET_BUDGET_ADMISSION_H

#include "budget/bucket.h"

/* What a connection that is rejected is told. */
enum reply {
	REPLY_RESET, /* a reset */
	REPLY_CLOSE, /* the end of the stream, without a word */
	REPLY_HTTP,  /* HTTP/1.1 503 with Retry-After, then the end */
};

/* What an operator can ask for in an [admission] section; units as in policy.h. */
struct admission_rule {
	int32_t mode;        /* enum mode */
	int32_t reply;       /* enum reply */
	int64_t rate;        /* mt per second */
	int64_t burst;       /* mt */
	int64_t retry_after; /* ns */
};

/* One section in use. Zeroes are a free one. */
struct admission {
	cell64 key; /* hash of the section's label */
	struct bucket bucket;
	cell64 admitted;
	cell64 rejected;    /* in observe mode: would have been */
	cell64 recorded_at; /* ns, of the last record */
	cell64 suppressed;  /* rejected since then */
};

/* The one of n that is kept for a key, made from a free one if there is none; NULL: none is free.
 * key: not 0. */
struct admission *admission_find(struct admission *of, int n, int64_t key);

/* Takes a token, and counts. False: reject the connection. behind: how many more wait to be
 * accepted, 0 where that is not known. now: ns. */
bool admission_take(struct admission *admission, const struct admission_rule *rule, int64_t behind,
                    int64_t now);

/* What the bucket holds, in mt, as it was last left. */
int64_t admission_tokens(const struct admission *admission, const struct admission_rule *rule);

/* Whole seconds to tell a client, never less than asked for. */
int64_t admission_seconds(const struct admission_rule *rule);

#endif
