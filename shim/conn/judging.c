/* SPDX-License-Identifier: MIT */
/* The evidence on an attempt when it begins, the rule that this leads to, and how it is counted. */
#include "conn/judging.h"

#include "budget/budget_wait.h"
#include "dest/answer_time.h"
#include "dest/demand.h"
#include "dest/handed.h"
#include "dest/lineage_evidence.h"
#include "dest/profile.h"
#include "dest/tries.h"
#include "region/counters.h"
#include "region/state.h"
#include "report/record.h"
#include "report/refresh.h"
#include "report/report.h"
#include "sys/cell.h"
#include "sys/thread.h"

/* Failover among the addresses of one name. Either another address is known to be bad and this one
 * is not: bad is the one whose failure this attempt answers, or, where it answers none because the
 * program tries addresses side by side (RFC 8305), the one that failed last. Or this one is bad,
 * and another is well: the program begins each round of addresses with it. */
static bool is_sweep(const struct attempt *try, const struct name_hit *hit)
{
	const struct destination *destination = try->trial.destination;
	uint32_t good = (uint32_t)LOAD(destination->good_place);
	uint32_t bad = try->claimed.place;

	if (!bad)
		bad = (uint32_t)LOAD(destination->bad_place);
	if (!hit->place || !bad)
		return false;
	return bad != hit->place ? hit->untried : good && good != hit->place;
}

static bool answers(const struct attempt *try)
{
	return allowance_is_answering(&try->account.budget->allowance, try->began);
}

/* After one failure of a destination that answers, this may be its thread's next work as well. Of
 * failures that are replies requests tell. */
static bool may_be_next(const struct attempt *try)
{
	bool replied = LOAD(try->trial.destination->last_failure) == FAILURE_STATUS;

	return (replied || LOAD(try->account.budget->allowance.failed) <= 1) && answers(try) &&
	       budget_retry_after_wait(&try->account, try->began) <= 0;
}

/* Failures for each answer up to which other work may fare better than what failed. */
#define SERVES 8

/* Of one that has answered next to nothing, other work would fare no better. On a kept connection
 * few answers are counted, and one is enough. Within TLS each handshake was an answer. */
static bool serves_others(const struct attempt *try)
{
	const struct destination *destination = try->trial.destination;
	uint64_t answers = (uint64_t)LOAD(destination->tally.successes);
	uint64_t failures = 0; /* what others wrote there may be anything */

	if (try->is_request)
		return answers > 0;
	for (int i = 0; i < FAILURE_COUNT; i++)
		failures += (uint64_t)LOAD(destination->tally.failures[i]);
	if (profile_carries(destination))
		return answers > failures;
	return answers > 0 && answers >= failures / SERVES;
}

/* This thread has had other work there since then, and nearly all of what is new is answered. */
static bool has_other_work(const struct destination *destination, int64_t since)
{
	return profile_is_mixed(destination, thread_id(), since) &&
	       profile_answers_new(destination);
}

bool judging_may_be_other(const struct attempt *try)
{
	const struct destination *destination = try->trial.destination;
	const struct unanswered *claimed = &try->claimed;

	if (try->repeats || !serves_others(try))
		return false;
	return claimed->passed || (claimed->number == 1 && !claimed->refused &&
	                           !profile_tries_again(destination, 1, false));
}

/* Each try takes its thread a second, and others are answered meanwhile: that spins nowhere. It may
 * be a long poll, which ends so as a rule, and goes within what the destination answers. */
static bool waits_long(const struct attempt *try)
{
	const struct destination *destination = try->trial.destination;

	return LOAD(destination->last_failure) == FAILURE_TIMEOUT &&
	       answer_time_fails_slowly(destination) && answers(try);
}

/* We refused its last two tries, and the destination answers. A thread that is refused for ever
 * loses more time than a failure would cost it, and serves less than without any retry. But what
 * this thread tries in vain again and again fails by itself, and not because its destination does:
 * where 60 % fail one thread in two thousand comes so far. Its own failures are counted, and not
 * the tries of one request: what it does next may be another, and a refusal proves nothing of
 * either. Where the server has asked for a pause, nothing goes at a place where the program is
 * known to try again: the repeat would take the leave of the work after it. Datagrams are left
 * out: their sender is told nothing, and goes on. */
static bool has_been_denied(const struct attempt *try, uint32_t slot)
{
	const struct unanswered *claimed = &try->claimed;

	if (try->is_datagram || !tries_is_denied(slot) || tries_are_vain(slot) || !answers(try) ||
	    budget_is_barred(&try->account))
		return false;
	return budget_retry_after_wait(&try->account, try->began) <= 0 ||
	       (serves_others(try) &&
	        !profile_tries_again(try->trial.destination, claimed->number, claimed->refused));
}

/* This thread has other work there as well, and nearly all of what is new there is answered: what
 * it tries again and again fails by itself. A refusal would meet the one as often as the other.
 * Before that is known its pause tells: what comes sooner is not what it tries again. */
static bool is_mixed(const struct attempt *try, bool returns)
{
	const struct destination *destination = try->trial.destination;
	int64_t since = try->began - (returns ? NS_PER_S : ALLOWANCE_WINDOW);

	return !try->is_datagram && (try->claimed.early || has_other_work(destination, since)) &&
	       allowance_is_answering_mixed(&try->account.budget->allowance, try->began) &&
	       !budget_is_barred(&try->account);
}

/* What those say that share the budget. */
static void gather_lineage(const struct attempt *try, uint32_t slot, bool returns,
                           struct evidence *evidence)
{
	enum lineage lineage =
	    lineage_of(try->trial.destination, slot, try->account.policy->horizon, try->began);
	bool answering = allowance_is_answering_slowly(&try->account.budget->allowance, try->began);

	if (answering && !returns && lineage_is_worker())
		lineage =
		    lineage_of_worker(lineage, try->claimed.number > 0 || try->claimed.passed);
	lineage_evidence(lineage, answering, returns, LOAD(try->account.budget->streak) > 0,
	                 evidence);
}

/* Whoever was refused since then still waits: in this streak; and where a way back from an outage
 * has begun, in that outage, which the failures on the way do not end. Else each of a backlog would
 * be new work on the way back. */
static int64_t refused_since(const struct account *account, int64_t now)
{
	return ramp_is_wanted(&account->budget->ramp, now) ? now - account->policy->horizon
	                                                   : LOAD(account->budget->began_at);
}

/* After a refusal it is known less often, since little of what follows goes and is seen: a thread
 * that has long tried in vain does what it did. */
static bool tries_on(const struct attempt *try, uint32_t slot)
{
	return profile_tries_again(try->trial.destination, try->claimed.number,
	                           try->claimed.refused) ||
	       (try->claimed.refused && tries_are_vain(slot));
}

/* Tries after which a program that gives its work up then is taken for one that does not storm. */
#define FEW_TRIES 3

/* Of what the server has put off not as many go. */
static enum workload workload_of(const struct attempt *try, bool mixed)
{
	if (budget_retry_after_wait(&try->account, try->began) > 0)
		return WORKLOAD_UNKNOWN;
	if (mixed)
		return WORKLOAD_MIXED;
	return profile_goes_on(try->trial.destination, FEW_TRIES, false) ? WORKLOAD_BOUNDED
	                                                                 : WORKLOAD_UNKNOWN;
}

/* Of a thread that serves several connections at a time: whose request its attempt is for cannot be
 * told, but how many it made there while the destination answered. A loop beside that work, which
 * then had a connection for long, has next to no part in it. */
static bool is_asked(const struct attempt *try, bool stuck)
{
	return demand_serves_many() && !stuck && demand_served(try->began) > 0 &&
	       allowance_is_as_before(&try->account.budget->allowance, try->began);
}

/* Whether its request repeats one is seen only when that is sent (conn/feedback.h). */
static void gather_evidence(struct attempt *try, uint32_t slot, const struct name_hit *hit,
                            struct evidence *evidence)
{
	struct destination *destination = try->trial.destination;
	const struct policy *policy = try->account.policy;
	int64_t failed_at = LOAD(try->account.budget->failed_at);
	bool stuck = try->stuck = tries_loop(slot, refused_since(&try->account, try->began));
	/* Who was throttled in an outage is on his way back as long as there is one. */
	bool returns = ramp_is_on(&try->account.budget->ramp, try->began);
	bool asks, mixed, polls, waits;

	handed_note_try(demand_served(try->began), try->began);
	evidence->same = try->repeats;
	asks = !stuck && !(lineage_is_worker() && tries_knows(slot));
	failures_claim(destination, thread_id(), asks, policy->horizon, try->began, &try->claimed);
	try->may_be_other = judging_may_be_other(try);
	attempt_tell_claim(try);
	mixed = is_mixed(try, returns);
	try->workload = workload_of(try, mixed);
	try->demanded =
	    demand_is_new(slot, try->claimed.number > 0 ? try->claimed.at : failed_at) &&
	    !demand_serves_many();
	try->asked = is_asked(try, stuck);
	evidence->asked = try->asked;
	evidence->demand = try->demanded && !profile_has_no_excuse(destination, try->began);
	evidence->sweep = is_sweep(try, hit) || tries_sweep(slot, policy->horizon, try->began);
	evidence->other_work = try->claimed.passed;
	polls = budget_retry_after_wait(&try->account, try->began) <= 0 &&
	        failures_is_answered(destination, try->claimed.fingerprint, try->began);
	waits = !returns && waits_long(try);
	evidence->again = try->claimed.number > 0 && !polls && !waits && tries_on(try, slot);
	evidence->loop = !polls && !waits && stuck &&
	                 (returns || (LOAD(try->account.budget->streak) > 0 && !may_be_next(try)));
	/* Not past the ramp: all would come at the first success. */
	evidence->denied =
	    !returns && (evidence->again || evidence->loop) && has_been_denied(try, slot);
	evidence->mixed = mixed && (evidence->again || evidence->loop);
	evidence->invited = !evidence->sweep && (evidence->again || evidence->loop) &&
	                    budget_is_invited(&try->account, try->began);
	gather_lineage(try, slot, returns, evidence);
}

/* Of a destination that has failed lately. Apart, so that a quiet one needs no frame. */
static __attribute__((noinline)) void judge(struct attempt *try, uint32_t slot,
                                            const struct name_hit *hit)
{
	struct evidence evidence = { 0 };

	gather_evidence(try, slot, hit, &evidence);
	try->rule = rule_for(&evidence);
	count_rule(shim_tally, try->trial.destination, (size_t)(try->rule - rules));
	try->lineage = evidence.lineage && try->rule->says == KIND_REPEAT;
	/* What is unclear is a first try if it may go; unless a failure of its own thread, or of
	 * nobody, is unanswered, or all speaks for a repeat: then it counts as a retry, and goes
	 * all the same if it may. */
	try->unclear =
	    try->rule->says == KIND_UNCLEAR &&
	    (try->claimed.number > 0 || evidence.denied || evidence.mixed || evidence.same_command);
	try->trial.retry = try->unclear || try->rule->says == KIND_REPEAT ||
	                   (try->rule->says == KIND_UNCLEAR && !try->asked &&
	                    !budget_unclear(&try->account, try->workload, try->began));
}

/* quick: as try->quick, where that is known when this is compiled. */
static inline __attribute__((always_inline)) void note(struct attempt *try, bool quick)
{
	struct destination *destination = try->trial.destination;

	try->trial.number = 1;
	try->trial.began = try->began;
	/* Nothing had failed: it begins something. */
	try->trial.counted = quick || (try->claimed.number == 0 && !try->claimed.passed);
	count(&destination->tally.attempts);
	count(&shim_tally->attempts);
	if (LOAD(try->account.budget->streak) > 0 ||
	    (!quick &&
	     breaker_not_closed(&try->account.budget->breaker, &try->account.policy->breaker)))
		count(&destination->untold[try->account.policy->mode == MODE_OBSERVE].attempts);
	if (LOAD(destination->exhausted) != 0)
		outcome_refilled(destination, &try->account, try->label, try->began);
	if (!quick && try->trial.retry) {
		/* Until it says otherwise, for what the failed one was for. */
		try->trial.fingerprint = try->claimed.fingerprint;
		try->trial.number = try->claimed.number + 1;
		try->trial.counted = try->claimed.counted;
		announce(try->began);
		refresh(try->began);
		count(&destination->tally.retries);
		count(&shim_tally->retries);
	} else {
		budget_first_try(&try->account, try->began);
	}
	if (try->config->log.attempts) {
		struct record record = {
			.event = EVENT_ATTEMPT,
			.destination = destination,
			.policy = try->label,
			.address = try->address,
			.address_len = try->len,
			.retry = try->trial.retry,
			.why = try->rule ? try->rule->name : NULL,
			.thread = thread_id(),
		};

		report(&record, try->began);
	}
}

void attempt_count(struct attempt *try)
{
	note(try, false);
}

void attempt_judge(struct attempt *try, const struct name_hit *hit)
{
	uint32_t slot = try->trial.slot;

	if (budget_is_quiet(&try->account, try->began)) {
		try->rule = RULE_QUIET;
		try->quick = try->account.policy->plain;
		demand_tried(slot);
	} else {
		judge(try, slot, hit);
	}
	if (try->rule->says == KIND_NEW && try->fd >= 0) /* a loop looks its server up each time */
		tries_new();
	tries_note(slot, try->began);
	if (try->quick)
		note(try, true);
	else
		note(try, false);
}
