/* SPDX-License-Identifier: MIT */
/*
 * What retries add to a load: plain formulas without state. Shares are 0..1, rates per second,
 * times in seconds. Pure, and without libm.
 */
#ifndef RETRYBUDGET_TOOL_CALC_FORMULAS_H
#define RETRYBUDGET_TOOL_CALC_FORMULAS_H

#define NO_BUDGET (-1.0) /* as a share: retries are not bounded */

struct calc_budget {
	double share; /* retries allowed for each request, or NO_BUDGET */
	double floor; /* and these per second, whatever happens */
};

/* Attempts per request if each try fails by itself: 1 + f + f^2 + ... + f^retries. */
double calc_tries_independent(double fail, int retries);

/* Attempts per request if what fails once fails each time (a dead shard, a bad request):
 * 1 + f x retries. Never less than the above. */
double calc_tries_stuck(double fail, int retries);

/* Attempts per request that a budget lets through at most: 1 + share + floor / rate. */
double calc_bound(const struct calc_budget *budget, double rate);

/* Attempts per request: what failures ask for, or the budget's bound if that is less. */
double calc_attempts(double fail, int retries, const struct calc_budget *budget, double rate);

/*
 * Attempts per client request at each of `hops` servers in a row, of which each is called by the
 * one before it with `tries` tries, and the last fails the share `fail` of what reaches it. at[0]
 * is the first server's; the last one's is tries^hops if all fail. budget: the share at each hop,
 * or NO_BUDGET. Returns the share of client requests that fail in spite of all tries.
 */
#define CALC_HOPS_MAX 20
double calc_chain(int hops, int tries, double fail, double budget, double at[]);

/* Tokens that an outage takes: rate x seconds x (fail x retries, or the budget's share if less). */
double calc_tokens(double rate, double seconds, double fail, int retries, double budget);

enum calc_verdict {
	CALC_SUSTAINABLE, /* and if everything failed, too */
	CALC_FRAGILE,     /* while no more fails than this */
	CALC_OVERLOAD,
};

/* load: now; worst: if every request failed; capacity: of the server. */
enum calc_verdict calc_judge(double load, double worst, double capacity);

/* A word, and the sentence that explains it. */
const char *calc_verdict_word(enum calc_verdict verdict);
const char *calc_verdict_sentence(enum calc_verdict verdict);

#endif
