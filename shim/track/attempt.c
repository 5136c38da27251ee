/* SPDX-License-Identifier: MIT */
/* The beginning of an attempt: whose it is, and whether it is a first try or a retry. */
#include "track/attempt.h"

#include "hook/real.h"
#include "track/flight.h"
#include "track/habit.h"
#include "track/refresh.h"
#include "track/reply.h"
#include "track/state.h"
#include "track/thread.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define LOAD(place)         atomic_load_explicit(&(place), memory_order_relaxed)
#define STORE(place, value) atomic_store_explicit(&(place), value, memory_order_relaxed)

/* Failover sweep (shim/README.md): another address of the name, one that is not known to be bad,
 * or a bad address of a name that is well, with which the host begins every sweep. */
static bool is_sweep(const struct attempt *try, const struct name_hit *hit)
{
	uint32_t good = (uint32_t)LOAD(try->trial.destination->good_place);
	uint32_t failed = try->answered.place;

	if (!hit->place || !failed)
		return false;
	return failed != hit->place ? hit->untried : good && good != hit->place;
}

/* First try or retry, as far as can be told before its request is seen (track/hindsight.h). */
static bool is_retry(struct attempt *try, const struct name_hit *hit)
{
	struct destination *destination = try->trial.destination;
	int64_t horizon = try->account.policy->horizon;
	int64_t failed_at = LOAD(try->account.budget->failed_at);
	bool claimed =
	    failed_at != 0 && failed_at >= try->began - horizon &&
	    failures_claim(destination, thread_id(), horizon, try->began, &try->answered);
	bool asked = thread_is_asked(destination_slot(destination), claimed ? try->answered.at : 0);

	if (!claimed || is_sweep(try, hit))
		return false;
	try->excused = asked && !habit_has_no_excuse(destination);
	return !try->excused;
}

void attempt_judge(struct attempt *try, const struct name_hit *hit)
{
	try->trial.retry = is_retry(try, hit);
	attempt_count(try);
}

void attempt_count(struct attempt *try)
{
	struct destination *destination = try->trial.destination;

	try->trial.run = 1;
	/* Nothing had failed: it begins something. */
	try->trial.counted = try->answered.run == 0 && !try->answered.passed;
	count(&destination->tally.attempts);
	count(&shim_region->tally.attempts);
	if (try->trial.retry) {
		/* Until it says otherwise, for what the failed one was for. */
		try->trial.print = try->answered.print;
		try->trial.run = try->answered.run + 1;
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
			.thread = thread_id(),
		};

		report(&record, try->began);
	}
}

bool attempt_open_account(struct attempt *try)
{
	int index;

	if (!trial_stands(&try->trial))
		return false; /* evicted during a long wait: nothing is known of it any more */
	try->config = config_current();
	index = destination_account(try->trial.destination, try->config, &try->account);
	try->label = try->config->labels[index];
	if (try->account.policy->mode != MODE_OFF)
		return true;
	refresh(try->began); /* or nothing would ever notice that it was switched on again */
	return false;
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
	struct socket_entry *entry;
	struct address read;
	struct name_hit hit;

	if (!shim_ready() || fd < 0 || thread_in_lookup())
		return false;
	*try = (struct attempt) { .fd = fd, .saved_errno = saved, .address = address, .len = len };
	entry = socket_find(fd);
	if (!address_read(&read, address, len)) {
		if (entry) /* AF_UNSPEC: the association is dissolved */
			socket_phase(fd, entry, PHASE_NONE);
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
	try->trial.generation = (uint32_t)LOAD(try->trial.destination->generation);
	try->trial.place = hit.place;
	if (!attempt_open_account(try)) {
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
	if (!try->trial.destination || !attempt_open_account(try)) {
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

void attempt_start(const struct attempt *try)
{
	struct socket_entry entry;

	if (try->status)
		return;
	entry = (struct socket_entry) {
		/* Not our own wait. */
		.since = try->admitted ? try->admitted
		         : try->trial.retry || try->account.policy->reconnect_spread > 0
		             ? monotonic()
		             : try->began,
		.began = try->began,
		.process = thread_process(),
		.slot = destination_slot(try->trial.destination),
		.generation = try->trial.generation,
		.owner = try->trial.owner,
		.place = try->trial.place,
		.phase = PHASE_CONNECTING,
		.calling = true,
		.print = try->trial.print,
		.run = (uint8_t)(try->trial.run > 255 ? 255 : try->trial.run),
		.answered_at = try->answered.at,
		.answered_owner = try->answered.owner,
		.answered_print = try->answered.print,
		.answered_place = (uint16_t)try->answered.place,
		.answered_run = (uint8_t)try->answered.run,
		.traits = (try->trial.retry ? TRAIT_RETRY : 0) | (try->paid ? TRAIT_PAID : 0) |
		          (try->excused ? TRAIT_EXCUSED : 0) |
		          (try->trial.counted ? TRAIT_COUNTED : 0) |
		          (try->answered.passed ? TRAIT_PASSED : 0) |
		          (try->answered.counted ? TRAIT_ANSWERS_COUNTED : 0) |
		          (try->answered.held ? TRAIT_ANSWERS_HELD : 0) |
		          (try->account.policy->reply_timeout > 0 ? TRAIT_PATIENT : 0) |
		          (try->account.policy->reconnect_spread > 0 ? TRAIT_KEPT : 0) |
		          flight_traits(try) |
		          reply_trait(try->fd, try->account.policy, try->trial.destination),
	};
	socket_enter(try->fd, &entry);
}
