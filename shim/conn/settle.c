/* SPDX-License-Identifier: MIT */
/* The end of an attempt by the call that made it: let through, or refused. */
#include "conn/settle.h"

#include "budget/budget_wait.h"
#include "conn/attempt.h"
#include "conn/connection_end.h"
#include "conn/feedback.h"
#include "conn/flight.h"
#include "conn/tcp_info.h"
#include "conn/twins.h"
#include "dest/lineage.h"
#include "dest/tries.h"
#include "region/counters.h"
#include "region/state.h"
#include "sys/cell.h"
#include "sys/confined.h"
#include "sys/real.h"
#include "sys/socket_timeout.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define ERRNO_MAX 4096 /* what the kernel keeps to */

/* A connect that comes back with EINPROGRESS after this long was a blocking one with SO_SNDTIMEO.
 */
#define BLOCKED (20 * NS_PER_MS)

/* True if a connect that returned EINPROGRESS had been allowed to block. */
static bool ran_out(const struct attempt *try)
{
	return !try->no_wait && monotonic() - try->began >= BLOCKED && socket_waits(try->fd);
}

/* How a connect that only asked was answered. */
static void settle_question(const struct attempt *try, int err)
{
	struct socket_entry *entry = socket_find(try->fd);
	enum socket_state state;

	if (!entry)
		return;
	state = LOAD(entry->state);
	if (err == 0 || err == EISCONN) {
		socket_move(try->fd, entry, state, ON_CONNECTED);
		return;
	}
	if (err == EALREADY || err == EINTR)
		return;
	if (err == EINPROGRESS) { /* not answered but begun anew */
		STORE(entry->since, monotonic());
		socket_move(try->fd, entry, state, ON_BEGUN);
		return;
	}
	connection_failed(try->fd, entry, state, ON_CALL_FAILED, failure_of(err, false), err);
}

/* The program has bound a port of its own, and from there a connection to this server exists: it
 * has others to try from, and nothing was sent. Without such a port it would spin where an address
 * has no way out at all. */
static bool port_is_taken(int fd, int err)
{
	struct sockaddr_in6 own = { 0 }; /* the port stands where that of IPv4 does */
	socklen_t len = sizeof(own);

	/* Who has locked himself in (seccomp) may be ended by a call that is none of his. */
	return err == EADDRNOTAVAIL && !confined_by_itself() &&
	       getsockname(fd, (struct sockaddr *)&own, &len) == 0 && own.sin6_port != 0;
}

/* The class of a connect's error. Ports that are used up say nothing of a destination that has
 * answered lately, and of which nothing has failed since: a loop over both families meets the want
 * of an address each time, and would be taken to go on to other work, for as long as it spins. */
static enum failure failure_met(const struct attempt *try, int err)
{
	enum failure failure = failure_of(err, try->is_unix);

	if (err == EADDRNOTAVAIL && trial_stands(&try->trial) &&
	    (port_is_taken(try->fd, err) ||
	     (LOAD(try->account.budget->streak) <= 0 &&
	      allowance_lacks_port(&try->account.budget->allowance,
	                           LOAD(try->trial.destination->tally.successes) > 0,
	                           monotonic()))))
		return FAILURE_NONE;
	return failure;
}

/* A connect that did not work. pending: it goes on in the kernel, but the program's timeout is
 * over.
 */
static void settle_failed(struct attempt *try, int err, bool pending)
{
	struct socket_entry *entry = socket_has_room(try->fd) ? socket_at(try->fd) : NULL;
	enum failure failure = pending ? FAILURE_TIMEOUT : failure_met(try, err);
	int64_t permit = entry && failure ? flight_take_permit(entry) : 0;

	/* Another thread may have closed the number meanwhile, and counted. */
	if (entry && !socket_move(try->fd, entry, SOCKET_CONNECTING,
	                          pending ? ON_CONNECT_TIMED_OUT : ON_CALL_FAILED)) {
		flight_release_permit(&try->trial, permit);
		return;
	}
	try->trial.unmet = true;
	if (failure)
		outcome_failure(&try->trial, failure, pending ? 0 : err, 0);
	else if (try->trial.retry && trial_stands(&try->trial)) /* untried: the failure stands */
		failures_add(try->trial.destination, &try->claimed);
	flight_release_permit(&try->trial, permit);
	if (!entry)
		flight_end_attempt(try);
}

static void settle(struct attempt *try, struct socket_entry *entry, int err)
{
	if (try->unjudged)
		settle_question(try, err);
	else if (err == 0 && entry)
		socket_connected(try->fd, entry);
	else if (err == 0 && !socket_has_room(try->fd)) {
		if (try->trial.probe && trial_stands(&try->trial))
			outcome_success(&try->trial); /* nothing will tell more of it */
		flight_end_attempt(try);
	} else if (err == EINPROGRESS ? ran_out(try) : err != 0 && err != EINTR)
		settle_failed(try, err, err == EINPROGRESS);
	errno = err ? err : try->saved_errno;
}

/* Where siglongjmp left the call this comes with the next connect on the number; until then its
 * traffic is not looked at, and what became of it is asked when it is closed. */
static struct socket_entry *came_back(const struct attempt *try)
{
	struct socket_entry *entry = socket_find(try->fd);

	if (entry)
		STORE(entry->calling, false);
	return entry;
}

int attempt_settle_slowly(struct attempt *try, int result)
{
	struct socket_entry *entry = came_back(try);

	if (result == 0 && entry && !try->unjudged) {
		socket_connected(try->fd, entry);
		errno = try->saved_errno;
	} else {
		settle(try, entry, result == 0 ? 0 : errno);
	}
	return result;
}

ssize_t attempt_settle_send(struct attempt *try, ssize_t result, uint32_t fingerprint)
{
	int err = result >= 0 ? 0 : errno;
	struct socket_entry *entry = came_back(try);

	/* With a cookie of an earlier connection the bytes travel in the SYN, and a call that does
	 * not block returns before the peer has said a word: the outcome is still to come. */
	if (result > 0 && !tcp_info_met(try->fd))
		errno = try->saved_errno;
	else
		settle(try, entry, err);
	entry = socket_find(try->fd);
	if (result > 0 && entry) {
		err = errno;
		socket_move(try->fd, entry, SOCKET_OPEN, ON_REQUEST);
		feedback_first(entry, fingerprint);
		errno = err;
	}
	return result;
}

/* True if the resolver failed. */
static bool is_lookup_failure(int result)
{
	return result == EAI_AGAIN || result == EAI_FAIL || result == EAI_SYSTEM;
}

/* True if the resolver answered, if only that there is no such name, or nothing of this kind. The
 * rest is the caller's own mistake, or no memory. */
static bool is_answer(int result)
{
	return result == 0 || result == EAI_NONAME || result == EAI_NODATA ||
	       result == EAI_ADDRFAMILY;
}

int attempt_settle_lookup(struct attempt *try, int result)
{
	int err = errno;

	if (!trial_stands(&try->trial))
		return result;
	if (is_lookup_failure(result)) {
		tries_failed(destination_slot(try->trial.destination), monotonic());
		outcome_failure(&try->trial, FAILURE_LOOKUP, err, result);
	} else if (is_answer(result) && budget_wants_success(&try->account))
		outcome_success(&try->trial);
	else if (result == 0)
		count(&try->trial.destination->tally.successes);
	if (is_answer(result))
		count_answered(shim_tally, try->trial.destination, try->trial.retry);
	flight_end_attempt(try);
	errno = err;
	return result;
}

void attempt_unanswered(struct attempt *try, bool held, int64_t now)
{
	/* It has waited since that failure, as the server has asked it to. */
	bool waits = try->account.claimed_at > 0 && budget_retry_after_wait(&try->account, now) > 0;
	struct unanswered failure = {
		.owner = try->trial.owner,
		.place = try->claimed.place,
		.at = waits ? try->account.claimed_at : now,
		.fingerprint = try->trial.fingerprint,
		.number = try->trial.number,
		.counted = try->trial.counted,
		.held = held,
		.refused = true,
		.seat = try->claimed.seat,
	};
	cell64 *cell = &try->trial.destination->budget.failed_at;
	int64_t failed_at = LOAD(*cell);

	if (!trial_stands(&try->trial))
		return;
	tries_denied(destination_slot(try->trial.destination), now);
	failures_add(try->trial.destination, &failure);
	lineage_failed(try->trial.destination, 0, now);
	/* The horizon counts from the last time that somebody wanted to go. To the ms: where many
	 * are refused at once, each would wait for the other's line of a cache. Not now -
	 * failed_at: it may have been corrupted. */
	if (failed_at <= now - NS_PER_MS || failed_at > now)
		STORE(*cell, now);
}

int attempt_refused(struct attempt *try)
{
	errno = try->told;
	return -1;
}

/* gawk tells the errno that a failed lookup leaves behind. */
int attempt_refused_lookup(struct attempt *try)
{
	int64_t left = LOAD(try->trial.destination->last_errno);

	errno = left > 0 && left < ERRNO_MAX ? (int)left : try->saved_errno;
	return try->told;
}
