/* SPDX-License-Identifier: MIT */
/* The two parts of a rule, and their sum. */
#include "tool/fleet_rule.h"

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

int64_t fleet_leased_part(int64_t floor, int64_t reserve)
{
	return (floor - reserve) * WHOLE / floor;
}

int64_t fleet_leased_capacity(const struct fleet_rule *rule)
{
	return rule->capacity * rule->leased / WHOLE;
}

int64_t fleet_leased_floor(const struct fleet_rule *rule)
{
	return greater(rule->floor * rule->leased / WHOLE, 1);
}

int64_t fleet_reserve(const struct fleet_rule *rule)
{
	return rule->floor - lesser(fleet_leased_floor(rule), rule->floor);
}

/* Rounded up. */
static int64_t in_window(int64_t per_s, int64_t window)
{
	return window > (INT64_MAX - MS_IN_S) / greater(per_s, 1)
	           ? INT64_MAX / 4
	           : (per_s * window + MS_IN_S - 1) / MS_IN_S;
}

int64_t fleet_bound(const struct fleet_rule *rule, int64_t window)
{
	/* Of the ledger's probes one may have been saved up; hosts without a lease have their own.
	 */
	const int64_t probes = 1 + 2 * ((window + rule->probe - 1) / rule->probe);
	const int64_t tokens = fleet_leased_capacity(rule) +
	                       in_window(fleet_leased_floor(rule), window) +
	                       in_window(fleet_reserve(rule), window);

	return tokens + probes * FLEET_TOKEN;
}

int64_t fleet_earned(int64_t answered)
{
	return answered * 5 / 4;
}

struct fleet_rule fleet_rule_merged(const struct fleet_rule *one, const struct fleet_rule *other)
{
	return (struct fleet_rule) { .capacity = lesser(one->capacity, other->capacity),
		                     .floor = lesser(one->floor, other->floor),
		                     .probe = greater(one->probe, other->probe),
		                     .hosts = greater(one->hosts, other->hosts),
		                     .leased = lesser(one->leased, other->leased),
		                     .lifetime = greater(one->lifetime, other->lifetime) };
}

bool fleet_rule_is_same(const struct fleet_rule *one, const struct fleet_rule *other)
{
	return one->capacity == other->capacity && one->floor == other->floor &&
	       one->probe == other->probe && one->hosts == other->hosts &&
	       one->leased == other->leased && one->lifetime == other->lifetime;
}

/* Where other is to told as less to more. */
static int64_t part_of(int64_t mt, int64_t told, int64_t other)
{
	return other < told ? mt * other / told : mt;
}

int64_t fleet_stricter(int64_t mt, const struct fleet_rule *told, const struct fleet_rule *other)
{
	return lesser(part_of(mt, fleet_leased_floor(told), fleet_leased_floor(other)),
	              part_of(mt, fleet_leased_capacity(told), fleet_leased_capacity(other)));
}

int64_t fleet_return(const struct fleet_rule *rule, int64_t sync)
{
	/* So long from a grant until what its answer earned is granted to another: half of a sync
	 * until it is looked at, and then the next one that asks comes soon. */
	const int64_t round = greater(sync * 3 / 4, 1);
	const int64_t lent = greater(fleet_leased_floor(rule) * round / MS_IN_S, 1);
	int64_t debt = FLEET_DEBT, sum = 0, went = lent, time = 0, earned;

	for (; sum < rule->hosts * FLEET_TOKEN; time += round) {
		sum += went;
		earned = fleet_earned(went);
		went = lent + greater(earned - debt, 0);
		debt = greater(debt - earned, 0);
	}
	return time;
}
