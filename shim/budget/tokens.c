/* SPDX-License-Identifier: MIT */
/*
 * Strategy `bucket`: the token bucket of bucket.h, earned by successes, topped up by time, and paid
 * for retries.
 *
 * Sources: gRPC proposal A6 (github.com/grpc/proposal, A6-client-retries.md, retryThrottling: each
 * failure takes a token, each success gives tokenRatio, retries only while more than half of
 * maxTokens is left): charge = failure, threshold = 50 %. AWS SDKs, standard mode
 * (docs.aws.amazon.com/sdkref, Retry behavior: 500 tokens, 5 for a retry and 10 after a timeout, 1
 * back for a success, a retry that succeeds gets back what it cost): charge = retry, refund = on.
 */
#include "budget/tokens.h"

/* Of what all instances may save up, a part; but never less than one retry costs, or dividing would
 * make retries cheap: what costs more than a bucket holds costs all that it holds. */
struct bucket_rule tokens_rule(const struct policy *policy, int64_t threshold)
{
	struct bucket_rule rule = policy->bucket;
	int64_t cost = greater(policy->cost, policy->cost_timeout);
	int64_t part = strategy_part(policy, rule.capacity), least;

	rule.threshold = greater(rule.threshold, threshold);
	if (policy->instances <= 1)
		return rule;
	cost = within(cost, MT_PER_TOKEN, BUCKET_CAPACITY_MAX);
	least =
	    rule.threshold < PPM_WHOLE && rule.threshold > 0
		? (cost * PPM_WHOLE + PPM_WHOLE - rule.threshold - 1) / (PPM_WHOLE - rule.threshold)
		: cost;
	rule.capacity = lesser(rule.capacity, greater(part, least));
	rule.floor = strategy_part(policy, rule.floor);
	return rule;
}

/* With charge = failure the tokens are gone already; more than the threshold must be left. */
int64_t tokens_wait(const struct account *account, const struct bucket_rule *rule, int64_t cost,
                    int64_t now)
{
	if (account->policy->charge == CHARGE_FAILURE)
		cost = 1;
	return bucket_wait(&account->budget->bucket, rule, cost, now);
}

int64_t tokens_take(const struct account *account, const struct bucket_rule *rule, int64_t cost,
                    int64_t now)
{
	struct bucket *bucket = &account->budget->bucket;
	int64_t taken;

	if (account->policy->charge == CHARGE_FAILURE)
		return bucket_wait(bucket, rule, 1, now) == 0 ? 0 : -1;
	taken = bucket_withdraw(bucket, rule, cost, now);
	if (taken > 0 && account->policy->refund)
		STORE(account->budget->paid, taken);
	return taken;
}

/* What the retry under way has cost, to one caller only; 0: none is, or it has been forgotten. A
 * rival's retry may be the one that is forgotten, so that it earns where it would be repaid: more
 * than was taken is never given back, except by a corrupted word, which the cost bounds. */
static int64_t end_of_retry(const struct account *account)
{
	int64_t most = account->policy->cost, paid;

	if (!account->policy->refund)
		return 0;
	most = greater(most, account->policy->cost_timeout);
	paid = atomic_exchange_explicit(&account->budget->paid, 0, memory_order_relaxed);
	return within(paid, 0, most);
}

void tokens_refund(const struct account *account, int64_t mt, bool goes)
{
	struct bucket_rule rule = tokens_rule(account->policy, 0);

	(void)goes;
	end_of_retry(account);
	if (account->policy->charge == CHARGE_RETRY)
		bucket_deposit(&account->budget->bucket, &rule, mt);
}

void tokens_note(const struct account *account, enum event_kind kind, int64_t cost, int64_t now)
{
	int64_t paid = end_of_retry(account);
	struct bucket_rule rule;

	if (kind == NOTE_FIRST_TRY)
		return;
	rule = tokens_rule(account->policy, 0);
	if (kind == NOTE_SUCCESS)
		bucket_deposit(&account->budget->bucket, &rule, paid > 0 ? paid : rule.earn);
	else if (account->policy->charge == CHARGE_FAILURE)
		bucket_drain(&account->budget->bucket, &rule, cost, now);
}

int64_t tokens_level(const struct account *account, int64_t now, int64_t *limit)
{
	struct bucket_rule rule = tokens_rule(account->policy, 0);

	*limit = within(rule.capacity, 1, BUCKET_CAPACITY_MAX);
	return bucket_level(&account->budget->bucket, &rule, now);
}

static int64_t wait(const struct account *account, int64_t cost, int64_t now)
{
	struct bucket_rule rule = tokens_rule(account->policy, 0);

	return tokens_wait(account, &rule, cost, now);
}

static int64_t take(const struct account *account, int64_t cost, int64_t now)
{
	struct bucket_rule rule = tokens_rule(account->policy, 0);

	return tokens_take(account, &rule, cost, now);
}

const struct strategy_calls strategy_bucket = {
	wait, take, tokens_refund, tokens_note, tokens_level,
};
