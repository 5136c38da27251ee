/* SPDX-License-Identifier: MIT */
/* The tables of dangerous values, and the dangers that two sections or two keys make together. */
#include "tool/dangers.h"

#include "config/value.h"
#include "config/value_numbers.h"

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
	DANGER(start_spread, any, 0, 10 * NS_PER_S,
	       "no call waits longer than 10s, and meanwhile a program's own timeout runs out",
	       "less than the programs let a connect take, 10s at most"),
	DANGER(jitter, any, JITTER_FULL, JITTER_NONE - 1,
	       "all who failed at the same moment come back at the same moment", "full or equal"),
	DANGER(breaker_failures, policy_has_breaker, 2, INT64_MAX,
	       "one failure shuts the destination off, for first tries too", "5"),
	DANGER(breaker_volume, policy_has_breaker_rate, 5, INT64_MAX,
	       "of so few outcomes one failure is a large share, and shuts first tries off too",
	       "20"),
	DANGER(breaker_open, policy_has_breaker, 0, 300 * NS_PER_S,
	       "nothing goes for that long, first tries neither, though the server may be back",
	       "30s"),
	DANGER(fleet_reserve, is_leased, 0, 100 * MT_PER_TOKEN,
	       "so much goes to a server that is down while nobody counts it", "1/s"),
	DANGER(fleet_n_max, is_leased, 2, INT64_MAX,
	       "each host without a lease then uses the whole reserve", "1000"),
#undef DANGER
};

/* Of the bucket that all destinations draw on as well. */
static const struct common_danger {
	uint8_t key;
	int64_t most;
	const char *reason, *usual;
} common_dangers[] = {
	{ KEY_BUDGET_earn, MT_PER_TOKEN / 2,
	  "each success pays for that much of a retry, and servers that half fail get it all",
	  "10% to 20%" },
	{ KEY_BUDGET_capacity, 5000 * MT_PER_TOKEN,
	  "a full bucket may go at once, to servers that have just failed", "100" },
	{ KEY_BUDGET_floor, 20 * MT_PER_TOKEN,
	  "time alone lets so many retries go while nothing answers", "2/s" },
};

/* What a destination takes it takes out of the bucket of [budget], too, whose key bounds its own.
 */
static const struct bound {
	uint8_t own, common;
	const char *usual;
} bounds[] = {
	{ KEY_DESTINATION_floor, KEY_BUDGET_floor, "0.2/s here, and 2/s in [budget]" },
	{ KEY_DESTINATION_capacity, KEY_BUDGET_capacity, "10 here, and 100 in [budget]" },
};

static int64_t value_of(const struct key *key, const void *fields)
{
	const char *field = (const char *)fields + key->offset;
	int64_t wide;
	int32_t narrow;

	if (key->size == sizeof(wide)) {
		memcpy(&wide, field, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, field, sizeof(narrow));
	return narrow;
}

/* Where a key stands, and whether its value is a share without a %. */
struct place {
	const char *file;
	int line;
	bool bare;
};

/* "10" is 1000 %: who leaves the % out means a hundredth. */
static void suggest_percent(const struct key *key, const void *fields, struct text *text)
{
	int64_t whole = key->type == TYPE_GAIN ? MT_PER_TOKEN : PPM_WHOLE;

	if (value_of(key, fields) < whole)
		return;
	text_string(text, "; did you mean ");
	number_print(key, value_of(key, fields) / 100, text);
	text_string(text, "?");
}

static void tell_of(const struct key *key, const void *fields, const char *reason,
                    const char *usual, const struct place *place, config_complain *tell)
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
	if (place->bare)
		suggest_percent(key, fields, &text);
	tell(NULL, place->file, place->line, message);
}

static struct place place_of(const struct origins *origins, int policy, enum key_index key,
                             const char *file)
{
	return (struct place) { file, origins->destination[policy][key],
		                origins->destination_bare[policy][key] };
}

static struct place common_place_of(const struct origins *origins, enum key_index key,
                                    const char *file)
{
	return (struct place) { file, origins->common[key], origins->common_bare[key] };
}

/* 0 on: the breaker does not open by it. */
static bool is_dangerous(const struct danger *danger, const struct policy *policy)
{
	int64_t value = value_of(&config_keys[danger->key], policy);

	if (danger->key == KEY_DESTINATION_breaker_failures && value == 0)
		return false;
	return danger->applies(policy) && (value < danger->least || value > danger->most);
}

/* The bound that the key is above; NULL: none. */
static const struct bound *bound_of(const struct config *config, const struct policy *policy,
                                    int key)
{
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
		if (bounds[i].own == key && uses_bucket(policy) &&
		    value_of(&config_keys[key], policy) >
		        value_of(&config_keys[bounds[i].common], &config->process))
			return &bounds[i];
	return NULL;
}

static int check_bound(const struct config *config, const struct origins *origins, int policy,
                       const struct bound *bound, const char *file, config_complain *tell)
{
	struct place place = place_of(origins, policy, (enum key_index)bound->own, file);
	const struct key *key = &config_keys[bound->common];
	char reason[96];

	if (!bound_of(config, &config->policies[policy], bound->own))
		return 0;
	if (place.line && place.line != origins->destination[policy][KEY_DESTINATION_preset]) {
		(void)snprintf(reason, sizeof(reason),
		               "that is above the %s of [budget], which all destinations share, "
		               "and so never comes",
		               key->name);
		tell_of(&config_keys[bound->own], &config->policies[policy], reason, bound->usual,
		        &place, tell);
		return 1;
	}
	place = common_place_of(origins, (enum key_index)bound->common, file);
	if (!place.line || policy > 0)
		return 0;
	(void)snprintf(reason, sizeof(reason),
	               "all destinations share it, and each one's own %s is above it", key->name);
	tell_of(key, &config->process, reason, key->initial, &place, tell);
	return 1;
}

static int check_process(const struct config *config, const struct origins *origins,
                         const char *file, config_complain *tell)
{
	int told = 0;

	for (size_t i = 0; i < sizeof(common_dangers) / sizeof(*common_dangers); i++) {
		const struct common_danger *danger = &common_dangers[i];
		const struct key *key = &config_keys[danger->key];
		struct place place = common_place_of(origins, (enum key_index)danger->key, file);

		if (!place.line || value_of(key, &config->process) <= danger->most)
			continue;
		tell_of(key, &config->process, danger->reason, danger->usual, &place, tell);
		told++;
	}
	return told;
}

/* A lease that ends before the next sync can renew it is none half of the time. */
static int check_lease(const struct config *config, const struct origins *origins, const char *file,
                       config_complain *tell)
{
	struct place place = common_place_of(origins, KEY_FLEET_lease, file);

	if (config->fleet.redis[0] == '\0' || config->fleet.lease / 3 >= config->fleet.sync)
		return 0;
	if (!place.line)
		place.line = origins->common[KEY_FLEET_sync];
	tell_of(&config_keys[KEY_FLEET_lease], &config->fleet,
	        "one answer that is late ends it, and all hosts are left with the reserve",
	        "15 times sync", &place, tell);
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
	struct place place = common_place_of(origins, KEY_GENERAL_scope, file);

	if (!place.line || config->general.scope == SCOPE_PROCESS || !orphans_are_removed())
		return 0;
	tell_of(&config_keys[KEY_GENERAL_scope], &config->general,
	        "kernel.shm_rmid_forced = 1 takes a share away with the last of its programs: "
	        "those that run one after the other share nothing",
	        "kernel.shm_rmid_forced = 0", &place, tell);
	return 1;
}

int dangers_check(const struct config *config, const struct origins *origins, const char *file,
                  config_complain *tell)
{
	int told = check_process(config, origins, file, tell) +
	           check_lease(config, origins, file, tell) +
	           check_scope(config, origins, file, tell);

	for (int i = 0; i < config->policy_count; i++) {
		const struct policy *policy = &config->policies[i];

		for (size_t n = 0; n < sizeof(dangers) / sizeof(*dangers); n++) {
			enum key_index key = (enum key_index)dangers[n].key;
			struct place place = place_of(origins, i, key, file);

			if (!place.line ||
			    place.line == origins->destination[i][KEY_DESTINATION_preset] ||
			    !is_dangerous(&dangers[n], policy) || bound_of(config, policy, key))
				continue;
			tell_of(&config_keys[key], policy, dangers[n].reason, dangers[n].usual,
			        &place, tell);
			told++;
		}
		for (size_t n = 0; n < sizeof(bounds) / sizeof(*bounds); n++)
			told += check_bound(config, origins, i, &bounds[n], file, tell);
	}
	return told;
}
