/* SPDX-License-Identifier: MIT */
/*
 * How long a retry waits, and for whose tokens: the questions to a budget that take nothing from
 * it. Times in ns, costs and levels in mt. Thread-safe and async-signal-safe.
 */
#ifndef RETRYBUDGET_BUDGET_BUDGET_WAIT_H
#define RETRYBUDGET_BUDGET_BUDGET_WAIT_H

#include "budget/budget.h"

/*
 * ns until the probe falls due, counted from the admission in *last. An admission in the future is
 * one that a rival made with a clock read later than ours, or a corrupted word; both count as made
 * now, and the cell is mended, so that a wild value delays the probe by one interval and no more.
 */
int64_t budget_probe_wait(const struct account *account, int64_t now, int64_t *last);

/* ns until both budgets can pay, whatever the probe says. */
int64_t budget_pay_wait(const struct account *account, int64_t cost, int64_t now);

/* What is left of the destination's own budget, and in *limit how much there can be: mt, for
 * records. */
int64_t budget_level(const struct account *account, int64_t now, int64_t *limit);

/* ns until strategy and process-wide bucket can pay cost or the probe falls due, whichever is
 * sooner; 0 = now. */
int64_t budget_token_wait(const struct account *account, int64_t cost, int64_t now);

/* ns until the moment that the server asked for (Retry-After): not even the probe goes before. Each
 * repeat waits for as long as the server said from the failure that it answers
 * (account->claimed_at), so that nobody who has waited is held up by what others are told later. 0:
 * the server asked for none, it is over, or the attempt may be for something else
 * (account->may_be_other). A moment further off than the policy's cap is moved up to the cap. */
int64_t budget_retry_after_wait(const struct account *account, int64_t now);

/* True if neither tokens nor time make a retry go, but the probe alone: `sample` leaves the last
 * failure without a retry, or `max_attempts` have failed in a row. */
bool budget_is_barred(const struct account *account);

/* True if the server has said when to come again, and the attempt at hand comes no sooner. */
bool budget_is_invited(const struct account *account, int64_t now);

/* ns until a repeat may go (0 = now): the gate and tokens, cut by probe, but not before the moment
 * that the server asked for. */
int64_t budget_due(const struct account *account, int64_t cost, int64_t now);

/* Whose tokens ran out. */
enum {
	EXHAUSTED_OWN = 1, /* the destination's, as its strategy counts them */
	EXHAUSTED_PROCESS = 2,
};

/* Which of them could not pay now: a set of the above, 0 = none. */
int budget_is_exhausted(const struct account *account, int64_t cost, int64_t now);

/* True if those of a set are all there again. */
bool budget_is_refilled(const struct account *account, int exhausted, int64_t now);

#endif
