/* SPDX-License-Identifier: MIT */
/* What a request tells of the guess that was made when its connection began. */
#include "conn/feedback.h"

#include "config/current.h"
#include "conn/attempt.h"
#include "conn/outcome.h"
#include "conn/pieces.h"
#include "dest/failures.h"
#include "dest/fingerprint.h"
#include "dest/lineage.h"
#include "dest/profile.h"
#include "dest/tries.h"
#include "region/state.h"
#include "sys/cell.h"
#include "sys/memory.h"
#include "sys/real.h"
#include "sys/thread.h"

/* The request is one that has failed. */
static void is_again(struct socket_entry *entry, struct destination *destination,
                     const struct unanswered *failure)
{
	uint32_t number = failure->number;
	bool another = failure->owner != FAILURE_ANYONE && failure->owner != LOAD(entry->owner);

	/* Two threads may ask for the same, each for the first time; unless threads are known to
	 * answer each other's failures. */
	if (failure->counted && (!another || profile_is_shared(destination)))
		profile_tried_again(destination, number, failure->refused);
	/* After a connect that was throttled most of the pause is ours. Of one that was refused
	 * nobody knows what it was for: what comes too soon after it has paused before it. */
	if (failure->counted && !failure->held &&
	    !(failure->refused && LOAD(entry->traits) & TRAIT_PASSED))
		profile_paused(destination, LOAD(entry->began) - failure->at);
	/* A newcomer that takes up what one that has gone left does not show that those who are
	 * there answer for each other. */
	if (failure->owner != FAILURE_ANYONE &&
	    !(another && lineage_is_worker() && failures_is_left(failure)))
		profile_answered(destination, another);
	STORE(entry->number, (uint8_t)(number < 255 ? number + 1 : number));
	socket_mark(entry, TRAIT_RETRY);
	if (failure->counted)
		socket_mark(entry, TRAIT_COUNTED);
	else
		atomic_fetch_and(&entry->traits, (uint32_t)~TRAIT_COUNTED);
}

/* The request is new. */
static void is_new(struct socket_entry *entry)
{
	STORE(entry->number, 1);
	socket_mark(entry, TRAIT_COUNTED);
}

/* The attempt was taken for a retry, and was none. */
static void pay_back(struct socket_entry *entry, struct destination *destination)
{
	unsigned int traits =
	    atomic_fetch_and(&entry->traits, (uint32_t) ~(TRAIT_RETRY | TRAIT_PAID));
	const struct config *config = config_current();
	enum budget_source source = LOAD(entry->purse) & 1 ? SOURCE_RESERVE : SOURCE_OWN;
	struct account account;
	int64_t cost;

	if (!(traits & TRAIT_RETRY))
		return;
	count(&destination->tally.mistaken);
	count(&shim_tally->mistaken);
	/* Another configuration may have another purse for it, which has not paid. */
	if (!(traits & TRAIT_PAID) || LOAD(entry->purse) != attempt_purse(config, source))
		return;
	destination_account(destination, config, &account);
	/* Which of the two it was is not known any more, and no token may come from nowhere. */
	cost = account.policy->cost;
	cost = lesser(cost, account.policy->cost_timeout);
	budget_refund(&account, cost, source);
}

/* No request has been answered there, and none has failed. */
static bool is_first_of_all(const struct destination *destination)
{
	return LOAD(destination->budget.failed_at) == 0 &&
	       LOAD(destination->tally.answered[0]) == 0;
}

/* True if a request on this connection would tell something. */
static bool is_asked_for(const struct socket_entry *entry)
{
	enum socket_state state = LOAD(entry->state);
	struct account account;
	struct trial trial;
	int64_t failed_at;

	if ((state != SOCKET_OPEN && state != SOCKET_CONNECTING && state != SOCKET_ANSWERED &&
	     state != SOCKET_HEAD &&
	     !(state == SOCKET_ASKED && LOAD(entry->traits) & TRAIT_PARTIAL)) ||
	    !trial_of(entry, &trial))
		return false;
	failed_at = LOAD(trial.destination->budget.failed_at);
	if (failed_at == 0)
		return is_first_of_all(trial.destination);
	destination_account(trial.destination, config_current(), &account);
	return failed_at >= monotonic() - account.policy->horizon;
}

uint32_t feedback_look(struct socket_entry *entry, const void *data, size_t n)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)data, .iov_len = n };

	return is_asked_for(entry) ? pieces_look(entry, &part, 1) : 0;
}

uint32_t feedback_look_parts(struct socket_entry *entry, const struct iovec *parts, size_t count)
{
	return is_asked_for(entry) && memory_is_there(parts, count * sizeof(*parts))
	           ? pieces_look(entry, parts, count)
	           : 0;
}

uint32_t feedback_look_message(struct socket_entry *entry, const struct msghdr *message)
{
	return is_asked_for(entry) && memory_is_there(message, sizeof(*message))
	           ? feedback_look_parts(entry, message->msg_iov, message->msg_iovlen)
	           : 0;
}

struct unanswered feedback_claimed(const struct socket_entry *entry)
{
	unsigned int traits = LOAD(entry->traits);

	return (struct unanswered) {
		.owner = LOAD(entry->claimed_owner),
		.place = LOAD(entry->claimed_place),
		.at = LOAD(entry->claimed_at),
		.fingerprint = LOAD(entry->claimed_fingerprint),
		.number = LOAD(entry->claimed_number),
		.counted = traits & TRAIT_CLAIMED_COUNTED,
		.held = traits & TRAIT_CLAIMED_HELD,
		.refused = LOAD(entry->claimed_refused),
		.passed = true,
	};
}

bool feedback_first(struct socket_entry *entry, uint32_t fingerprint)
{
	unsigned int traits = LOAD(entry->traits);
	struct unanswered claimed = feedback_claimed(entry);
	struct unanswered other;
	struct account account;
	struct trial trial;
	bool same;

	if (fingerprint == 0 || !trial_of(entry, &trial))
		return false;
	if (is_first_of_all(trial.destination)) {
		STORE(entry->claimed_fingerprint, fingerprint);
		return false;
	}
	STORE(entry->fingerprint, fingerprint);
	same = claimed.number && claimed.fingerprint == fingerprint;
	if (traits & TRAIT_DEMANDED && claimed.fingerprint)
		profile_excused(trial.destination, !same, monotonic());
	if (same) {
		is_again(entry, trial.destination, &claimed);
		return true;
	}
	destination_account(trial.destination, config_current(), &account);
	if (failures_claim_request(trial.destination, fingerprint, trial.owner,
	                           account.policy->horizon, LOAD(entry->began), &other)) {
		if (traits & TRAIT_RETRY)
			failures_add(trial.destination, &claimed);
		is_again(entry, trial.destination, &other);
		return true;
	}
	if (traits & TRAIT_RETRY && !claimed.fingerprint) {
		if (traits & TRAIT_PASSED || failures_are_known(trial.destination))
			profile_mixed(trial.destination, thread_id(), monotonic());
		return false; /* nothing is known of what it was taken to answer */
	}
	is_new(entry);
	if (traits & (TRAIT_RETRY | TRAIT_PASSED)) /* beside what failed */
		profile_mixed(trial.destination, thread_id(), monotonic());
	if (!(traits & TRAIT_RETRY))
		return false;
	/* Once for each failure: in an event loop much may pass before it is tried again. What we
	 * throttled counts as a try: a program with a number of tries gives up after as many, and
	 * if its next request were taken for a retry, nothing but a token would let it out again.
	 */
	if (claimed.counted && !(traits & TRAIT_PASSED))
		profile_went_on(trial.destination, claimed.number, claimed.refused);
	failures_add(trial.destination, &claimed);
	pay_back(entry, trial.destination);
	return false;
}

/* Of a connection that answers no failure: its first request, if that was the first of all. */
static uint32_t of_the_first(const struct socket_entry *entry)
{
	return LOAD(entry->claimed_number) == 0 ? LOAD(entry->claimed_fingerprint) : 0;
}

void feedback_put_off(struct socket_entry *entry)
{
	struct trial trial;

	if (trial_of(entry, &trial) && is_first_of_all(trial.destination))
		STORE(entry->fingerprint, of_the_first(entry));
}

bool feedback_wants_answer(const struct socket_entry *entry)
{
	uint32_t fingerprint = LOAD(entry->fingerprint);

	return (fingerprint ? fingerprint : of_the_first(entry)) & FINGERPRINT_HEAD;
}

void feedback_next(struct socket_entry *entry, uint32_t fingerprint)
{
	const uint32_t of_another = TRAIT_RETRY | TRAIT_PAID | TRAIT_REPLY_FAILED;

	STORE(entry->fingerprint, fingerprint);
	STORE(entry->claimed_number, 0);
	if (LOAD(entry->traits) & of_another)
		atomic_fetch_and(&entry->traits, ~of_another);
	is_new(entry);
}

void feedback_late(struct socket_entry *entry, uint32_t fingerprint)
{
	struct unanswered other;
	struct account account;
	struct trial trial;

	STORE(entry->fingerprint, fingerprint);
	if (!trial_of(entry, &trial))
		return;
	destination_account(trial.destination, config_current(), &account);
	if (failures_claim_request(trial.destination, fingerprint, trial.owner,
	                           account.policy->horizon, LOAD(entry->began), &other))
		is_again(entry, trial.destination, &other);
}
