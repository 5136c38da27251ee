/* SPDX-License-Identifier: MIT */
/* What a request tells of the guess that was made when its connection began. */
#include "track/hindsight.h"

#include "hook/real.h"
#include "track/failures.h"
#include "track/habit.h"
#include "track/outcome.h"
#include "track/request.h"
#include "track/state.h"
#include "track/thread.h"

#define LOAD(place)         atomic_load_explicit(&(place), memory_order_relaxed)
#define STORE(place, value) atomic_store_explicit(&(place), value, memory_order_relaxed)

/* The request is the one that failed after `run` tries, the last by this owner. */
static void is_again(struct socket_entry *entry, struct destination *destination, uint32_t run,
                     int32_t owner)
{
	habit_tried_again(destination, run);
	if (owner != FAILURE_ANYONE)
		habit_answered(destination, owner != LOAD(entry->owner));
	STORE(entry->run, (uint8_t)(run < 255 ? run + 1 : run));
	atomic_fetch_or(&entry->traits, TRAIT_RETRY);
}

/* The attempt was taken for a retry, and was none. */
static void pay_back(struct socket_entry *entry, struct destination *destination)
{
	unsigned int traits =
	    atomic_fetch_and(&entry->traits, (uint16_t) ~(TRAIT_RETRY | TRAIT_PAID));
	struct account account;
	int64_t cost;

	if (!(traits & TRAIT_RETRY))
		return;
	count(&destination->tally.mistaken);
	count(&shim_region->tally.mistaken);
	if (!(traits & TRAIT_PAID))
		return;
	destination_account(destination, config_current(), &account);
	cost = budget_cost(account.policy, (enum failure)LOAD(destination->last_failure));
	budget_refund(&account, cost);
}

/* Moments of failures are kept to 4 ms. One that stands again must be older than whatever this
 * attempt meets, or its own next try might be held against that. */
#define OLDER (10 * NS_PER_MS)

/* The failure that the attempt was taken to answer is not answered. */
static void stands(const struct socket_entry *entry, struct destination *destination)
{
	struct unanswered failure = {
		.owner = LOAD(entry->answered_owner),
		.place = LOAD(entry->answered_place),
		.at = LOAD(entry->since) - OLDER,
		.print = LOAD(entry->answered_print),
		.run = LOAD(entry->answered_run),
	};

	failures_add(destination, &failure);
}

void hindsight_first(struct socket_entry *entry, const void *data, size_t n)
{
	uint32_t print = request_print(data, n);
	uint32_t answered = LOAD(entry->answered_print), run = LOAD(entry->answered_run);
	bool guessed = LOAD(entry->traits) & TRAIT_RETRY;
	struct unanswered other;
	struct account account;
	struct trial trial;

	if (print == 0 || !trial_of(entry, &trial))
		return;
	STORE(entry->print, print);
	if (run && answered == print) {
		is_again(entry, trial.destination, run, LOAD(entry->answered_owner));
		return;
	}
	destination_account(trial.destination, config_current(), &account);
	if (failures_claim_request(trial.destination, print, account.policy->horizon, monotonic(),
	                           &other)) {
		if (guessed)
			stands(entry, trial.destination);
		is_again(entry, trial.destination, other.run, other.owner);
		return;
	}
	if (!run || !answered) /* first, or nothing is known of what it was taken to answer */
		return;
	habit_went_on(trial.destination, run);
	if (guessed)
		stands(entry, trial.destination);
	pay_back(entry, trial.destination);
	STORE(entry->run, 1);
}

void hindsight_next(struct socket_entry *entry, const void *data, size_t n)
{
	STORE(entry->print, request_print(data, n));
	STORE(entry->run, 1);
	STORE(entry->answered_run, 0);
}
