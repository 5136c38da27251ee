/* SPDX-License-Identifier: MIT */
/* How an exchange ends: by a reply, which may say that the request failed, or by none. */
#include "conn/exchange_end.h"

#include "config/current.h"
#include "conn/connection_end.h"
#include "conn/feedback.h"
#include "conn/flight.h"
#include "conn/http_reply.h"
#include "conn/idle_end.h"
#include "conn/loss.h"
#include "conn/not_now.h"
#include "conn/tcp_info.h"
#include "dest/answer_time.h"
#include "dest/demand.h"
#include "dest/failures.h"
#include "region/counters.h"
#include "region/state.h"
#include "region/steering.h"
#include "report/refresh.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/socket_timeout.h"

#include <errno.h>

/* The program has gone on waiting after a timeout of its own: those are ticks, between which it
 * looks after something else, and say nothing of the peer until it hangs up. */
static _Atomic(bool) waits_on;

bool exchange_end_wanted(const struct socket_entry *entry, struct trial *trial,
                         struct account *account)
{
	if (!trial_of(entry, trial))
		return false;
	destination_account(trial->destination, config_current(), account);
	return budget_wants_success(account);
}

static void answered(int fd, struct socket_entry *entry, enum socket_state state)
{
	bool first = !(LOAD(entry->traits) & TRAIT_SERVED);
	struct account account;
	struct trial trial;

	uint32_t changes = (uint32_t)LOAD(shim_region->changes);
	uint32_t fingerprint = LOAD(entry->fingerprint);

	/* Who asks has raised `changes`, or a healthy connection would never look. */
	if (steering_waits(shim_region))
		refresh(monotonic());
	if (first && demand_has_refusals())
		demand_count_served(monotonic());
	if ((LOAD(entry->traits) & (TRAIT_TIMED_OUT | TRAIT_REPLY_TIMEOUT)) == TRAIT_TIMED_OUT)
		STORE(waits_on, true);
	trait_add(entry, TRAIT_SERVED);
	if (!socket_move(fd, entry, state, ON_REPLY))
		return;
	if ((first || fingerprint) && trial_of(entry, &trial)) {
		if (first)
			answer_time_answered(trial.destination, tcp_info_answer_time(fd, entry));
		if (first && state == SOCKET_ASKED && !(LOAD(entry->traits) & TRAIT_AGREES))
			answer_time_past_greeting(trial.destination);
		if (fingerprint)
			failures_answered(trial.destination, fingerprint, monotonic());
	}
	atomic_fetch_and(&entry->traits, (uint32_t) ~(TRAIT_TIMED_OUT | TRAIT_PARTIAL));
	if (exchange_end_wanted(entry, &trial, &account)) {
		if (socket_believe(fd, entry)) {
			outcome_success(&trial);
			if (first)
				count_answered(shim_tally, trial.destination, trial.retry);
		}
		atomic_fetch_and(&entry->traits, (uint32_t)~TRAIT_PROBE);
		return;
	}
	/* What a session sends is looked at (tls_session.h). */
	if (!config_current()->tls) {
		STORE(entry->seen_changes, changes);
		socket_show_common(fd, entry, changes);
	}
	if (first && trial.destination) {
		count(&trial.destination->tally.successes);
		count(&shim_tally->successes);
		count_answered(shim_tally, trial.destination, trial.retry);
	}
}

/* A reply came, and says that the request failed. */
static void rejected(int fd, struct socket_entry *entry, enum socket_state state,
                     const struct http_reply *reply)
{
	enum failure failure = FAILURE_STATUS;
	struct trial trial;

	if (!socket_believe(fd, entry) || !trial_of(entry, &trial))
		return;
	if (reply->later > 0)
		feedback_put_off(entry);
	if (LOAD(entry->traits) & TRAIT_TIMED_OUT) /* which has been counted */
		failure = FAILURE_NONE;
	/* Before it moves, and other numbers of the socket with it. */
	trait_add(entry, TRAIT_SERVED);
	socket_mark(entry, TRAIT_REPLY_FAILED);
	if (!connection_failed(fd, entry, state, reply->is_whole ? ON_NOT_NOW : ON_STATUS, failure,
	                       0))
		return;
	atomic_fetch_and(&entry->traits,
	                 (uint32_t) ~(TRAIT_TIMED_OUT | TRAIT_PROBE | TRAIT_PARTIAL));
	if (failure && trial_stands(&trial))
		count_status(shim_tally, trial.destination, reply->status);
	reply_note_retry_after(trial.destination, reply);
}

void exchange_end_head(int fd, struct socket_entry *entry, const struct iovec *parts, size_t count,
                       size_t n)
{
	struct http_reply reply = { 0 };
	struct trial trial;

	if (!trial_of(entry, &trial))
		return;
	reply_read(fd, NULL, parts, count, n, &reply);
	if (!reply.is_whole)
		return;
	reply_note_retry_after(trial.destination, &reply);
	socket_move(fd, entry, SOCKET_HEAD, ON_HEAD_READ);
}

/* It spoke before anything was asked. Whether it serves is still to be seen, but as a rule it does:
 * a sign of life, unless it has done no more than that lately. */
static void greeted(int fd, struct socket_entry *entry, enum socket_state state)
{
	struct trial trial;

	trait_add(entry, TRAIT_AGREES); /* before it moves, and with it what is watched */
	if (trial_of(entry, &trial) && answer_time_only_greets(trial.destination)) {
		trait_add(entry, TRAIT_SERVED);
		socket_move(fd, entry, state, ON_WORDS);
	} else {
		answered(fd, entry, state);
	}
}

/* The first words of a server that speaks no HTTP/1. */
static void spoke(int fd, struct socket_entry *entry, enum socket_state state,
                  const struct iovec *parts, size_t n)
{
	const struct http_reply whole = { .is_whole = true };
	unsigned int traits = LOAD(entry->traits);
	struct trial trial;
	enum said said;
	bool greets;

	if (traits & TRAIT_SERVED && !(traits & TRAIT_AGREES)) {
		answered(fd, entry, state);
		return;
	}
	greets = (state == SOCKET_ASKED && traits & TRAIT_AGREES) ||
	         (trial_of(entry, &trial) && (answer_time_converses(trial.destination) ||
	                                      not_now_is_greeted(LOAD(trial.destination->port))));
	said = not_now_said(parts->iov_base, n < parts->iov_len ? n : parts->iov_len,
	                    (struct said_when) { .asked = state == SOCKET_ASKED,
	                                         .greets = greets,
	                                         .offered = LOAD(entry->offer) == OFFER_MADE,
	                                         .agreed = traits & TRAIT_AGREES });
	switch (said) {
	case SAID_NOT_NOW:
		trait_add(entry, TRAIT_AGREES); /* what comes next is looked at, too */
		rejected(fd, entry, state, &whole);
		return;
	case SAID_NOTHING:
	case SAID_GO_ON:
		trait_add(entry, said == SAID_GO_ON ? TRAIT_AGREES : TRAIT_SERVED | TRAIT_AGREES);
		socket_move(fd, entry, state, ON_WORDS);
		return;
	case SAID_ANSWER:
		if (state != SOCKET_ASKED) {
			greeted(fd, entry, state);
			return;
		}
		atomic_fetch_and(&entry->traits, (uint32_t)~TRAIT_AGREES);
		/* What a proxy agrees to, which has served nothing yet, is no greeting. */
		if (traits & TRAIT_AGREES && traits & TRAIT_SERVED && trial_of(entry, &trial))
			answer_time_conversed(trial.destination);
		answered(fd, entry, state);
	}
}

/* The frame that an HTTP/2 server begins with: SETTINGS, of the connection itself (RFC 9113 3.4).
 */
static bool is_settings(const struct iovec *part, size_t n)
{
	const unsigned char *frame = part->iov_base;

	return n >= 9 && part->iov_len >= 9 && frame[0] == 0 && frame[3] == 4 &&
	       (frame[5] | frame[6] | frame[7] | frame[8]) == 0;
}

void exchange_end_reply(int fd, struct socket_entry *entry, enum socket_state state,
                        const struct iovec *parts, size_t count, size_t n)
{
	struct http_reply reply = { 0 };
	struct account account;
	struct trial trial;

	if (count == 0 || !trial_of(entry, &trial)) {
		answered(fd, entry, state);
		return;
	}
	if (!(LOAD(entry->traits) & TRAIT_HTTP)) {
		spoke(fd, entry, state, parts, n);
		return;
	}
	destination_account(trial.destination, config_current(), &account);
	switch (reply_read(fd, account.policy, parts, count, n, &reply)) {
	case REPLY_MORE: /* nothing is known until its status is */
		return;
	case REPLY_FAILED:
		rejected(fd, entry, state, &reply);
		return;
	case REPLY_OTHER:
		/* Of a kept connection it may be the rest of a reply whose request was overtaken
		 * by the next, a failure too: no success. */
		if (LOAD(entry->traits) & TRAIT_SERVED) {
			socket_move(fd, entry, state, ON_WORDS);
			return;
		}
		if (is_settings(parts, n))
			trait_add(entry, TRAIT_FRAMES);
		atomic_fetch_and(&entry->traits, (uint32_t)~TRAIT_HTTP);
		spoke(fd, entry, state, parts, n);
		return;
	case REPLY_SWITCHED: /* to what, and whether it serves, is still to be seen */
		atomic_fetch_and(&entry->traits, (uint32_t)~TRAIT_HTTP);
		greeted(fd, entry, state);
		return;
	case REPLY_GOOD:
		break;
	}
	answered(fd, entry, state);
}

/* True if the error is that of the connect: the peer has never answered it. */
static bool is_of_connect(int fd, const struct socket_entry *entry, enum socket_state state)
{
	return state == SOCKET_CONNECTING ||
	       (!(LOAD(entry->traits) & TRAIT_SERVED) && !tcp_info_met(fd));
}

void exchange_end_close(int fd, struct socket_entry *entry, enum socket_state state,
                        enum failure failure, int err)
{
	unsigned int traits = LOAD(entry->traits);
	struct trial trial;
	bool connecting, idle;

	/* The call began on another connection, which had the number until dup2 or close gave it
	 * away meanwhile. */
	if (tcp_info_goes_on(fd))
		return;
	idle = idle_end(fd, entry, state, failure, err);
	if (idle || tcp_info_is_own(fd)) {
		if (socket_move(fd, entry, state, ON_ENDED) && idle)
			loss_seen(entry);
		return;
	}
	if (!socket_believe(fd, entry) || !trial_of(entry, &trial))
		return;
	connecting = is_of_connect(fd, entry, state);
	connection_failed(fd, entry, state, connecting ? ON_UNREACHED : ON_LOST, failure,
	                  connecting ? err : 0);
	if (traits & TRAIT_ONE_WAY)
		loss_seen(entry);
}

/* EAGAIN on a socket that blocks: SO_RCVTIMEO or SO_SNDTIMEO ran out. */
static bool ran_out(int fd, struct socket_entry *entry, int flags)
{
	if (flags & MSG_DONTWAIT || LOAD(entry->traits) & TRAIT_NOWAIT)
		return false;
	if (!socket_waits(fd)) {
		trait_add(entry, TRAIT_NOWAIT);
		return false;
	}
	return true;
}

/* EINPROGRESS from a send: it began the connect that connect() itself had put off
 * (TCP_FASTOPEN_CONNECT). On a socket that blocks, SO_SNDTIMEO has run out on it. */
static void begun(int fd, struct socket_entry *entry, enum socket_state state, int flags)
{
	bool pending = !ran_out(fd, entry, flags);
	struct trial trial;

	if (!socket_believe(fd, entry) || !trial_of(entry, &trial))
		return;
	if (pending)
		socket_move(fd, entry, state, ON_BEGUN);
	else
		connection_failed(fd, entry, state, ON_CONNECT_TIMED_OUT, FAILURE_TIMEOUT, 0);
}

/* A timeout once the program has waited, not each tick of a short SO_RCVTIMEO. The answer may still
 * come, so the state stays. */
static void timed_out(int fd, struct socket_entry *entry)
{
	struct trial trial;

	if (LOAD(entry->traits) & TRAIT_TIMED_OUT)
		STORE(waits_on, true);
	else if (!LOAD(waits_on) && tcp_info_waited(fd, entry) && socket_believe(fd, entry) &&
	         trial_of(entry, &trial) &&
	         !(socket_mark(entry, TRAIT_TIMED_OUT) & TRAIT_TIMED_OUT))
		flight_timed_out(entry, &trial);
}

void exchange_end_error(int fd, struct socket_entry *entry, enum socket_state state, int err,
                        int flags)
{
	enum failure failure;

	if (err == EINPROGRESS) {
		if (state == SOCKET_OPEN)
			begun(fd, entry, state, flags);
		return;
	}

	if (err == EAGAIN) {
		if (state != SOCKET_ANSWERED && ran_out(fd, entry, flags))
			timed_out(fd, entry);
		return;
	}
	failure = failure_of(err, false);
	if (failure)
		exchange_end_close(fd, entry, state, failure, err);
}
