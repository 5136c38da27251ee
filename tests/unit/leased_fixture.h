/* SPDX-License-Identifier: MIT */
/* A destination whose retries draw on a lease of the fleet. */
#ifndef RETRYBUDGET_TESTS_LEASED_FIXTURE_H
#define RETRYBUDGET_TESTS_LEASED_FIXTURE_H

#include "budget_fixture.h"
#include "region/lease.h"

#define LABEL "orders-db"
#define SLEPT SECONDS(5)
#define STEP  (20 * NS_PER_MS)

static struct world world;
static const struct account *const account = &world.account;
static int64_t now;

static inline int64_t boot(void)
{
	return now + SLEPT;
}

static inline void fleet_start(uint64_t seed, int64_t reserve, int64_t n_max)
{
	world_start(&world, seed);
	world.policy.fleet = world.policy.leased = 1;
	world.policy.fleet_reserve = reserve;
	world.policy.fleet_n_max = n_max;
	world.policy.label = lease_label(LABEL);
	world.account.slept = SLEPT;
	now = START_OF_TIME + (int64_t)seed * 7919;
}

static inline void lend(struct lease_grant grant)
{
	struct lease words;

	if (!grant.until)
		grant.until = boot() + SECONDS(15);
	lease_compose(&words, &world.budget.lease, LABEL, &grant);
	memcpy(&world.budget.lease, &words, LEASE_BYTES);
}

static inline void fail_first_try(void)
{
	budget_first_try(account, now);
	budget_failure(account, false, now, now, &world.random);
}

static inline bool goes(void)
{
	return budget_verdict(account, account->policy->cost, now) != REFUSED;
}

/* Attempts of a loop against a dead server. */
static inline int loop(int64_t time)
{
	int went = 0;

	for (int64_t end = now + time; now < end; now += STEP) {
		if (!goes())
			continue;
		went++;
		budget_failure(account, true, now, now, &world.random);
	}
	return went;
}

#endif
