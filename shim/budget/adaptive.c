/* SPDX-License-Identifier: MIT */
/*
 * Strategy `adaptive`: the bucket, and while less than 10 % of the attempts of the last `window`
 * succeeded, retries only while more than half of the capacity is left.
 *
 * Source: none that is one paper. It is gRPC A6's halfway line (tokens.c), drawn only in bad times:
 * A6 keeps half of the bucket out of reach for good. So a bucket that is full pays for the first
 * blips in full, and an outage still finds half of it untouched when it ends.
 */
#include "budget/slices.h"
#include "budget/tokens.h"

#define BAD_TIMES (PPM_WHOLE / 10)
#define HALF      (PPM_WHOLE / 2)

/* Without any outcome there is nothing bad to say. */
static bool is_bad(const struct account *account, int64_t now)
{
	int64_t all = slices_within(&account->budget->requests, account->policy->window, now);
	int64_t good = slices_within(&account->budget->accepts, account->policy->window, now);

	return all > 0 && good * PPM_WHOLE < all * BAD_TIMES;
}

static struct bucket_rule rule_at(const struct account *account, int64_t now)
{
	return tokens_rule(account->policy, is_bad(account, now) ? HALF : 0);
}

/* Within a slice the times are good or bad throughout; when nothing counts any more they are good.
 */
static int64_t adaptive_wait(const struct account *account, int64_t cost, int64_t now)
{
	int64_t window = account->policy->window;

	for (int n = 0;; n++) {
		int64_t turn = slices_until(window, n, now);
		struct bucket_rule rule =
		    rule_at(account, now > INT64_MAX - turn ? now : now + turn);
		int64_t needs = tokens_wait(account, &rule, cost, now);

		if (n > SLICES || needs < slices_until(window, n + 1, now))
			return greater(needs, turn);
	}
}

static int64_t adaptive_take(const struct account *account, int64_t cost, int64_t now)
{
	struct bucket_rule rule = rule_at(account, now);

	return tokens_take(account, &rule, cost, now);
}

static void adaptive_note(const struct account *account, enum event_kind kind, int64_t cost,
                          int64_t now)
{
	struct budget *budget = account->budget;

	if (kind == NOTE_SUCCESS || kind == NOTE_FAILURE)
		slices_add(&budget->requests, account->policy->window, 1, now);
	if (kind == NOTE_SUCCESS)
		slices_add(&budget->accepts, account->policy->window, 1, now);
	tokens_note(account, kind, cost, now);
}

const struct strategy_calls strategy_adaptive = {
	adaptive_wait, adaptive_take, tokens_refund, adaptive_note, tokens_level,
};
