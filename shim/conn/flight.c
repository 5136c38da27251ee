/* SPDX-License-Identifier: MIT */
/* Telling those who count attempts in flight that one has ended. */
#include "conn/flight.h"

#include "budget/concurrency.h"
#include "budget/strategy.h"
#include "config/current.h"
#include "conn/attempt.h"
#include "conn/datagrams.h"
#include "sys/cell.h"
#include "sys/thread.h"

unsigned int flight_traits(const struct attempt *try)
{
	const struct policy *policy = try->account.policy;
	/* What goes without having been paid for has been counted by nobody. */
	bool counted = policy->strategy == STRATEGY_CONCURRENCY && (try->paid || !try->trial.retry);

	return (counted ? TRAIT_FLYING : 0) | (try->permit ? TRAIT_PERMIT : 0) |
	       (try->trial.probe ? TRAIT_PROBE : 0);
}

/* began: when a first try was counted; since: when the rest was. */
static void over(struct destination *destination, unsigned int traits, int64_t began, int64_t since)
{
	struct account account;

	destination_account(destination, config_current(), &account);
	if (traits & TRAIT_FLYING)
		concurrency_end(&account, traits & TRAIT_PAID, traits & TRAIT_PAID ? since : began);
	if (traits & TRAIT_PERMIT)
		breaker_released(&account.budget->breaker, &account.policy->breaker, since);
}

void flight_end(struct socket_entry *entry)
{
	const unsigned int flying = TRAIT_FLYING | TRAIT_PERMIT;
	struct trial trial;
	unsigned int traits;

	/* A child inherits the table, but not what its parent has in flight. */
	if (!(LOAD(entry->traits) & flying) || LOAD(entry->process) != thread_process_noted() ||
	    thread_is_borrowed())
		return;
	traits = atomic_fetch_and(&entry->traits, ~flying);
	if (traits & flying && trial_of(entry, &trial))
		over(trial.destination, traits, LOAD(entry->began), LOAD(entry->since));
}

int64_t flight_take_permit(struct socket_entry *entry)
{
	if (!(LOAD(entry->traits) & TRAIT_PERMIT) ||
	    LOAD(entry->process) != thread_process_noted() || thread_is_borrowed() ||
	    !(atomic_fetch_and(&entry->traits, ~TRAIT_PERMIT) & TRAIT_PERMIT))
		return 0;
	return LOAD(entry->since);
}

void flight_release_permit(const struct trial *trial, int64_t given)
{
	if (given && trial_stands(trial))
		over(trial->destination, TRAIT_PERMIT, given, given);
}

void flight_timed_out(struct socket_entry *entry, const struct trial *trial)
{
	int64_t given = flight_take_permit(entry);

	outcome_failure(trial, FAILURE_TIMEOUT, 0, 0);
	flight_release_permit(trial, given);
}

void flight_end_attempt(struct attempt *try)
{
	unsigned int traits = flight_traits(try) | (try->paid ? TRAIT_PAID : 0);

	if (traits & (TRAIT_FLYING | TRAIT_PERMIT) && trial_stands(&try->trial))
		over(try->trial.destination, traits, try->began, try->admitted);
	try->permit = false;
}

void flight_end_datagram(struct destination *destination, const struct sent_datagram *one)
{
	unsigned int traits = (one->flying ? TRAIT_FLYING : 0) | (one->permit ? TRAIT_PERMIT : 0) |
	                      (one->paid ? TRAIT_PAID : 0);

	if (traits & (TRAIT_FLYING | TRAIT_PERMIT))
		over(destination, traits, one->at, one->at);
}
