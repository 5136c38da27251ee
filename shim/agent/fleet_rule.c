/* SPDX-License-Identifier: MIT */
/* The two parts of a rule, and their sum. */
#include "agent/fleet_rule.h"

#define WHOLE   INT64_C(1000000) /* ppm */
#define MS_IN_S INT64_C(1000)

bool fleet_rule_is_valid(const struct fleet_rule *rule)
{
	return rule->generation >= 1 && rule->capacity >= FLEET_TOKEN &&
	       rule->capacity <= FLEET_CAPACITY_MOST && rule->floor >= 1 &&
	       rule->floor <= FLEET_FLOOR_MOST && rule->probe >= 1 &&
	       rule->probe <= FLEET_PROBE_MOST && rule->hosts >= 1 &&
	       rule->hosts <= FLEET_HOSTS_MOST && rule->leased >= 0 && rule->leased <= WHOLE &&
	       rule->lifetime >= FLEET_LIFE_LEAST && rule->lifetime <= FLEET_LIFE_MOST;
}

int64_t fleet_leased_capacity(const struct fleet_rule *rule)
{
	return rule->capacity * rule->leased / WHOLE;
}

int64_t fleet_leased_floor(const struct fleet_rule *rule)
{
	return greater(rule->floor * rule->leased / WHOLE, 1);
}

int64_t fleet_reserve_capacity(const struct fleet_rule *rule)
{
	int64_t part = (rule->capacity - fleet_leased_capacity(rule)) / rule->hosts;

	return part < FLEET_TOKEN ? 0 : part;
}

int64_t fleet_reserve_floor(const struct fleet_rule *rule)
{
	return fleet_reserve_capacity(rule) == 0
	           ? 0
	           : (rule->floor - lesser(fleet_leased_floor(rule), rule->floor)) / rule->hosts;
}

int64_t fleet_probe_alone(const struct fleet_rule *rule)
{
	return rule->probe * rule->hosts;
}

/* Rounded up. */
static int64_t in_window(int64_t per_s, int64_t window)
{
	return window > (INT64_MAX - MS_IN_S) / greater(per_s, 1)
	           ? INT64_MAX / 4
	           : (per_s * window + MS_IN_S - 1) / MS_IN_S;
}

struct fleet_bound fleet_bound(const struct fleet_rule *rule, int64_t window)
{
	int64_t alone = fleet_reserve_capacity(rule) + in_window(fleet_reserve_floor(rule), window);
	int64_t turns = (window + rule->probe - 1) / rule->probe;

	return (struct fleet_bound) {
		.tokens = fleet_leased_capacity(rule) +
		          in_window(fleet_leased_floor(rule), window) +
		          lesser(alone, INT64_MAX / 4 / rule->hosts) * rule->hosts,
		.probes = 1 + 2 * turns,
	};
}
