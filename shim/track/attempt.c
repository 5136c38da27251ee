/* SPDX-License-Identifier: MIT */
/* The beginning and the end of an attempt, and everything in between that is not waiting. */
#include "track/attempt.h"

#include "hook/real.h"
#include "track/refresh.h"
#include "track/state.h"
#include "track/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LOAD(place)         atomic_load_explicit(&(place), memory_order_relaxed)
#define STORE(place, value) atomic_store_explicit(&(place), value, memory_order_relaxed)

/* A connect that comes back with EINPROGRESS after this long was a blocking one with SO_SNDTIMEO.
 */
#define BLOCKED (20 * NS_PER_MS)

/* An excuse for an attempt that comes after a failure (DESIGN section 4). */
static bool is_excused(const struct name_hit *hit, const struct unanswered *failure)
{
	/* Failover sweep: another address of the lookup whose earlier address failed. */
	if (hit->lookup && hit->untried && failure->lookup == (hit->lookup & 0xfff))
		return true;
	/* New work: somebody asked this thread for something since. It excuses one attempt. */
	if (thread_facts.work) {
		thread_facts.work = false;
		return true;
	}
	return false;
}

/* First try or retry? Also counts the attempt, and writes it down where that is asked for. */
static void judge(struct attempt *try, const struct name_hit *hit)
{
	struct destination *destination = try->trial.destination;
	const struct policy *policy = try->account.policy;
	int64_t failed_at = LOAD(try->account.budget->failed_at);

	try->trial.retry =
	    failed_at != 0 && try->began - failed_at <= policy->horizon &&
	    failures_claim(destination, thread_id(), policy->horizon, try->began, &try->answered) &&
	    !is_excused(hit, &try->answered);
	count(&destination->tally.attempts);
	count(&shim_region->tally.attempts);
	if (try->trial.retry) {
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
		};

		report(&record, try->began);
	}
}

/* Finds the policy. False: this destination is not judged. */
static bool open_account(struct attempt *try)
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

static bool is_stream(int fd)
{
	unsigned int watched = socket_watched(fd);
	int type = 0;
	socklen_t len = sizeof(type);

	if (watched & (WATCH_STREAM | WATCH_OTHER))
		return watched & WATCH_STREAM;
	return real.getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

bool attempt_begin_connect(struct attempt *try, int fd, const struct sockaddr *address,
                           socklen_t len)
{
	int saved = errno;
	struct socket_entry *entry;
	struct address read;
	struct name_hit hit;

	if (!shim_ready() || fd < 0 || thread_in_lookup())
		return false;
	*try = (struct attempt) { .fd = fd, .saved_errno = saved, .address = address, .len = len };
	entry = socket_find(fd);
	if (!address_read(&read, address, len)) {
		/* AF_UNSPEC: the association is dissolved. */
		if (entry)
			socket_phase(fd, entry,
			             LOAD(entry->traits) & TRAIT_PARKED ? PHASE_FAILED
			                                                : PHASE_NONE);
		return false;
	}
	/* A number that has an entry: the host only asks how its last connect went, which the
	 * kernel answers without sending anything. */
	if (entry && LOAD(entry->phase) != PHASE_NONE && socket_believe(fd, entry)) {
		try->status = true;
		return true;
	}
	if (!is_stream(fd)) {
		errno = saved;
		return false;
	}
	try->is_unix = read.is_unix;
	try->began = monotonic();
	try->trial.owner = thread_id();
	try->trial.destination = destination_of(&read, &hit, try->began);
	try->trial.lookup = hit.lookup & 0xfff;
	if (!open_account(try)) {
		errno = saved;
		return false;
	}
	judge(try, &hit);
	errno = saved;
	return true;
}

/* Numbers, nothing and localhost need no server. */
static bool needs_resolver(const char *node, const struct addrinfo *hints)
{
	if (!node || !*node || (hints && hints->ai_flags & AI_NUMERICHOST) ||
	    strcmp(node, "localhost") == 0)
		return false;
	return !name_is_number(node);
}

bool attempt_begin_lookup(struct attempt *try, const char *node, const struct addrinfo *hints)
{
	int saved = errno;
	struct name_hit none = { 0 };

	if (!shim_ready() || thread_in_lookup() || !needs_resolver(node, hints))
		return false;
	*try = (struct attempt) { .fd = -1, .saved_errno = saved, .began = monotonic() };
	try->trial.destination = destination_of_lookup(node, true, try->began);
	if (!try->trial.destination || !open_account(try)) {
		errno = saved;
		return false;
	}
	/* Lookups are made by pools of threads (libuv, Java), any of which may repeat another's. */
	try->trial.owner = FAILURE_ANYONE;
	judge(try, &none);
	errno = saved;
	return true;
}

void attempt_start(const struct attempt *try)
{
	struct socket_entry entry;

	if (try->status)
		return;
	entry = (struct socket_entry){
		.since = try->began,
		.slot = destination_slot(try->trial.destination),
		.generation = (uint32_t)LOAD(try->trial.destination->generation),
		.owner = try->trial.owner,
		.lookup = try->trial.lookup,
		.phase = PHASE_CONNECTING,
		.traits = try->trial.retry ? TRAIT_RETRY : 0,
	};
	socket_enter(try->fd, &entry);
}

/* True if a connect that returned EINPROGRESS had been allowed to block. */
static bool ran_out(const struct attempt *try)
{
	int flags;

	if (monotonic() - try->began < BLOCKED)
		return false;
	flags = fcntl(try->fd, F_GETFL);
	return flags >= 0 && !(flags & O_NONBLOCK);
}

/* How a connect that only asked was answered. */
static void settle_status(const struct attempt *try, int err)
{
	struct socket_entry *entry = socket_find(try->fd);
	enum failure failure;
	struct trial trial;
	enum phase phase;

	if (!entry)
		return;
	phase = LOAD(entry->phase);
	if (err == 0 || err == EISCONN) {
		if (phase == PHASE_CONNECTING || phase == PHASE_FAILED)
			socket_move(try->fd, entry, phase, PHASE_OPEN);
		return;
	}
	if (err == EALREADY || err == EINTR)
		return;
	if (err == EINPROGRESS) { /* not answered but begun anew */
		STORE(entry->since, monotonic());
		socket_phase(try->fd, entry, PHASE_CONNECTING);
		return;
	}
	failure = failure_of(err, false);
	if (!socket_move(try->fd, entry, phase, PHASE_NONE))
		return;
	if (phase == PHASE_CONNECTING && failure && trial_of(entry, &trial))
		outcome_failure(&trial, failure, err, 0);
}

/* A connect that did not work. pending: it goes on in the kernel, but the host's patience is over. */
static void settle_failed(struct attempt *try, int err, bool pending)
{
	struct socket_entry *entry =
		(unsigned int)try->fd < SOCKETS ? &socket_entries[try->fd] : NULL;
	enum failure failure = pending ? FAILURE_TIMEOUT : failure_of(err, try->is_unix);

	/* Another thread may have closed the number meanwhile, and counted. */
	if (entry &&
	    !socket_move(try->fd, entry, PHASE_CONNECTING, pending ? PHASE_FAILED : PHASE_NONE))
		return;
	if (failure)
		outcome_failure(&try->trial, failure, pending ? 0 : err, 0);
	else if (try->trial.retry) /* nothing was tried: the failure stands */
		attempt_unanswered(try, try->answered.at);
}

int attempt_settle(struct attempt *try, int result)
{
	int err = result == 0 ? 0 : errno;
	struct socket_entry *entry = socket_find(try->fd);

	if (try->status)
		settle_status(try, err);
	else if (err == 0 && entry)
		socket_move(try->fd, entry, PHASE_CONNECTING, PHASE_OPEN);
	else if (err == EINPROGRESS ? ran_out(try) : err != 0 && err != EINTR)
		settle_failed(try, err, err == EINPROGRESS);
	errno = err ? err : try->saved_errno;
	return result;
}

int attempt_settle_lookup(struct attempt *try, int result)
{
	int err = errno;

	switch (result) {
	case 0:
		if (budget_wants_success(&try->account))
			outcome_success(try->trial.destination);
		else
			count(&try->trial.destination->tally.successes);
		break;
	case EAI_AGAIN:
	case EAI_FAIL:
	case EAI_NONAME:
	case EAI_SYSTEM:
		outcome_failure(&try->trial, FAILURE_LOOKUP, 0, result);
		break;
	default: /* the caller's own mistake, or no memory */
		if (try->trial.retry)
			attempt_unanswered(try, try->answered.at);
	}
	errno = err;
	return result;
}

void attempt_unanswered(struct attempt *try, int64_t now)
{
	struct unanswered failure = { try->trial.owner, try->answered.lookup, now };

	failures_add(try->trial.destination, &failure);
	/* The horizon counts from the last time that somebody wanted to go. */
	STORE(try->trial.destination->budget.failed_at, now);
}

int attempt_refused(struct attempt *try)
{
	errno = try->told;
	return -1;
}

int attempt_refused_lookup(struct attempt *try)
{
	errno = try->saved_errno;
	return try->told;
}

bool attempt_observed(int fd, int err)
{
	struct socket_entry *entry = socket_find(fd);
	int saved = errno;
	enum failure failure;
	enum phase phase;
	struct trial trial;

	if (!entry)
		return false;
	phase = LOAD(entry->phase);
	if (err == 0) {
		if (phase == PHASE_CONNECTING)
			socket_move(fd, entry, phase, PHASE_OPEN);
		return false;
	}
	if ((phase != PHASE_HELD_BACK && phase != PHASE_CONNECTING && phase != PHASE_OPEN) ||
	    !socket_believe(fd, entry) || !socket_move(fd, entry, phase, PHASE_FAILED))
		return false;
	failure = failure_of(err, false);
	if (phase != PHASE_HELD_BACK && failure && trial_of(entry, &trial))
		outcome_failure(&trial, failure, err, 0);
	errno = saved;
	return phase == PHASE_HELD_BACK;
}

void attempt_hung_up(int fd, int how)
{
	struct socket_entry *entry = socket_find(fd);

	if (!entry || LOAD(entry->phase) < PHASE_OPEN)
		return;
	/* That the peer then closes too without a word is how one-way conversations end. */
	if (how == SHUT_WR) {
		atomic_fetch_or(&entry->traits, TRAIT_FINISHED);
		return;
	}
	outcome_ask(fd, entry);
	socket_phase(fd, entry, PHASE_DONE); /* a read of 0 from now on is the host's own doing */
}

void attempt_end(int fd)
{
	struct socket_entry *entry = socket_find(fd);

	/* Without a cookie yet nothing else could tell the close of a vfork child from ours. */
	if (entry && LOAD(entry->cookie) == 0 && thread_is_borrowed())
		return;
	if (entry && !socket_shared(fd, entry))
		outcome_ask(fd, entry);
	socket_closed(fd);
}
