/* SPDX-License-Identifier: MIT */
/* The beginning of an attempt: whose it is, and whether it is a first try or a retry. */
#include "conn/attempt.h"

#include "config/current.h"
#include "conn/flight.h"
#include "conn/http_reply.h"
#include "dest/demand.h"
#include "dest/lineage.h"
#include "dest/profile.h"
#include "dest/tries.h"
#include "region/counters.h"
#include "region/state.h"
#include "report/record.h"
#include "report/refresh.h"
#include "report/report.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

/* Failover sweep (shim/README.md): another address of the name, one that is not known to be bad,
 * or a bad address of a name that is well, with which the program begins every sweep. */
static bool is_sweep(const struct attempt *try, const struct name_hit *hit)
{
	uint32_t good = (uint32_t)LOAD(try->trial.destination->good_place);
	uint32_t failed = try->answered.place;

	if (!hit->place || !failed)
		return false;
	return failed != hit->place ? hit->untried : good && good != hit->place;
}

/* It answers, and has not asked to be left alone. */
static bool answers(const struct attempt *try)
{
	return allowance_is_answering(&try->account.budget->allowance, try->began) &&
	       budget_asked_wait(&try->account, try->began) <= 0;
}

/* After one failure of a destination that answers, this may be its thread's next work as well. Of
 * failures that are replies requests tell. */
static bool may_be_next(const struct attempt *try)
{
	bool replied = LOAD(try->trial.destination->last_failure) == FAILURE_STATUS;

	return (replied || LOAD(try->account.budget->allowance.failed) <= 1) && answers(try);
}

/* Its last two tries were refused, and the destination answers: told no for ever it would hold up
 * its thread's work for longer than a failure does, so that less is served than without any retry.
 * A datagram's sender is told nothing, and goes on. */
static bool has_been_denied(const struct attempt *try, uint32_t slot)
{
	return !try->is_datagram && tries_is_denied(slot) && answers(try);
}

/* Whether its request repeats one is seen only when that is sent (conn/feedback.h). */
static void look_at(struct attempt *try, uint32_t slot, const struct name_hit *hit,
                    struct evidence *evidence)
{
	struct destination *destination = try->trial.destination;
	const struct policy *policy = try->account.policy;
	int64_t failed_at = LOAD(try->account.budget->failed_at);
	bool polls, returns;

	evidence->same = try->repeats;
	failures_claim(destination, thread_id(), policy->horizon, try->began, &try->answered);
	try->asked = demand_is_new(slot, try->answered.number > 0 ? try->answered.at : failed_at) &&
	             !demand_serves_many();
	evidence->demand = try->asked && !profile_has_no_excuse(destination);
	evidence->sweep = is_sweep(try, hit) || tries_sweep(slot, policy->horizon, try->began);
	evidence->other_work = try->answered.passed;
	polls = budget_asked_wait(&try->account, try->began) <= 0 &&
	        failures_is_answered(destination, try->answered.fingerprint, try->began);
	evidence->again = try->answered.number > 0 && !polls &&
	                  profile_tries_again(destination, try->answered.number);
	/* Who was throttled in an outage is on his way back as long as there is one. */
	returns = ramp_is_on(&try->account.budget->ramp, try->began);
	evidence->loop = !polls && tries_loop(slot, LOAD(try->account.budget->began_at)) &&
	                 (returns || (LOAD(try->account.budget->streak) > 0 && !may_be_next(try)));
	/* Not past the ramp: all would come at the first success. */
	evidence->denied =
	    !returns && (evidence->again || evidence->loop) && has_been_denied(try, slot);
	if (returns || (LOAD(try->account.budget->streak) > 0 &&
	                !allowance_is_answering(&try->account.budget->allowance, try->began))) {
		enum lineage lineage = lineage_of(destination, slot, policy->horizon, try->began);

		evidence->stranger = lineage == LINEAGE_STRANGER;
		evidence->lineage = lineage == LINEAGE_SAME;
	}
}

/* Of a destination that has failed lately. Apart, so that a quiet one needs no frame. */
static __attribute__((noinline)) void judge(struct attempt *try, uint32_t slot,
                                            const struct name_hit *hit)
{
	struct evidence evidence = { 0 };

	look_at(try, slot, hit, &evidence);
	try->rule = rule_for(&evidence);
	count_rule(shim_region, try->trial.destination, (size_t)(try->rule - rules));
	try->lineage = evidence.lineage && try->rule->says == KIND_REPEAT;
	/* What is unclear is a first try if it may go; unless a failure of its own thread, or of
	 * nobody, is unanswered, or all speaks for a repeat: then it counts as a retry, and goes
	 * all the same if it may. */
	try->unclear =
	    try->rule->says == KIND_UNCLEAR && (try->answered.number > 0 || evidence.denied);
	try->trial.retry =
	    try->unclear || try->rule->says == KIND_REPEAT ||
	    (try->rule->says == KIND_UNCLEAR && !budget_unclear(&try->account, try->began));
}

static inline __attribute__((always_inline)) void note(struct attempt *try)
{
	struct destination *destination = try->trial.destination;

	try->trial.number = 1;
	try->trial.began = try->began;
	/* Nothing had failed: it begins something. */
	try->trial.counted = try->answered.number == 0 && !try->answered.passed;
	count(&destination->tally.attempts);
	count(&shim_region->tally.attempts);
	if (LOAD(try->account.budget->streak) > 0 ||
	    breaker_not_closed(&try->account.budget->breaker, &try->account.policy->breaker))
		count(&destination->untold.attempts);
	if (LOAD(destination->exhausted) != 0)
		outcome_refilled(destination, &try->account, try->label, try->began);
	if (try->trial.retry) {
		/* Until it says otherwise, for what the failed one was for. */
		try->trial.fingerprint = try->answered.fingerprint;
		try->trial.number = try->answered.number + 1;
		try->trial.counted = try->answered.counted;
		announce(try->began);
		refresh(try->began);
		count(&destination->tally.retries);
		count(&shim_region->tally.retries);
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
	note(try);
}

void attempt_judge(struct attempt *try, const struct name_hit *hit)
{
	uint32_t slot = destination_slot(try->trial.destination);

	if (budget_is_quiet(&try->account, try->began)) {
		try->rule = RULE_QUIET;
		demand_tried(slot);
	} else {
		judge(try, slot, hit);
	}
	if (try->rule->says == KIND_NEW && try->fd >= 0) /* a loop looks its server up each time */
		tries_new();
	tries_note(slot, try->began);
	note(try);
}

static inline bool open_account(struct attempt *try)
{
	int index;

	try->config = config_current();
	index = destination_account(try->trial.destination, try->config, &try->account);
	try->label = try->config->labels[index];
	if (try->account.policy->mode != MODE_OFF)
		return true;
	refresh(try->began); /* or nothing would ever notice that it was switched on again */
	return false;
}

/* Evicted during a long wait: nothing is known of it any more. */
bool attempt_open_account(struct attempt *try)
{
	return trial_stands(&try->trial) && open_account(try);
}

static int option_of(int fd, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return real.getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 ? value : -1;
}

/* What socket() made we know; what was inherited or received has to be asked. SCTP is left alone,
 * and both its types look like streams. */
static bool is_stream(int fd)
{
	unsigned int watched = socket_watched(fd);
	int type;

	if (watched & (WATCH_STREAM | WATCH_OTHER))
		return watched & WATCH_STREAM;
	type = option_of(fd, SO_TYPE);
	return (type == SOCK_STREAM || type == SOCK_SEQPACKET) &&
	       option_of(fd, SO_PROTOCOL) != IPPROTO_SCTP;
}

bool attempt_begin_connect(struct attempt *try, int fd, const struct sockaddr *address,
                           socklen_t len)
{
	int saved = errno;
	struct destination *destination;
	struct socket_entry *entry;
	struct address read;
	struct name_hit hit;

	if (!shim_ready() || fd < 0 || thread_in_lookup())
		return false;
	entry = socket_find(fd);
	if (!address_read(&read, address, len)) {
		if (entry)
			socket_move(fd, entry, LOAD(entry->state), ON_DISSOLVED);
		return false;
	}
	/* A number that has an entry: the program only asks how its last connect went, which the
	 * kernel answers without sending anything. */
	if (entry && LOAD(entry->state) != SOCKET_NONE && socket_believe(fd, entry)) {
		*try = (struct attempt) { .fd = fd, .saved_errno = saved, .status = true };
		return true;
	}
	if (!is_stream(fd)) {
		errno = saved;
		return false;
	}
	memset((char *)try + offsetof(struct attempt, answered), 0,
	       sizeof(*try) - offsetof(struct attempt, answered));
	try->fd = fd;
	try->saved_errno = saved;
	try->address = address;
	try->len = len;
	try->is_unix = read.is_unix;
	try->fresh = !entry;
	try->began = monotonic();
	destination = destination_of(&read, &hit, try->began);
	try->trial = (struct trial) {
		.destination = destination,
		.generation = (uint32_t)LOAD(destination->generation),
		.owner = thread_id(),
		.place = hit.place,
	};
	if (!open_account(try)) {
		errno = saved;
		return false;
	}
	attempt_judge(try, &hit);
	errno = saved;
	return true;
}

bool attempt_begin_send(struct attempt *try, int fd, int flags, const struct sockaddr *address,
                        socklen_t len)
{
	struct address read;

	/* Without an address, or with AF_UNSPEC, the kernel refuses and nothing is dissolved. */
	if (!address_read(&read, address, len) || read.is_unix ||
	    !attempt_begin_connect(try, fd, address, len))
		return false;
	try->no_wait = flags & MSG_DONTWAIT;
	return true;
}

/* Numbers, nothing and localhost need no server. */
static bool needs_resolver(const char *name)
{
	char text[NAME_MAX_LEN + 1];

	return name && name_normal(name, text) && strcmp(text, "localhost") != 0 &&
	       !name_is_number(name);
}

bool attempt_begin_query(struct attempt *try, const char *name, int kind)
{
	int saved = errno;
	struct name_hit none = { 0 };

	if (!shim_ready() || thread_in_lookup() || !needs_resolver(name))
		return false;
	*try = (struct attempt) {
		.fd = -1,
		.saved_errno = saved,
		.began = monotonic(),
		.kind = kind,
	};
	try->trial.destination = destination_of_lookup(name, kind, true, try->began);
	if (try->trial.destination)
		try->trial.generation = (uint32_t)LOAD(try->trial.destination->generation);
	if (!try->trial.destination || !open_account(try)) {
		errno = saved;
		return false;
	}
	/* Lookups are made by pools of threads (libuv, Java), any of which may repeat another's. */
	try->trial.owner = FAILURE_ANYONE;
	attempt_judge(try, &none);
	errno = saved;
	return true;
}

bool attempt_begin_lookup(struct attempt *try, const char *node, const struct addrinfo *hints)
{
	if (hints && hints->ai_flags & AI_NUMERICHOST)
		return false;
	return attempt_begin_query(try, node, hints ? hints->ai_family : AF_UNSPEC);
}

bool attempt_is_there(const struct attempt *try)
{
	return try->cookie == 0 || socket_cookie(try->fd) == try->cookie;
}

/* Of an attempt that may answer a failure. */
static uint32_t traits_of_answer(const struct attempt *try)
{
	return (try->trial.retry ? TRAIT_RETRY : 0) | (try->paid ? TRAIT_PAID : 0) |
	       (try->asked ? TRAIT_ASKED : 0) | (try->answered.passed ? TRAIT_PASSED : 0) |
	       (try->answered.counted ? TRAIT_ANSWERS_COUNTED : 0) |
	       (try->answered.held ? TRAIT_ANSWERS_HELD : 0);
}

void attempt_start(const struct attempt *try)
{
	const struct policy *policy = try->account.policy;
	struct socket_entry *entry = try->status ? NULL : socket_begin(try->fd);

	if (!entry)
		return;
	/* Not our own wait. */
	STORE(entry->since, try->admitted                              ? try->admitted
	                    : try->trial.retry || policy->bounds_first ? monotonic()
	                                                               : try->began);
	STORE(entry->began, try->began);
	STORE(entry->process, thread_process());
	STORE(entry->slot, destination_slot(try->trial.destination));
	STORE(entry->generation, try->trial.generation);
	STORE(entry->owner, try->trial.owner);
	STORE(entry->place, try->trial.place);
	STORE(entry->calling, true);
	STORE(entry->fingerprint, try->trial.fingerprint);
	STORE(entry->timeout_ms, 0);
	STORE(entry->number, (uint8_t)(try->trial.number > 255 ? 255 : try->trial.number));
	STORE(entry->answered_at, try->answered.at);
	STORE(entry->answered_owner, try->answered.owner);
	STORE(entry->answered_fingerprint, try->answered.fingerprint);
	STORE(entry->answered_place, (uint16_t)try->answered.place);
	STORE(entry->answered_number, (uint8_t)try->answered.number);
	STORE(entry->traits, (try->trial.counted ? TRAIT_COUNTED : 0) |
	                         (policy->reply_timeout > 0 ? TRAIT_REPLY_TIMEOUT : 0) |
	                         (policy->reconnect_spread > 0 ? TRAIT_KEPT : 0) |
	                         (try->rule == RULE_QUIET ? 0 : traits_of_answer(try)) |
	                         flight_traits(try) | reply_trait(try->fd, policy));
	socket_show(try->fd, entry, SOCKET_CONNECTING);
}
