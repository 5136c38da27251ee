/* SPDX-License-Identifier: MIT */
/* The arithmetic of admission.h: a bucket whose floor is the rate and whose capacity is the burst.
 */
#include "budget/admission.h"

#include <stddef.h>

static struct bucket_rule bucket_rule(const struct admission_rule *rule)
{
	return (struct bucket_rule) {
		.capacity = rule->burst,
		.floor = rule->rate,
		.start = PPM_WHOLE,
	};
}

struct admission *admission_find(struct admission *of, int n, int64_t key)
{
	for (int i = 0; i < n; i++) {
		int64_t seen = LOAD(of[i].key);

		if (seen == 0)
			atomic_compare_exchange_strong(&of[i].key, &seen, key);
		/* A rival that came first may have wanted the same one. */
		if (seen == key || seen == 0)
			return &of[i];
	}
	return NULL;
}

bool admission_take(struct admission *admission, const struct admission_rule *rule, int64_t behind,
                    int64_t now)
{
	struct bucket_rule bucket = bucket_rule(rule);
	bool taken = behind < rule->burst / MT_PER_TOKEN &&
	             bucket_withdraw(&admission->bucket, &bucket, MT_PER_TOKEN, now) >= 0;

	atomic_fetch_add_explicit(taken ? &admission->admitted : &admission->rejected, 1,
	                          memory_order_relaxed);
	return taken;
}

int64_t admission_tokens(const struct admission *admission, const struct admission_rule *rule)
{
	struct bucket_rule bucket = bucket_rule(rule);

	return bucket_peek(&admission->bucket, &bucket);
}

int64_t admission_seconds(const struct admission_rule *rule)
{
	int64_t seconds = rule->retry_after / NS_PER_S;

	return seconds + (rule->retry_after % NS_PER_S > 0);
}
