/* SPDX-License-Identifier: MIT */
/* What outcomes do. */
#include "conn/outcome.h"
#include "budget/budget_wait.h"
#include "budget/streak.h"

#include "config/current.h"
#include "dest/answer_time.h"
#include "dest/failures.h"
#include "dest/lineage.h"
#include "dest/profile.h"
#include "dest/tries.h"
#include "region/counters.h"
#include "region/state.h"
#include "region/steering.h"
#include "report/record.h"
#include "report/refresh.h"
#include "report/report.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>
#include <string.h>

/* A streak of this age is an outage, and no work that fails among work that does not. */
#define FORGIVEN NS_PER_S

enum failure failure_of(int err, bool is_unix)
{
	switch (err) {
	case ECONNREFUSED:
		return FAILURE_REFUSED;
	case ENOENT:
		return is_unix ? FAILURE_REFUSED : FAILURE_NONE;
	case EAGAIN:
		return is_unix ? FAILURE_REFUSED : FAILURE_LOCAL;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENETDOWN:
	case EHOSTDOWN:
	case ENONET:
	case ENOPROTOOPT: /* an ICMP error, as the two before */
	case EPERM:
		return FAILURE_UNREACHABLE;
	case ETIMEDOUT:
		return FAILURE_TIMEOUT;
	case ECONNRESET:
	case EPIPE:
		return FAILURE_RESET;
	case EADDRNOTAVAIL:
	case ENOBUFS:
		return FAILURE_LOCAL;
	default:
		return FAILURE_NONE;
	}
}

bool trial_of(const struct socket_entry *entry, struct trial *trial)
{
	trial->generation = LOAD(entry->generation);
	trial->slot = LOAD(entry->slot);
	trial->destination = destination_at(trial->slot, trial->generation);
	trial->owner = LOAD(entry->owner);
	trial->place = LOAD(entry->place);
	trial->began = LOAD(entry->since);
	trial->fingerprint = LOAD(entry->fingerprint);
	trial->number = LOAD(entry->number);
	trial->counted = LOAD(entry->traits) & TRAIT_COUNTED;
	trial->retry = LOAD(entry->traits) & TRAIT_RETRY;
	trial->other = trial->number == 1 && LOAD(entry->traits) & TRAIT_PASSED;
	trial->probe = LOAD(entry->traits) & TRAIT_PROBE;
	trial->served =
	    (LOAD(entry->traits) & (TRAIT_SERVED | TRAIT_HTTP | TRAIT_AGREES)) == TRAIT_SERVED;
	trial->mute = trial->unmet = false;
	return trial->destination;
}

bool trial_stands(const struct trial *trial)
{
	return destination_at(destination_slot(trial->destination), trial->generation);
}

static struct unanswered unanswered_of(const struct trial *trial, int64_t now)
{
	return (struct unanswered) {
		.owner = trial->owner == thread_id() ? trial->owner : FAILURE_ANYONE,
		.place = trial->place,
		.at = now,
		.fingerprint = trial->fingerprint,
		.number = trial->number,
		.counted = trial->counted,
	};
}

void outcome_failure(const struct trial *trial, enum failure failure, int err, int eai)
{
	struct destination *destination = trial->destination;
	const struct config *config = config_current();
	struct account account;
	struct unanswered unanswered;
	int64_t now = monotonic(), began = trial->began ? trial->began : now, drawn;
	enum breaker_change change;
	int saved = errno, index;
	bool begins;

	if (!trial_stands(trial))
		return;
	if (steering_waits(shim_region)) {
		refresh(now);
		config = config_current();
	}
	if (shim_scope_note) /* a program of one try would write no record that tells it */
		announce(now);
	index = destination_account(destination, config, &account);
	if (err)
		STORE(destination->last_errno, err);
	if (eai)
		STORE(destination->last_eai, eai);
	STORE(destination->last_failure, failure);
	STORE(destination->last_unmet, trial->unmet || trial->mute || failure == FAILURE_LOOKUP);
	count(&destination->tally.failures[failure]);
	count(&shim_tally->failures[failure]);
	count_failed(shim_tally, destination, trial->retry);
	count(&shim_region->changes);
	answer_time_failed(destination, trial->began && !trial->mute ? now - trial->began : -1);
	unanswered = unanswered_of(trial, now);
	names_failed(trial->place, now);
	STORE(destination->bad_place, trial->place);
	if (trial->place && (uint32_t)LOAD(destination->good_place) == trial->place)
		STORE(destination->good_place, 0);
	failures_add(destination, &unanswered);
	if (trial->fingerprint && (!trial->retry || trial->other))
		profile_new_ended(destination, false);
	lineage_failed(destination, began, now);
	begins = LOAD(account.budget->streak) <= 0;
	if (trial->owner == thread_id())
		tries_failed(destination_slot(destination), now);
	tries_ended(destination_slot(destination), false);
	drawn = LOAD(account.budget->drawn_at);
	if (trial->served)
		allowance_note_answer(&account.budget->allowance, began);
	budget_answered_before(&account, LOAD(destination->tally.successes), now);
	budget_failure(&account, trial->retry, began, now, thread_random());
	if (LOAD(account.budget->drawn_at) != drawn)
		count_delay(shim_tally, destination, LOAD(account.budget->last_delay));
	if (begins)
		count(&destination->untold[account.policy->mode == MODE_OBSERVE].attempts);
	if (trial->mute)
		budget_failed_before(&account, trial->began, now);
	change = breaker_failed(&account.budget->breaker, &account.policy->breaker, trial->probe,
	                        now, thread_random());
	outcome_breaker(destination, &account, config->labels[index], change, now);
	errno = saved;
}

static void report_breaker(struct destination *destination, const struct account *account,
                           const char *policy, enum breaker_change change, int64_t now)
{
	static const enum event events[] = {
		[BREAKER_OPENED] = EVENT_BREAKER_OPEN,
		[BREAKER_HALF_OPENED] = EVENT_BREAKER_HALF_OPEN,
		[BREAKER_CLOSED] = EVENT_BREAKER_CLOSED,
	};
	struct record record = {
		.event = events[change],
		.destination = destination,
		.policy = policy,
		.streak = LOAD(account->budget->streak),
		.process_tokens = bucket_level(account->process, account->process_rule, now),
		.process_capacity = account->process_rule->capacity,
	};

	record.tokens = budget_level(account, now, &record.capacity);
	if (change == BREAKER_OPENED) {
		record.failure = (enum failure)LOAD(destination->last_failure);
		record.wait =
		    breaker_wait(&account->budget->breaker, &account->policy->breaker, now);
	}
	report(&record, now);
}

void outcome_breaker(struct destination *destination, const struct account *account,
                     const char *policy, enum breaker_change change, int64_t now)
{
	if (change == BREAKER_AS_IT_WAS)
		return;
	count_breaker(shim_tally, destination, change);
	report_breaker(destination, account, policy, change, now);
}

void outcome_refilled(struct destination *destination, const struct account *account,
                      const char *policy, int64_t now)
{
	int exhausted = (int)LOAD(destination->exhausted);
	struct record record = {
		.event = EVENT_REFILLED,
		.destination = destination,
		.policy = policy,
		.exhausted = exhausted,
	};

	if (exhausted == 0 || !budget_is_refilled(account, exhausted, now))
		return;
	record.tokens = budget_level(account, now, &record.capacity);
	record.process_tokens = bucket_level(account->process, account->process_rule, now);
	record.process_capacity = account->process_rule->capacity;
	report(&record, now);
}

void outcome_success(const struct trial *trial)
{
	struct destination *destination = trial->destination;
	const struct config *config = config_current();
	struct account account;
	int index = destination_account(destination, config, &account);
	int64_t now = monotonic(), began = LOAD(account.budget->began_at), streak;
	enum breaker_change change;

	tries_ended(destination_slot(destination), true);
	if (trial->retry)
		budget_retry_answered(&account, now - trial->began);
	if (trial->fingerprint && (!trial->retry || trial->other))
		profile_new_ended(destination, true);
	lineage_answered(destination);
	streak = budget_success(&account, now);
	change = breaker_succeeded(&account.budget->breaker, &account.policy->breaker, trial->probe,
	                           now);

	/* What an outage left behind is owed by nobody: a blip of a second costs a second. */
	if (streak > 0 && began < now - FORGIVEN)
		failures_forgive(destination);
	names_answered(trial->place);
	STORE(destination->good_place, trial->place);
	count(&destination->tally.successes);
	count(&shim_tally->successes);
	if (streak > 0) {
		count_recovery(shim_tally, destination, (int64_t)((uint64_t)now - (uint64_t)began));
		struct record record = {
			.event = EVENT_RECOVERED,
			.destination = destination,
			.policy = config->labels[index],
			.in_observe = account.policy->mode == MODE_OBSERVE,
			.streak = streak,
			.since = began > 0 && began < now ? now - began : 0,
			.tokens = bucket_level(account.process, account.process_rule, now),
		};

		record.process_tokens = record.tokens;
		record.process_capacity = account.process_rule->capacity;
		record.tokens = budget_level(&account, now, &record.capacity);
		report(&record, now);
	}
	outcome_breaker(destination, &account, config->labels[index], change, now);
	outcome_refilled(destination, &account, config->labels[index], now);
}
