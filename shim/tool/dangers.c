/* SPDX-License-Identifier: MIT */
/* The table of dangerous values, and the one danger that two sections make together. */
#include "tool/dangers.h"

#include "config/value.h"

#include <stdio.h>
#include <string.h>

#ifndef RMID_FORCED /* else where a test has put it */
#define RMID_FORCED "/proc/sys/kernel/shm_rmid_forced"
#endif

static bool uses_ratio(const struct policy *policy)
{
	return policy->strategy == STRATEGY_WINDOW || policy->strategy == STRATEGY_CONCURRENCY;
}

static bool uses_bucket(const struct policy *policy)
{
	return policy->strategy == STRATEGY_BUCKET || policy->strategy == STRATEGY_ADAPTIVE;
}

static bool uses_target(const struct policy *policy)
{
	return policy->strategy == STRATEGY_PROBABILISTIC;
}

static bool has_breaker(const struct policy *policy)
{
	return policy->breaker.on;
}

static bool has_breaker_rate(const struct policy *policy)
{
	return policy->breaker.on && policy->breaker.rate > 0;
}

static bool is_leased(const struct policy *policy)
{
	return policy->leased;
}

static bool any(const struct policy *policy)
{
	(void)policy;
	return true;
}

/* In the units of the fields. A value is dangerous outside least..most. */
static const struct danger {
	uint8_t key;
	bool (*applies)(const struct policy *policy);
	int64_t least, most;
	const char *reason, *usual;
} dangers[] = {
#define DANGER(key, applies, least, most, reason, usual)                                           \
	{                                                                                          \
		KEY_DESTINATION_##key, applies, least, most, reason, usual                         \
	}
	DANGER(ratio, uses_ratio, 0, MT_PER_TOKEN / 2,
	       "retries alone may add that much to the load of a server that is failing",
	       "10% to 20%"),
	DANGER(
	    earn, uses_bucket, 0, MT_PER_TOKEN / 2,
	    "each success pays for that much of a retry, and a server that half fails gets it all",
	    "10% to 20%"),
	DANGER(target, uses_target, 0, PPM_WHOLE / 2,
	       "retries alone may add that much to the load of a server that is failing", "10%"),
	DANGER(capacity, uses_bucket, 0, 500 * MT_PER_TOKEN,
	       "a full bucket may go at once, to a server that has just failed", "10 to 100"),
	DANGER(probe, any, 0, 300 * NS_PER_S,
	       "where the tokens are out a server that is back is not noticed for that long",
	       "10s"),
	DANGER(hold, any, 0, NS_PER_S,
	       "a thread that retries does nothing else for that long, in each call", "250ms"),
	DANGER(jitter, any, JITTER_FULL, JITTER_NONE - 1,
	       "all who failed at the same moment come back at the same moment", "full or equal"),
	DANGER(breaker_failures, has_breaker, 2, INT64_MAX,
	       "one failure shuts the destination off, for first tries too", "5"),
	DANGER(breaker_volume, has_breaker_rate, 5, INT64_MAX,
	       "of so few outcomes one failure is a large share, and shuts first tries off too",
	       "20"),
	DANGER(breaker_open, has_breaker, 0, 300 * NS_PER_S,
	       "nothing goes for that long, first tries neither, though the server may be back",
	       "30s"),
	DANGER(fleet_reserve, is_leased, 0, 100 * MT_PER_TOKEN,
	       "so much goes to a server that is down while nobody counts it", "1/s"),
	DANGER(fleet_n_max, is_leased, 2, INT64_MAX,
	       "each host without a lease then uses the whole reserve", "1000"),
#undef DANGER
};

static int64_t value_of(const struct key *key, const struct policy *policy)
{
	const char *field = (const char *)policy + key->offset;
	int64_t wide;
	int32_t narrow;

	if (key->size == sizeof(wide)) {
		memcpy(&wide, field, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, field, sizeof(narrow));
	return narrow;
}

static void tell_of(const struct key *key, const void *fields, const char *reason,
                    const char *usual, const char *file, int line, config_complain *tell)
{
	char message[256];
	struct text text;

	text_start(&text, message, sizeof(message));
	text_string(&text, "risky: ");
	text_string(&text, key->name);
	text_string(&text, " = ");
	value_print(key, fields, &text);
	text_string(&text, ": ");
	text_string(&text, reason);
	text_string(&text, "; usual: ");
	text_string(&text, usual);
	tell(NULL, file, line, message);
}

/* 0 on: the breaker does not open by it. */
static bool is_dangerous(const struct danger *danger, const struct policy *policy)
{
	int64_t value = value_of(&config_keys[danger->key], policy);

	if (danger->key == KEY_DESTINATION_breaker_failures && value == 0)
		return false;
	return danger->applies(policy) && (value < danger->least || value > danger->most);
}

/* The floors of the destinations flow through that of the process. */
static int check_floor(const struct config *config, const struct origins *origins, int policy,
                       const char *file, config_complain *tell)
{
	int line = origins->destination[policy][KEY_DESTINATION_floor];

	if (!uses_bucket(&config->policies[policy]) ||
	    config->policies[policy].bucket.floor <= config->process.floor)
		return 0;
	if (line) {
		tell_of(&config_keys[KEY_DESTINATION_floor], &config->policies[policy],
		        "that is above the floor of [budget], which all destinations share, and so "
		        "never comes",
		        "0.2/s here, and 2/s in [budget]", file, line, tell);
		return 1;
	}
	line = origins->common[KEY_BUDGET_floor];
	if (!line || policy > 0)
		return 0;
	tell_of(&config_keys[KEY_BUDGET_floor], &config->process,
	        "all destinations share it, and each one's own floor is above it", "2/s", file,
	        line, tell);
	return 1;
}

/* A lease that ends before the next sync can renew it is none half of the time. */
static int check_lease(const struct config *config, const struct origins *origins, const char *file,
                       config_complain *tell)
{
	int line = origins->common[KEY_FLEET_lease];

	if (config->fleet.redis[0] == '\0' || config->fleet.lease / 3 >= config->fleet.sync)
		return 0;
	if (!line)
		line = origins->common[KEY_FLEET_sync];
	tell_of(&config_keys[KEY_FLEET_lease], &config->fleet,
	        "one answer that is late ends it, and all hosts are left with the reserve",
	        "15 times sync", file, line, tell);
	return 1;
}

/* Of this machine, or of the container that the command is run in. */
static bool orphans_are_removed(void)
{
	FILE *setting = fopen(RMID_FORCED, "re");
	bool are = setting && fgetc(setting) == '1';

	if (setting)
		fclose(setting);
	return are;
}

static int check_scope(const struct config *config, const struct origins *origins, const char *file,
                       config_complain *tell)
{
	int line = origins->common[KEY_GENERAL_scope];

	if (!line || config->general.scope == SCOPE_PROCESS || !orphans_are_removed())
		return 0;
	tell_of(&config_keys[KEY_GENERAL_scope], &config->general,
	        "kernel.shm_rmid_forced = 1 takes a share away with the last of its programs: "
	        "those that run one after the other share nothing",
	        "kernel.shm_rmid_forced = 0", file, line, tell);
	return 1;
}

int dangers_check(const struct config *config, const struct origins *origins, const char *file,
                  config_complain *tell)
{
	int told =
	    check_lease(config, origins, file, tell) + check_scope(config, origins, file, tell);

	for (int i = 0; i < config->policy_count; i++) {
		const struct policy *policy = &config->policies[i];

		for (size_t n = 0; n < sizeof(dangers) / sizeof(*dangers); n++) {
			int line = origins->destination[i][dangers[n].key];

			if (!line || line == origins->destination[i][KEY_DESTINATION_preset] ||
			    !is_dangerous(&dangers[n], policy))
				continue;
			tell_of(&config_keys[dangers[n].key], policy, dangers[n].reason,
			        dangers[n].usual, file, line, tell);
			told++;
		}
		told += check_floor(config, origins, i, file, tell);
	}
	return told;
}
