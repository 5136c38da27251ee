/* SPDX-License-Identifier: MIT */
/* What the program is told of a verdict, what the log says, and what is counted. */
#include "pace/result.h"

#include "budget/budget_wait.h"
#include "conn/flight.h"
#include "conn/settle.h"
#include "conn/tls_session.h"
#include "dest/rules.h"
#include "region/counters.h"
#include "report/record.h"
#include "report/report.h"
#include "sys/cell.h"
#include "sys/real.h"

#include <errno.h>
#include <netdb.h>

/* A datagram goes whatever is decided, unless the file asks for more. */
static bool passes(const struct attempt *try)
{
	return try->passes || (try->is_datagram && try->account.policy->udp_deny == UDP_PASS) ||
	       (try->is_request && try->account.policy->http_deny == HTTP_DENY_PASS);
}

static bool in_observe(const struct attempt *try)
{
	return try->account.policy->mode == MODE_OBSERVE;
}

struct untold *result_untold(const struct attempt *try)
{
	return &try->trial.destination->untold[in_observe(try)];
}

/* Which tokens cannot pay for it. */
static int exhausted_by(const struct attempt *try, int64_t now)
{
	int64_t cost =
	    budget_cost(try->account.policy, (enum failure)try->trial.destination->last_failure);

	return try->trial.retry ? budget_is_exhausted(&try->account, cost, now) : 0;
}

void result_say(const struct attempt *try, enum event event, int err, int64_t wait, int64_t now)
{
	const struct account *account = &try->account;
	struct destination *destination = try->trial.destination;
	struct record record = {
		.event = event,
		.destination = destination,
		.policy = try->label,
		.address = try->address,
		.address_len = try->len,
		.failure = (enum failure)destination->last_failure,
		.observe = in_observe(try) || passes(try),
		.in_observe = in_observe(try),
		.streak = account->budget->streak,
		.process_tokens = bucket_level(account->process, account->process_rule, now),
		.process_capacity = account->process_rule->capacity,
		.wait = wait,
		.why = try->rule ? try->rule->name : NULL,
	};
	int64_t began = LOAD(account->budget->began_at);

	if (event == EVENT_THROTTLED) {
		record.due = budget_due(account, 0, now);
		if (record.streak > 0 && began > 0 && began < now)
			record.since = now - began;
	}
	if (event == EVENT_EXHAUSTED)
		record.exhausted = exhausted_by(try, now);
	if (record.streak < 0) /* corrupted */
		record.streak = 0;
	record.source = budget_source(account, now);
	record.tokens = budget_level(account, now, &record.capacity);
	*(try->fd < 0 ? &record.eai : &record.err) = err;
	report(&record, now);
}

/* Which of those that are asked in a row refused it (pace/verdict.c, budget_verdict()). */
static enum decision_reason reason_of(const struct attempt *try, int64_t cost, int64_t now)
{
	const struct account *account = &try->account;

	if (try->over_rate)
		return DECISION_RATE;
	if (try->trial.retry && budget_retry_after_wait(account, now) > 0)
		return DECISION_RETRY_AFTER;
	if (breaker_not_closed(&account->budget->breaker, &account->policy->breaker))
		return DECISION_BREAKER;
	if (ramp_is_on(&account->budget->ramp, now)) /* of a destination that fails it is over */
		return DECISION_RAMP;
	switch (budget_is_exhausted(account, cost, now)) {
	case 0:
		return DECISION_GATE;
	case EXHAUSTED_PROCESS:
		return DECISION_TOKENS;
	default:
		return (enum decision_reason[]) {
			[SOURCE_OWN] = DECISION_TOKENS,
			[SOURCE_LEASE] = DECISION_LEASE,
			[SOURCE_RESERVE] = DECISION_RESERVE,
		}[budget_source(account, now)];
	}
}

void result_keep(const struct attempt *try, enum decision_verdict verdict, int64_t waited,
                 int64_t now)
{
	const struct account *account = &try->account;
	struct destination *destination = try->trial.destination;
	enum failure last = (enum failure)destination->last_failure;
	struct decision decision = {
		.at = now,
		.rule = try->rule ? (int)(try->rule - rules) : -1,
		.verdict = verdict,
		.failure = last,
		.source = budget_source(account, now),
		.streak = account->budget->streak,
		.process_tokens = bucket_level(account->process, account->process_rule, now),
		.waited = waited,
	};
	int64_t limit;

	if (verdict == DECISION_REFUSED && LOAD(shim_region->nonce) != 0 &&
	    decision_is_known(destination, decision.rule, now))
		return;
	decision.tokens = budget_level(account, now, &limit);
	if (verdict == DECISION_REFUSED || verdict == DECISION_WOULD_REFUSE) {
		decision.reason = reason_of(try, budget_cost(account->policy, last), now);
		decision.due = budget_due(account, 0, now);
	}
	decision_put(destination, &decision);
}

void result_throttled(const struct attempt *try, int err, int64_t now)
{
	count(&result_untold(try)->throttled);
	result_say(try, EVENT_THROTTLED, err, 0, now);
}

void result_held(const struct attempt *try, int64_t length)
{
	struct untold *untold = result_untold(try);

	if (!trial_stands(&try->trial)) /* evicted meanwhile: its slot is another's */
		return;
	count(&untold->held);
	if (length > 0)
		atomic_fetch_add_explicit(&untold->waited, length, memory_order_relaxed);
}

int result_errno(const struct attempt *try)
{
	int64_t last = try->trial.destination->last_errno;

	if (try->account.policy->deny_errno)
		return try->account.policy->deny_errno;
	/* Shared memory is clamped to what a connect can end in. */
	return failure_of((int)last, try->is_unix) ? (int)last : ECONNREFUSED;
}

static int last_eai(const struct attempt *try)
{
	switch ((int)atomic_load(&try->trial.destination->last_eai)) {
	case EAI_FAIL:
		return EAI_FAIL;
	case EAI_NONAME:
		return EAI_NONAME;
	default:
		/* EAI_SYSTEM would need the errno that came with it. */
		return EAI_AGAIN;
	}
}

bool result_admitted(struct attempt *try, enum verdict verdict, int64_t waited, int64_t now)
{
	count(&shim_region->changes);
	try->paid = verdict == ADMITTED && try->trial.retry;
	if (try->paid)
		try->purse = attempt_purse(try->config, budget_source(&try->account, now));
	try->admitted = now;
	try->trial.began = now;
	if (verdict == ADMITTED_PROBE)
		TALLY(try, probes);
	if (waited > 0)
		TALLY(try, held);
	count_wait(shim_tally, try->trial.destination, waited);
	if (try->trial.retry)
		result_keep(try,
		            verdict == ADMITTED_PROBE  ? DECISION_WENT_AS_PROBE
		            : verdict == ADMITTED_FREE ? DECISION_WENT_FREE
		                                       : DECISION_WENT,
		            waited, now);
	if (try->account.budget->streak == 1 && try->trial.retry)
		result_say(try, EVENT_RETRYING, 0, waited, now);
	if (waited > 0)
		result_throttled(try, 0, now);
	return true;
}

bool result_refused(struct attempt *try, int err, int64_t waited, int64_t now)
{
	struct untold *untold = result_untold(try);
	bool goes = passes(try), exhausted = exhausted_by(try, now) != 0;

	result_keep(try, goes ? DECISION_WOULD_REFUSE : DECISION_REFUSED, waited, now);
	if (!goes) {
		if (try->trial.retry || !try->over_rate) /* nothing has failed */
			attempt_unanswered(try,
			                   waited > 0 || err == ETIMEDOUT ||
			                       budget_retry_after_wait(&try->account, now) > 0,
			                   now);
		flight_end_attempt(try); /* a first try has been counted when it began */
		if (LOAD(shim_region->identity.scope) != SCOPE_PROCESS)
			crowd_refused(&try->account.budget->crowd, try->lineage, now);
	}
	/* What is in one line of a cache together: another processor may want it in between. */
	TALLY(try, refused);
	count_refused(shim_tally, try->trial.destination, !goes, try->told == EINPROGRESS,
	              exhausted);
	count_wait(shim_tally, try->trial.destination, waited);
	count(try->parked ? &untold->parked : &untold->refused);
	if (exhausted)
		result_say(try, EVENT_EXHAUSTED, 0, waited, now);
	result_throttled(try, err, now);
	return goes;
}

bool result_unsent(struct attempt *try, int err)
{
	try->told = err;
	if (try->trial.retry)
		attempt_unanswered(try, true, try->claimed.at);
	flight_end_attempt(try); /* a first try has been counted when it began */
	return false;
}

/* A request on a kept connection. Its end is one that every client has to stand (RFC 9112 9.3.1):
 * a server may close an idle connection at any time. The next connect is then a retry. */
static bool refused_request(struct attempt *try, int64_t waited, int64_t now)
{
	struct socket_entry *entry = socket_find(try->fd);
	int saved = errno;

	if (try->account.policy->http_deny == HTTP_DENY_CLOSE) {
		/* A TLS server answers the end of the stream, and that answer would be answered by
		 * a reset, which no idle connection meets. */
		real.shutdown(try->fd, session_carries(try->fd) ? SHUT_RD : SHUT_RDWR);
		errno = saved;
		if (entry) {
			socket_mark(entry, TRAIT_REPLY_FAILED);
			socket_move(try->fd, entry, (enum socket_state)atomic_load(&entry->state),
			            ON_CUT);
		}
	} else {
		if (entry && try->deferred) /* what is sent on it next is judged, too */
			socket_mark(entry, TRAIT_REPLY_FAILED);
		try->told = ECONNRESET;
	}
	return result_refused(try, ECONNRESET, waited, now);
}

bool result_refused_now(struct attempt *try, int64_t waited, int64_t now)
{
	if (try->is_request)
		return refused_request(try, waited, now);
	if (!try->is_datagram) /* for which the program is told nothing */
		try->told = try->fd < 0 ? last_eai(try) : result_errno(try);
	return result_refused(try, try->told, waited, now);
}
