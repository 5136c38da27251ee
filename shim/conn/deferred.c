/* SPDX-License-Identifier: MIT */
/* The first request of a connection that went although it might not. */
#include "conn/deferred.h"

#include "conn/feedback.h"
#include "conn/flight.h"
#include "region/counters.h"
#include "region/state.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>

/* What it was taken for stands: of other work, and of an attempt that is paid for or refused. Where
 * it is sent anew, as it did not go, it answers no failure a second time. */
static void settle(struct socket_entry *entry)
{
	STORE(entry->claimed_number, 0);
	STORE(entry->claimed_fingerprint, 0);
	atomic_fetch_or(&entry->traits, TRAIT_AGAIN);
}

/* It goes as a first try does, from now on. */
static void goes(struct attempt *try, struct socket_entry *entry)
{
	try->trial.retry = false;
	budget_first_try(&try->account, try->began);
	STORE(entry->began, try->began);
	socket_mark(entry, flight_traits(try));
}

bool deferred_begin(struct attempt *try, int fd, struct socket_entry *entry, uint32_t fingerprint,
                    int flags)
{
	struct evidence evidence = { 0 };
	int saved = errno;

	*try = (struct attempt) {
		.fd = fd,
		.saved_errno = saved,
		.began = monotonic(),
		.is_request = true,
		.deferred = true,
		.no_wait = flags & MSG_DONTWAIT,
		.claimed = feedback_claimed(entry),
	};
	/* Of threads that send on it at once one has it judged. */
	if (!(atomic_fetch_and(&entry->traits, (uint32_t)~TRAIT_REPLY_FAILED) &
	      TRAIT_REPLY_FAILED) ||
	    !socket_believe(fd, entry))
		goto out;
	evidence.same = feedback_first(entry, fingerprint);
	settle(entry);
	evidence.loop = fingerprint == 0; /* as its connect was judged */
	if (!trial_of(entry, &try->trial) || !attempt_open_account(try))
		goto out;
	if ((!evidence.same && !evidence.loop) || budget_is_quiet(&try->account, try->began)) {
		goes(try, entry);
		goto out;
	}
	try->cookie = LOAD(entry->cookie);
	try->trial.owner = thread_id();
	try->rule = rule_for(&evidence);
	count_rule(shim_tally, try->trial.destination, (size_t)(try->rule - rules));
	errno = saved;
	return true;
out:
	errno = saved;
	return false;
}
