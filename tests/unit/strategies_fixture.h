/* SPDX-License-Identifier: MIT */
/* One account, and a list of everything that happened to it, under random schedules with a clock of
 * our own. */
#ifndef STRATEGIES_FIXTURE_H
#define STRATEGIES_FIXTURE_H

#include "budget_fixture.h"
#include "budget/strategy.h"
#include "budget/streak.h"

#define EVENTS 3000

static struct world world;
static const struct account *const account = &world.account;

enum { WAS_FIRST, WAS_SUCCESS, WAS_FAILURE, WAS_RETRY };

/* Everything that happened; newest last. */
static struct {
	int64_t at;
	int what;
} past[EVENTS];
static int happened;

static inline void remember(int what, int64_t at)
{
	past[happened].what = what;
	past[happened++].at = at;
}

static inline void begin(uint64_t seed, enum strategy strategy)
{
	world_start(&world, seed);
	world.policy.strategy = strategy;
	world.policy.probe = INT64_MAX / 2;
	world.process_rule = (struct bucket_rule) { .capacity = BUCKET_CAPACITY_MAX,
		                                    .floor = BUCKET_FLOOR_MAX,
		                                    .start = PPM_WHOLE };
	happened = 0;
}

static inline bool ask(int64_t now)
{
	return strategy_of(&world.policy)->take(account, world.policy.cost, now) >= 0;
}

static inline int64_t wait(int64_t now)
{
	return strategy_of(&world.policy)->wait(account, world.policy.cost, now);
}

/* One random event; true if a retry was let through at *now. */
static inline bool something(uint64_t *random, int64_t *now, int retries, int successes)
{
	int64_t which = random_upto(random, 99);

	*now += random_upto(random, random_upto(random, 199) ? SECONDS(0.05) : SECONDS(15));
	if (which < retries) {
		if (!ask(*now))
			return false;
		remember(WAS_RETRY, *now);
		return true;
	}
	if (which < retries + successes) {
		strategy_of(&world.policy)->note(account, NOTE_SUCCESS, 0, *now);
		remember(WAS_SUCCESS, *now);
	} else if (which % 2) {
		strategy_of(&world.policy)->note(account, NOTE_FIRST_TRY, 0, *now);
		remember(WAS_FIRST, *now);
	} else {
		strategy_of(&world.policy)->note(account, NOTE_FAILURE, world.policy.cost, *now);
		remember(WAS_FAILURE, *now);
	}
	return false;
}

#endif
