/* SPDX-License-Identifier: MIT */
/* Attempts of a policy that counts those in flight, and the permits of probes. */
#ifndef RETRYBUDGET_TESTS_FLIGHT_FIXTURE_H
#define RETRYBUDGET_TESTS_FLIGHT_FIXTURE_H

#include "track_fixture.h"

#include "conn/flight.h"
#include "conn/settle.h"
#include "config/current.h"

/* Of a window's slices none may end while a test takes a moment back by a second or two: those of a
 * day take 2.4 hours. */
#define DAY WINDOW_MAX

static struct policy *policy;

static inline void start_counting(void)
{
	struct config *config;

	start_shim();
	config = (struct config *)config_current(); /* nobody else reads it here */
	policy = &config->policies[0];
	policy->plain = 0;
	policy->strategy = STRATEGY_CONCURRENCY;
	policy->window = DAY;
	policy->breaker.on = 1;
	policy->breaker.open = DAY;
}

static inline int64_t in_flight(const struct destination *destination)
{
	return slices_covering(&destination->budget.requests, DAY, monotonic());
}

static inline int64_t retries(const struct destination *destination)
{
	return slices_covering(&destination->budget.spent, DAY, monotonic());
}

static inline int64_t permits(const struct destination *destination)
{
	return slices_covering(&destination->budget.breaker.probes, DAY, monotonic());
}

/* As pace() lets it go: a retry that has paid, and probes. */
static inline int let_go(const struct server *server, bool paid, int fd)
{
	const struct sockaddr *to = (const struct sockaddr *)&server->address;
	enum breaker_change change;
	struct attempt try;
	struct breaker *breaker;

	cr_assert(attempt_begin_connect(&try, fd, to, sizeof(server->address)));
	try.admitted = monotonic();
	breaker = &try.account.budget->breaker;
	if (paid)
		try.paid = budget_admit(&try.account, 1000, try.admitted) == ADMITTED;
	cr_assert_eq(try.paid, paid);
	try.permit = try.trial.probe =
	    breaker_ask(breaker, &policy->breaker, try.admitted, &change) == BREAKER_PROBE;
	attempt_start(&try);
	return attempt_settle(&try, connect(fd, to, sizeof(server->address)));
}

#endif
