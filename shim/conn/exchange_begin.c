/* SPDX-License-Identifier: MIT */
/* How an exchange begins: by a request, which may turn out not to have gone. */
#include "conn/exchange_begin.h"

#include "conn/connect_timeout.h"
#include "conn/exchange_end.h"
#include "conn/feedback.h"
#include "conn/http_reply.h"
#include "conn/tcp_info.h"
#include "conn/traffic.h"
#include "region/counters.h"
#include "region/state.h"
#include "sys/cell.h"
#include "sys/real.h"

#include <errno.h>

struct socket_entry *exchange_entry(int fd)
{
	struct socket_entry *entry = socket_find(fd);

	if (!entry || (socket_watched(fd) & WATCH_STALE ? !socket_believe(fd, entry)
	                                                : !socket_identify(fd, entry)))
		return NULL;
	if (LOAD(entry->traits) & TRAIT_BOUNDED) /* the program left the connect before its end */
		connect_timeout_lift(fd, entry);
	return entry;
}

/* A connection that is only written to succeeds by its age: looked at once it is old enough, and
 * only while a success would matter. */
static void count_one_way(int fd, struct socket_entry *entry)
{
	unsigned int traits = LOAD(entry->traits);
	struct account account;
	struct trial trial;

	if ((traits & TRAIT_SERVED && !(traits & TRAIT_CARRIER)) ||
	    !exchange_end_wanted(entry, &trial, &account) ||
	    monotonic() - LOAD(entry->since) < account.policy->min_life || !tcp_info_alive(fd))
		return;
	if (!socket_believe(fd, entry) || socket_mark(entry, TRAIT_ONE_WAY) & TRAIT_ONE_WAY)
		return;
	socket_move(fd, entry, SOCKET_ASKED, ON_ONE_WAY);
	outcome_success(&trial);
	if (!(LOAD(entry->traits) & TRAIT_SERVED))
		count_answered(shim_tally, trial.destination, trial.retry);
}

static void asked(struct socket_entry *entry, uint32_t fingerprint)
{
	if (LOAD(entry->traits) & TRAIT_AGAIN) {
		atomic_fetch_and(&entry->traits, (uint32_t)~TRAIT_AGAIN);
		STORE(entry->fingerprint, fingerprint);
	} else if (!(LOAD(entry->traits) & TRAIT_SERVED)) {
		feedback_first(entry, fingerprint);
	} else {
		feedback_next(entry, fingerprint);
	}
}

/* The last of a request that was written in pieces went. */
static void late(int fd, struct socket_entry *entry, uint32_t fingerprint)
{
	if (LOAD(entry->traits) & TRAIT_SERVED)
		feedback_late(entry, fingerprint);
	else
		feedback_first(entry, fingerprint);
	socket_move(fd, entry, SOCKET_ASKED, ON_REQUEST); /* what is watched changes */
}

uint32_t exchange_begin(int fd, uint32_t fingerprint)
{
	struct socket_entry *entry;
	int saved = errno;
	enum socket_state state;

	entry = exchange_entry(fd);
	if (!entry)
		goto out;
	state = LOAD(entry->state);
	if ((state == SOCKET_OPEN || state == SOCKET_ANSWERED || state == SOCKET_HEAD) &&
	    socket_move(fd, entry, state, ON_REQUEST)) {
		reply_forget(fd);
		asked(entry, fingerprint);
		fingerprint = TRAFFIC_BEGUN;
	}
out:
	errno = saved;
	return fingerprint;
}

/* Where another thread's request went meanwhile, on this connection or on one that has been given
 * the number, its exchange is taken back instead: the outcome of that one is not seen, and counts
 * as nothing. */
void exchange_take_back(int fd)
{
	struct socket_entry *entry = socket_find(fd);
	unsigned int traits;

	if (!entry)
		return;
	traits = LOAD(entry->traits);
	if (socket_move(fd, entry, SOCKET_ASKED,
	                traits & TRAIT_SERVED ? ON_TAKEN_BACK_KEPT : ON_TAKEN_BACK) &&
	    traits & TRAIT_SERVED && traits & TRAIT_RETRY)
		trait_add(entry, TRAIT_AGAIN); /* judged, and paid for */
}

void exchange_went(int fd, struct socket_entry *entry, enum socket_state state,
                   uint32_t fingerprint)
{
	if (state == SOCKET_ASKED && fingerprint)
		late(fd, entry, fingerprint);
	else if (state == SOCKET_ASKED)
		count_one_way(fd, entry);
	else if (state < SOCKET_DONE && socket_move(fd, entry, state, ON_REQUEST))
		asked(entry, fingerprint);
}
