/* SPDX-License-Identifier: MIT */
/* What each key needs to have any effect. A key of [destination default] has one if it has one in
 * any section that inherits it. */
#include "config/effect.h"

#include "config/value.h"

#include <string.h>

#define STRATEGY(name) (1U << STRATEGY_##name)

static bool charges_retries(const struct policy *policy)
{
	return policy->charge == CHARGE_RETRY;
}

static bool has_datagrams(const struct policy *policy)
{
	return policy->udp;
}

static bool reads_statuses(const struct policy *policy)
{
	return policy->http;
}

static bool fails_statuses(const struct policy *policy)
{
	return reads_statuses(policy) && policy->http_status != 0;
}

/* Either key switches it off; that both do is not worth a note. */
static bool is_off_or_has_statuses(const struct policy *policy)
{
	return !reads_statuses(policy) || policy->http_status != 0;
}

static bool reads_or_has_no_statuses(const struct policy *policy)
{
	return reads_statuses(policy) || policy->http_status == 0;
}

static bool has_reply_timeout(const struct policy *policy)
{
	return policy->reply_timeout > 0;
}

static bool has_rate(const struct policy *policy)
{
	return policy->rate > 0;
}

static bool has_start_spread(const struct policy *policy)
{
	return policy->start_spread > 0;
}

static bool draws_on_fleet(const struct policy *policy)
{
	return policy->fleet;
}

static bool has_fleet(const struct policy *policy)
{
	return policy->leased;
}

static const struct need {
	uint8_t key;
	uint8_t strategies;                         /* that look at it; 0: all */
	bool (*needs)(const struct policy *policy); /* NULL: nothing else */
	const char *only;
} needs[] = {
#define NEED(key, strategies, needs, only)                                                         \
	{                                                                                          \
		KEY_DESTINATION_##key, strategies, needs, only                                     \
	}
#define BUCKETS (STRATEGY(BUCKET) | STRATEGY(ADAPTIVE))
	NEED(capacity, BUCKETS, NULL, "strategy = bucket or adaptive"),
	NEED(earn, BUCKETS, NULL, "strategy = bucket or adaptive"),
	NEED(floor, BUCKETS, NULL, "strategy = bucket or adaptive"),
	NEED(start, BUCKETS, NULL, "strategy = bucket or adaptive"),
	NEED(threshold, BUCKETS, NULL, "strategy = bucket or adaptive"),
	NEED(charge, BUCKETS, NULL, "strategy = bucket or adaptive"),
	NEED(refund, BUCKETS, charges_retries, "strategy = bucket or adaptive and charge = retry"),
	NEED(window, (uint8_t)~STRATEGY(BUCKET), NULL, "a strategy other than bucket"),
	NEED(ratio, STRATEGY(WINDOW) | STRATEGY(CONCURRENCY), NULL,
	     "strategy = window or concurrency"),
	NEED(ratio_of, STRATEGY(WINDOW), NULL, "strategy = window"),
	NEED(window_min, STRATEGY(WINDOW), NULL, "strategy = window"),
	NEED(reserve, STRATEGY(WINDOW), NULL, "strategy = window"),
	NEED(k, STRATEGY(THROTTLE), NULL, "strategy = throttle"),
	NEED(target, STRATEGY(PROBABILISTIC), NULL, "strategy = probabilistic"),
	NEED(min_concurrency, STRATEGY(CONCURRENCY), NULL, "strategy = concurrency"),
	NEED(instances, BUCKETS | STRATEGY(WINDOW) | STRATEGY(CONCURRENCY), NULL,
	     "strategy = bucket, adaptive, window or concurrency"),
	NEED(strategy, (uint8_t)~0U, NULL, ""),
	NEED(fleet, 0, has_fleet, "a [fleet] section that names its redis"),
	NEED(fleet_reserve, 0, draws_on_fleet, "fleet = on"),
	NEED(fleet_n_max, 0, draws_on_fleet, "fleet = on"),
	NEED(breaker_failures, 0, policy_has_breaker, "breaker = on"),
	NEED(breaker_rate, 0, policy_has_breaker, "breaker = on"),
	NEED(breaker_volume, 0, policy_has_breaker_rate, "breaker = on and a breaker_rate above 0"),
	NEED(breaker_window, 0, policy_has_breaker_rate, "breaker = on and a breaker_rate above 0"),
	NEED(breaker_open, 0, policy_has_breaker, "breaker = on"),
	NEED(breaker_probes, 0, policy_has_breaker, "breaker = on"),
	NEED(breaker_successes, 0, policy_has_breaker, "breaker = on"),
	NEED(udp_deny, 0, has_datagrams, "udp = on"),
	NEED(burst, 0, has_rate, "a rate above 0"),
	NEED(start_burst, 0, has_start_spread, "a start_spread above 0"),
	NEED(reply_errno, 0, has_reply_timeout, "a reply_timeout above 0"),
	NEED(http, 0, is_off_or_has_statuses, "an http_status other than none"),
	NEED(http_status, 0, reads_or_has_no_statuses, "http = on"),
	NEED(http_deny, 0, fails_statuses, "http = on and an http_status other than none"),
	NEED(retry_after_cap, 0, fails_statuses, "http = on and an http_status other than none"),
#undef BUCKETS
#undef NEED
};

_Static_assert(STRATEGY_COUNT <= 8, "they fit struct need");

static bool has_effect(const struct need *need, const struct policy *policy)
{
	/* A lease stands in the place of the strategy. */
	return (need->strategies == 0 ||
	        (!policy->leased && need->strategies >> policy->strategy & 1)) &&
	       (!need->needs || need->needs(policy));
}

/* True if it has one here or wherever it is inherited. */
static bool has_effect_from(const struct need *need, const struct config *config,
                            const struct origins *origins, int policy)
{
	if (has_effect(need, &config->policies[policy]))
		return true;
	for (int i = 1; policy == 0 && i < config->policy_count; i++)
		if (!origins->destination[i][need->key] && has_effect(need, &config->policies[i]))
			return true;
	return false;
}

static bool is_default(const struct key *key, const struct policy *policy)
{
	struct policy initial;
	char unused[8];
	struct text why;

	text_start(&why, unused, sizeof(unused));
	memset(&initial, 0, sizeof(initial));
	return value_store(key, &initial, key->initial, &why) &&
	       memcmp((const char *)&initial + key->offset, (const char *)policy + key->offset,
	              key->size) == 0;
}

int effect_check(const struct config *config, const struct origins *origins, const char *file,
                 config_complain *tell)
{
	int told = 0;

	for (int i = 0; i < config->policy_count; i++) {
		for (size_t n = 0; n < sizeof(needs) / sizeof(*needs); n++) {
			const struct key *key = &config_keys[needs[n].key];
			int line = origins->destination[i][needs[n].key];
			char message[160];
			struct text text;

			if (!line || line == origins->destination[i][KEY_DESTINATION_preset] ||
			    is_default(key, &config->policies[i]) ||
			    has_effect_from(&needs[n], config, origins, i))
				continue;
			text_start(&text, message, sizeof(message));
			text_string(&text, "note: ");
			text_string(&text, key->name);
			text_string(&text, " has no effect here: it takes ");
			text_string(&text, needs[n].strategies && config->policies[i].leased
			                       ? "fleet = off"
			                       : needs[n].only);
			tell(NULL, file, line, message);
			told++;
		}
	}
	return told;
}
