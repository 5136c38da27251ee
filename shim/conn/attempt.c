/* SPDX-License-Identifier: MIT */
/* The beginning of an attempt: whether it is ours to judge, whose it is, and its entry in the
 * socket table. */
#include "conn/attempt.h"

#include "config/current.h"
#include "conn/asked_by.h"
#include "conn/flight.h"
#include "conn/http_reply.h"
#include "conn/judging.h"
#include "region/state.h"
#include "report/refresh.h"
#include "sys/cell.h"
#include "sys/likely.h"
#include "sys/lookup_mark.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static inline bool open_account(struct attempt *try)
{
	int index;

	try->config = config_current();
	index = destination_account_at(try->trial.destination, try->trial.slot, try->config,
	                               &try->account);
	try->label = try->config->labels[index];
	if (try->account.policy->mode != MODE_OFF)
		return true;
	refresh(try->began); /* or nothing would ever notice that it was switched on again */
	return false;
}

/* Evicted during a long wait: nothing is known of it any more. */
bool attempt_open_account(struct attempt *try)
{
	bool is_judged = trial_stands(&try->trial) && open_account(try);

	attempt_tell_claim(try);
	return is_judged;
}

static __attribute__((noinline)) int option_of(int fd, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return real.getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 ? value : -1;
}

/* What was inherited or received has to be asked. SCTP is left alone, and both its types look like
 * streams. */
static __attribute__((noinline)) bool is_stream_asked(int fd, unsigned int watched)
{
	int type;

	if (watched & WATCH_END ? !(watched & WATCH_STALE) : watched & WATCH_OTHER)
		return watched & WATCH_END;
	type = option_of(fd, SO_TYPE);
	return (type == SOCK_STREAM || type == SOCK_SEQPACKET) &&
	       option_of(fd, SO_PROTOCOL) != IPPROTO_SCTP;
}

/* What socket() made we know, and that only streams have entries. */
static inline bool is_stream(int fd)
{
	unsigned int watched = socket_watched(fd);

	return likely((watched & (WATCH_STREAM | WATCH_OTHER | WATCH_END | WATCH_STALE)) ==
	              WATCH_STREAM) ||
	       is_stream_asked(fd, watched);
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
	if (unlikely(entry) && LOAD(entry->state) != SOCKET_NONE && socket_believe(fd, entry)) {
		*try = (struct attempt) { .fd = fd, .saved_errno = saved, .unjudged = true };
		return true;
	}
	if (!is_stream(fd)) {
		asked_connects(fd);
		errno = saved;
		return false;
	}
	memset((char *)try + offsetof(struct attempt, entry), 0,
	       sizeof(*try) - offsetof(struct attempt, entry));
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
		.slot = destination_slot(destination),
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
	try->has_data = true;
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
	if (!try->trial.destination) {
		errno = saved;
		return false;
	}
	try->trial.slot = destination_slot(try->trial.destination);
	try->trial.generation = (uint32_t)LOAD(try->trial.destination->generation);
	if (!open_account(try)) {
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
static uint32_t traits_of_claim(const struct attempt *try)
{
	return (try->trial.retry ? TRAIT_RETRY : 0) | (try->paid ? TRAIT_PAID : 0) |
	       (try->demanded ? TRAIT_DEMANDED : 0) | (try->claimed.passed ? TRAIT_PASSED : 0) |
	       (try->claimed.counted ? TRAIT_CLAIMED_COUNTED : 0) |
	       (try->claimed.held ? TRAIT_CLAIMED_HELD : 0) |
	       (try->deferred ? TRAIT_REPLY_FAILED : 0);
}

/* What few attempts have: the failure that they answer, and what their policy asks for besides. */
static __attribute__((noinline)) uint32_t start_slowly(const struct attempt *try,
                                                       struct socket_entry *entry)
{
	const struct policy *policy = try->account.policy;

	/* Not our own wait. */
	STORE(entry->since, try->admitted                              ? try->admitted
	                    : try->trial.retry || policy->bounds_first ? monotonic()
	                                                               : try->began);
	STORE(entry->fingerprint, try->trial.fingerprint);
	STORE(entry->number, (uint8_t)lesser(try->trial.number, 255));
	STORE(entry->purse, try->purse);
	STORE(entry->claimed_at, try->claimed.at);
	STORE(entry->claimed_owner, try->claimed.owner);
	STORE(entry->claimed_fingerprint, try->claimed.fingerprint);
	STORE(entry->claimed_place, (uint16_t)try->claimed.place);
	STORE(entry->claimed_number, (uint8_t)try->claimed.number);
	STORE(entry->claimed_refused, try->claimed.refused);
	return (try->trial.counted ? TRAIT_COUNTED : 0) |
	       (policy->reply_timeout > 0 ? TRAIT_REPLY_TIMEOUT : 0) |
	       (policy->reconnect_spread > 0 ? TRAIT_KEPT : 0) |
	       (try->rule == RULE_QUIET ? 0 : traits_of_claim(try)) | flight_traits(try);
}

void attempt_start(struct attempt *try)
{
	struct socket_entry *entry = try->unjudged ? NULL : socket_begin(try->fd);
	uint32_t traits;

	if (!entry)
		return;
	if (try->quick) {
		STORE(entry->since, try->began);
		STORE(entry->fingerprint, 0);
		STORE(entry->number, 1);
		STORE(entry->claimed_number, 0);
		STORE(entry->claimed_fingerprint, 0);
		traits = TRAIT_COUNTED;
	} else {
		traits = start_slowly(try, entry);
	}
	STORE(entry->began, try->began);
	STORE(entry->process, thread_process());
	STORE(entry->slot, try->trial.slot);
	STORE(entry->generation, try->trial.generation);
	STORE(entry->owner, try->trial.owner);
	STORE(entry->place, (uint16_t)try->trial.place);
	STORE(entry->offer, OFFER_NONE);
	STORE(entry->calling, true);
	STORE(entry->timeout_ms, 0);
	STORE(entry->traits, traits | reply_trait(try->fd, try->account.policy));
	try->entry = entry;
	socket_show(try->fd, entry, SOCKET_CONNECTING);
}
