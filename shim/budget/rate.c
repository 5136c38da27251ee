/* SPDX-License-Identifier: MIT */
/* A bucket that time fills at the rate, and that holds the burst. */
#include "budget/rate.h"

static struct bucket_rule rate_rule(const struct policy *policy)
{
	return (struct bucket_rule) { .capacity = greater(policy->burst, MT_PER_TOKEN),
		                      .floor = policy->rate,
		                      .start = PPM_WHOLE };
}

int64_t budget_rate_wait(const struct account *account, int64_t now)
{
	struct bucket_rule rule = rate_rule(account->policy);

	return bucket_wait(&account->budget->rate, &rule, MT_PER_TOKEN, budget_moment(now));
}

bool budget_keeps_rate(const struct account *account, int64_t now)
{
	struct bucket_rule rule = rate_rule(account->policy);

	return account->policy->rate <= 0 || bucket_withdraw(&account->budget->rate, &rule,
	                                                     MT_PER_TOKEN, budget_moment(now)) >= 0;
}
