/* SPDX-License-Identifier: MIT */
/* A retry's way through its verdict: wait and pay on a blocking call, pay or be held back on one
 * that must not wait. */
#include "pace/pace.h"

#include "hook/real.h"
#include "pace/park.h"
#include "pace/wait.h"
#include "track/state.h"
#include "track/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/time.h>
#include <netdb.h>

/* Threads released early, when the destination came back, go within this time of each other. */
#define SPREAD NS_PER_S

/* A datagram goes whatever is decided, unless the file asks for more. */
static bool passes(const struct attempt *try)
{
	return try->is_datagram && try->account.policy->udp_deny == UDP_PASS;
}

/* err: what the host is told, or will be when its held-back connect ends; an EAI_ code of a lookup.
 */
static void say(const struct attempt *try, enum event event, int err, int64_t wait, int64_t now)
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
		.observe = account->policy->mode == MODE_OBSERVE || passes(try),
		.streak = account->budget->streak,
		.process_tokens = bucket_level(account->process, account->process_rule, now),
		.process_capacity = account->process_rule->capacity,
		.wait = wait,
	};

	record.tokens = budget_level(account, now, &record.capacity);
	*(try->fd < 0 ? &record.eai : &record.err) = err;
	report(&record, now);
}

/* Counts for the destination and for all together. */
#define TALLY(try, counter)                                                                        \
	(count(&(try)->trial.destination->tally.counter), count(&shim_region->tally.counter))

/* The error that the host has already proved it can handle (DESIGN 6). */
static int last_errno(const struct attempt *try)
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

static bool admitted(struct attempt *try, enum admission admission, int64_t waited, int64_t now)
{
	count(&shim_region->trouble);
	try->paid = admission == ADMITTED;
	if (admission == ADMITTED_PROBE)
		TALLY(try, probes);
	if (waited > 0)
		TALLY(try, waited);
	if (try->account.budget->streak == 1)
		say(try, EVENT_RETRYING, 0, waited, now);
	return true;
}

static bool refused(struct attempt *try, int err, bool exhausted, int64_t waited, int64_t now)
{
	bool goes = passes(try);

	TALLY(try, refused);
	if (!goes)
		attempt_unanswered(try, now);
	if (exhausted)
		say(try, EVENT_EXHAUSTED, 0, waited, now);
	say(try, EVENT_REFUSED, err, waited, now);
	return goes;
}

/* At once: the last real answer, which the host is known to stand. */
static bool refused_now(struct attempt *try, bool exhausted, int64_t waited, int64_t now)
{
	if (!try->is_datagram) /* for which the host is told nothing */
		try->told = try->fd < 0 ? last_eai(try) : last_errno(try);
	return refused(try, try->told, exhausted, waited, now);
}

/* Everything is decided, counted and logged, and everything goes at once. */
static bool observe(struct attempt *try, int64_t cost)
{
	enum admission admission = budget_admit(&try->account, cost, try->began);

	if (admission != REFUSED)
		return admitted(try, admission, 0, try->began);
	TALLY(try, refused);
	say(try, EVENT_REFUSED, 0, 0, try->began);
	return true;
}

/* The socket's own bound on a blocking connect, in ns; INT64_MAX if it has none. */
static int64_t send_timeout(int fd)
{
	struct timeval timeout = { 0 };
	socklen_t len = sizeof(timeout);

	if (fd < 0 || real.getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, &len) != 0 ||
	    (timeout.tv_sec == 0 && timeout.tv_usec == 0))
		return INT64_MAX;
	return (int64_t)timeout.tv_sec * NS_PER_S + (int64_t)timeout.tv_usec * 1000;
}

/* On a blocking call: the backoff, then a token. While it waits the failure stays on the books, so
 * that a jump or a cancellation out of here loses nothing. */
static bool wait_and_pay(struct attempt *try, int64_t cost)
{
	const struct account *account = &try->account;
	int64_t own_bound = try->bound ? try->bound : send_timeout(try->fd),
		bound = account->policy->max_wait;
	int64_t delay = budget_delay(account, thread_random()) - (try->began - try->answered.at);
	int64_t tokens = budget_token_wait(account, cost, try->began);
	enum wait_manner manner = try->fd < 0              ? WAIT_AS_LOOKUP
	                          : own_bound == INT64_MAX ? WAIT_AS_CONNECT
	                                                   : WAIT_AS_TIMED;
	enum wait_end end = WAIT_OVER;
	enum admission admission = REFUSED;
	int64_t wanted, probe, now = try->began;

	if (own_bound < bound)
		bound = own_bound;
	wanted = delay > tokens ? delay : tokens;
	probe = budget_probe_wait(account, try->began);
	if (probe < wanted)
		wanted = probe; /* never a lock-out, however long the backoff and short the bound */
	if (account->budget->streak == 0)
		wanted = 0; /* it came back since: tokens alone decide */
	if (wanted > 0) {
		struct unanswered kept = try->answered;

		kept.owner = thread_id();
		failures_add(try->trial.destination, &kept);
		end = wait_until(try->began + (wanted < bound ? wanted : bound), manner,
		                 account->budget);
		now = monotonic();
		if (end == WAIT_RELEASED) {
			int64_t left = try->began + bound - now;

			if (left > 0)
				end = wait_until(now + random_upto(thread_random(),
				                                   left < SPREAD ? left : SPREAD),
				                 manner, NULL);
			wanted = 0;
			now = monotonic();
		}
		failures_withdraw(try->trial.destination, &kept);
		if (!attempt_open_account(try))
			return true; /* switched off meanwhile */
	}
	if (end != WAIT_INTERRUPTED && wanted <= bound) {
		admission = budget_admit(account, cost, now);
		if (admission != REFUSED)
			return admitted(try, admission, now - try->began, now);
	}
	return refused_now(try, end != WAIT_INTERRUPTED && wanted <= bound, now - try->began, now);
}

/* True for what a connect says of an earlier one on the same socket, or of a shutdown. */
static bool is_status(int err)
{
	return err == EALREADY || err == EISCONN || err == ECONNABORTED || err == ECONNREFUSED ||
	       err == ETIMEDOUT || err == EINVAL;
}

/* On a call that must not wait: go if due and paid for, else be held back as a kernel would. */
static bool pay_or_hold_back(struct attempt *try, int64_t cost)
{
	const struct account *account = &try->account;
	struct socket_entry entry = { .phase = PHASE_HELD_BACK };
	/* The first of a streak would wait for a moment, and to be held back is to fail: it goes if
	 * it can pay. */
	int64_t due = account->budget->streak > 1 ? budget_due(account, cost, try->began)
	                                          : budget_token_wait(account, cost, try->began);
	enum admission admission = REFUSED;
	int64_t delay = 0;
	int err;

	if (due <= 0)
		admission = budget_admit(account, cost, try->began);
	if (admission != REFUSED)
		return admitted(try, admission, 0, try->began);
	if (try->is_unix || try->is_datagram || try->fd < 0)
		return refused_now(try, due <= 0, 0, try->began); /* synchronous by nature */
	if (account->policy->nonblocking == NONBLOCKING_PARK)
		delay = due > 0 ? due : 1;
	err = park(try->fd, try->address, try->len, delay, &entry);
	if (err == 0 && is_status(errno)) { /* begun where we did not see it */
		try->told = errno;
		attempt_unanswered(try, try->answered.at);
		return false;
	}
	if (err == 0)
		return refused_now(try, due <= 0, 0, try->began);
	try->told = EINPROGRESS;
	atomic_store(&entry.since, try->began);
	atomic_store(&entry.slot, destination_slot(try->trial.destination));
	atomic_store(&entry.generation, try->trial.generation);
	socket_enter(try->fd, &entry);
	return refused(try, err, due <= 0, 0, try->began);
}

/* The entry of a socket that has our options; NULL: it has none. */
static struct socket_entry *parked(int fd)
{
	struct socket_entry *entry = socket_find(fd);

	return entry && atomic_load(&entry->traits) & (TRAIT_PARKED | TRAIT_PUTS_OFF) &&
	               socket_believe(fd, entry)
	           ? entry
	           : NULL;
}

void pace_release(int fd)
{
	struct socket_entry *entry = parked(fd);

	if (entry)
		park_undo(fd, entry);
}

void pace_release_over(int fd)
{
	struct socket_entry *entry = parked(fd);

	if (entry && park_is_over(fd))
		park_undo(fd, entry);
}

bool pace(struct attempt *try)
{
	const struct policy *policy = try->account.policy;
	int64_t cost;
	int flags = 0;

	/* Our options must be off before the kernel could start anew. */
	if (try->fd >= 0)
		pace_release_over(try->fd);
	if (try->status || !try->trial.retry)
		return true;
	cost = budget_cost(policy, (enum failure)try->trial.destination->last_failure);
	if (policy->mode == MODE_OBSERVE)
		return observe(try, cost);
	if (try->fd >= 0)
		flags = real.fcntl(try->fd, F_GETFL, 0);
	if (flags < 0)
		return true; /* the real call will say what is wrong */
	if (!(flags & O_NONBLOCK) && !try->no_wait)
		return wait_and_pay(try, cost);
	if (policy->nonblocking == NONBLOCKING_PASS && !try->is_datagram)
		return admitted(try, budget_admit(&try->account, cost, try->began), 0, try->began);
	return pay_or_hold_back(try, cost);
}
