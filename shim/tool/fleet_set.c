/* SPDX-License-Identifier: MIT */
/* By the parser of the file, so that a value means here what it means there. */
#include "tool/fleet_set.h"

#include "config/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static const char *const keys[] = { "capacity", "floor",       "fleet_reserve",
	                            "probe",    "fleet_n_max", "lease" };

static bool wrong(const char *word, const char *why)
{
	fprintf(stderr, "retrybudget: fleet: set '%s': %s\n", word, why);
	return false;
}

static bool take(struct config *config, int policy, const char *word)
{
	const char *sign = strchr(word, '=');
	enum section section = SECTION_DESTINATION;
	const struct key *key = NULL;
	char message[256];
	struct text why;

	for (size_t i = 0; sign && i < sizeof(keys) / sizeof(*keys); i++)
		if (strlen(keys[i]) == (size_t)(sign - word) &&
		    strncmp(keys[i], word, strlen(keys[i])) == 0) {
			section =
			    strcmp(keys[i], "lease") == 0 ? SECTION_FLEET : SECTION_DESTINATION;
			key = key_find(section, keys[i]);
		}
	if (!key)
		return wrong(word, "write KEY=VALUE, with capacity, floor, fleet_reserve, probe, "
		                   "fleet_n_max or lease");
	text_start(&why, message, sizeof(message));
	return value_store(key, section_fields(config, section, policy), sign + 1, &why) ||
	       wrong(word, message);
}

/* By the time, so that it is higher than that of any rule set before, also of one that the server
 * has lost or forgotten: a host that knows such a one can tell which is the newer. */
static int64_t next_after(int64_t generation)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	return greater(later(greater(generation, 0), 1),
	               now.tv_sec * INT64_C(1000) + now.tv_nsec / NS_PER_MS);
}

bool fleet_set_rule(const struct config *config, int policy, const struct fleet_rule *before,
                    char **words, int count, struct fleet_rule *rule)
{
	static struct config said; /* large */
	const struct policy *of = &said.policies[policy];

	said = *config;
	said.policies[policy].bucket.capacity = before->generation > 0 ? before->capacity : 0;
	said.policies[policy].bucket.floor = before->generation > 0 ? before->floor : 0;
	for (int i = 0; i < count; i++)
		if (!take(&said, policy, words[i]))
			return false;
	*rule = (struct fleet_rule) { .generation = next_after(before->generation),
		                      .capacity = of->bucket.capacity,
		                      .floor = of->bucket.floor,
		                      .probe = of->probe / NS_PER_MS,
		                      .hosts = of->fleet_n_max,
		                      .lifetime = said.fleet.lease / NS_PER_MS };
	if (rule->capacity == 0 || rule->floor == 0)
		return wrong(rule->capacity == 0 ? "capacity" : "floor",
		             "there is no rule yet that would say it, as capacity=100 floor=20/s");
	if (of->fleet_reserve > rule->floor)
		return wrong("fleet_reserve", "it is a part of floor, which is less");
	rule->leased = fleet_leased_part(rule->floor, of->fleet_reserve);
	if (of->fleet_reserve != config->policies[policy].fleet_reserve ||
	    of->fleet_n_max != config->policies[policy].fleet_n_max ||
	    of->probe != config->policies[policy].probe)
		fprintf(stderr,
		        "retrybudget: fleet: programs take fleet_reserve, fleet_n_max and probe "
		        "from their own file: the bound holds where that says the same\n");
	if (rule->lifetime < FLEET_LIFE_LEAST || rule->lifetime > FLEET_LIFE_MOST)
		return wrong("lease", "4s to 120s");
	return fleet_rule_is_valid(rule) ||
	       wrong("capacity, floor", "up to 100000 tokens, and 10000/s");
}

void fleet_set_tell(const struct fleet_rule *rule, int64_t sync)
{
	printf("%.15g retries of all hosts in a second of an outage, at most\n",
	       (double)fleet_bound(rule, 1000) / FLEET_TOKEN);
	printf("%" PRId64 " hosts that all wait for one retry have all had it some %" PRId64
	       " s after a recovery\n",
	       rule->hosts, (fleet_return(rule, sync / NS_PER_MS) + 999) / 1000);
}
