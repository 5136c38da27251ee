/* SPDX-License-Identifier: MIT */
/*
 * Requests on kept connections: one that answers a reply of failure is an attempt like a connect.
 * Here the request is seen before anything is decided. One whose fingerprint is that of a failed
 * request is a retry, whatever connection it goes by; where fingerprints are not known (nothing had
 * failed, so none were taken) the request that follows the failed one on its connection is taken
 * for it.
 */
#include "conn/kept.h"

#include "budget/allowance.h"
#include "budget/budget_wait.h"
#include "conn/attempt.h"
#include "conn/flight.h"
#include "conn/judging.h"
#include "dest/answer_time.h"
#include "dest/demand.h"
#include "dest/profile.h"
#include "dest/tries.h"
#include "region/counters.h"
#include "region/state.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>

/* Failures since the last success from which nothing tells other requests from one with a nonce, or
 * a date, in each try. */
#define NONCES            20
#define NONCES_UNANSWERED 1 /* where nothing was answered in the last ten seconds either */

/* Somebody may ask for the very request that has failed, as whoever checks on a server does. */
static bool is_asked(const struct attempt *try, int64_t failed_at)
{
	const struct destination *destination = try->trial.destination;

	return demand_is_new(destination_slot(destination), failed_at) &&
	       !profile_has_no_excuse(destination, try->began);
}

/* Failures since the last success up to which most of what goes there is answered. */
#define MOSTLY 1

/* Each try takes the thread a second or more, and some are answered: as with a long poll that ends
 * by a status of failure when there is nothing. Its server paces it. */
static bool polls_slowly(const struct attempt *try)
{
	return answer_time_fails_slowly(try->trial.destination) &&
	       allowance_has_answer(&try->account.budget->allowance, try->began);
}

/* To refuse it ends its connection, and where most is answered the next one costs the server more
 * than the request would. But what this thread tries in vain again and again fails by itself. */
static bool is_cheap(const struct attempt *try)
{
	const struct allowance *allowance = &try->account.budget->allowance;

	if (budget_is_barred(&try->account) ||
	    budget_retry_after_wait(&try->account, try->began) > 0)
		return false;
	return polls_slowly(try) ||
	       (!tries_are_vain(try->trial.slot) && LOAD(allowance->failed) <= MOSTLY &&
	        allowance_is_answering(allowance, try->began));
}

static void gather_request_evidence(struct attempt *try, uint32_t traits, uint32_t fingerprint,
                                    struct evidence *evidence)
{
	struct destination *destination = try->trial.destination;
	int64_t horizon = try->account.policy->horizon;
	int64_t failed_at = LOAD(try->account.budget->failed_at);
	struct unanswered *claimed = &try->claimed;
	const struct allowance *allowance = &try->account.budget->allowance;
	bool answers = LOAD(allowance->failed) <=
	               (allowance_has_answer(allowance, try->began) ? NONCES : NONCES_UNANSWERED);

	evidence->quiet = failed_at == 0 || failed_at < try->began - horizon;
	evidence->same = !evidence->quiet && fingerprint &&
	                 failures_claim_request(destination, fingerprint, try->trial.owner, horizon,
	                                        try->began, claimed);
	attempt_tell_claim(try);
	if (evidence->same && budget_retry_after_wait(&try->account, try->began) <= 0 &&
	    failures_is_answered(destination, fingerprint, try->began)) {
		evidence->same = false; /* the claim stands: what failed is not tried again */
		return;
	}
	evidence->kept = evidence->same && is_cheap(try);
	evidence->invited = evidence->same && budget_is_invited(&try->account, try->began);
	if (evidence->quiet || evidence->same) {
		evidence->demand = is_asked(try, evidence->same ? claimed->at : 0);
		return;
	}
	/* Its body is not in hand: nobody can say whether it is the same. */
	if (!fingerprint && traits & TRAIT_PARTIAL)
		return;
	/* Not the one after a failed reply: it begins something. */
	if (!(traits & TRAIT_REPLY_FAILED) ||
	    !failures_claim(destination, try->trial.owner, true, horizon, try->began, claimed)) {
		evidence->other = answers;
		return;
	}
	/* Within TLS the handshake was the answer that the destination has given, perhaps. */
	try->may_be_other = !(traits & TRAIT_CARRIER) && judging_may_be_other(try);
	attempt_tell_claim(try);
	if (fingerprint &&
	    claimed->fingerprint) { /* another request: only its own answers the failure */
		claimed->passed = true;
		failures_add(destination, claimed);
		evidence->other = answers;
		return;
	}
	evidence->demand = is_asked(try, claimed->at);
	evidence->kept = is_cheap(try);
	evidence->invited = budget_is_invited(&try->account, try->began);
	evidence->loop = true;
}

static bool is_kept(const struct socket_entry *entry)
{
	enum socket_state state = LOAD(entry->state);

	return (state == SOCKET_ANSWERED || state == SOCKET_HEAD) &&
	       LOAD(entry->traits) & TRAIT_HTTP;
}

bool attempt_begin_request(struct attempt *try, int fd, uint32_t fingerprint, int flags)
{
	struct socket_entry *entry = socket_find(fd);
	struct evidence evidence = { 0 };
	int saved = errno;

	if (!entry || !shim_ready() || !is_kept(entry))
		return false;
	*try = (struct attempt) {
		.fd = fd,
		.saved_errno = saved,
		.began = monotonic(),
		.is_request = true,
		.no_wait = flags & MSG_DONTWAIT,
	};
	if (!socket_believe(fd, entry) || !trial_of(entry, &try->trial) ||
	    !attempt_open_account(try))
		goto out;
	try->cookie = LOAD(entry->cookie);
	try->trial.owner = thread_id();
	gather_request_evidence(try, LOAD(entry->traits), fingerprint, &evidence);
	try->rule = rule_for(&evidence);
	count_rule(shim_tally, try->trial.destination, (size_t)(try->rule - rules));
	/* A retry that goes free, if it may. */
	try->unclear = try->rule->says == KIND_UNCLEAR && (evidence.invited || evidence.kept);
	try->trial.retry = try->unclear || try->rule->says == KIND_REPEAT ||
	                   (try->rule->says == KIND_UNCLEAR &&
	                    !budget_unclear(&try->account, WORKLOAD_UNKNOWN, try->began));
	if (!try->trial.retry &&
	    !breaker_not_closed(&try->account.budget->breaker, &try->account.policy->breaker))
		goto out;
	attempt_count(try);
	/* A reply that another thread read may be answered by yet another: the request is matched,
	 * not the thread. */
	if (try->claimed.owner == FAILURE_ANYONE)
		try->trial.owner = FAILURE_ANYONE;
	if (fingerprint)
		try->trial.fingerprint = fingerprint;
	errno = saved;
	return true;
out:
	errno = saved;
	return false;
}

void attempt_start_request(struct attempt *try)
{
	struct socket_entry *entry = socket_find(try->fd);
	uint32_t before, traits = TRAIT_AGAIN | (try->trial.retry ? TRAIT_RETRY : 0) |
	                          (try->paid ? TRAIT_PAID : 0) |
	                          (try->trial.counted ? TRAIT_COUNTED : 0) | flight_traits(try);
	const uint32_t of_another = TRAIT_RETRY | TRAIT_PAID | TRAIT_COUNTED | TRAIT_DEMANDED |
	                            TRAIT_PASSED | TRAIT_CLAIMED_COUNTED | TRAIT_CLAIMED_HELD |
	                            TRAIT_REPLY_FAILED | TRAIT_PROBE;

	if (!entry || !(try->deferred || is_kept(entry))) { /* closed meanwhile */
		flight_end_attempt(try);
		return;
	}
	STORE(entry->owner, thread_id());
	STORE(entry->process, thread_process());
	STORE(entry->began, try->began);
	STORE(entry->since, monotonic());
	STORE(entry->number, (uint8_t)lesser(try->trial.number, 255));
	STORE(entry->claimed_number, 0);
	STORE(entry->purse, try->purse);
	before = LOAD(entry->traits);
	while (
	    !atomic_compare_exchange_weak(&entry->traits, &before, (before & ~of_another) | traits))
		;
	STORE_RELEASE(entry->common, 0); /* the rest of it is looked at */
}
