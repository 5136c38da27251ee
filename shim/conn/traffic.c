/* SPDX-License-Identifier: MIT */
/* Request and reply, seen from outside: an exchange begins with the first write after a reply and
 * succeeds with the first byte read after it. */
#include "conn/traffic.h"

#include "conn/asked_by.h"
#include "conn/datagram_end.h"
#include "conn/exchange_begin.h"
#include "conn/exchange_end.h"
#include "conn/feedback.h"
#include "conn/greeting.h"
#include "conn/http.h"
#include "conn/not_now.h"
#include "conn/pieces.h"
#include "conn/release.h"
#include "conn/tls_session.h"
#include "dest/demand.h"
#include "dest/tries.h"
#include "sys/cell.h"
#include "sys/memory.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>

/* The serving side has exchanges too: a request is new work, more of the same stream is not, or a
 * forwarder of log lines would have an excuse for every line. */
static void serve_exchange(int fd)
{
	atomic_fetch_xor_explicit(&socket_watch[fd], WATCH_READ | WATCH_WRITE,
	                          memory_order_relaxed);
}

/* Bytes came from one who is served: somebody asks the program for something. */
static void served_asked(int fd)
{
	int before = demand_last_served();

	demand_request_read(fd,
	                    before >= 0 && before != fd && socket_watched(before) & WATCH_SERVER);
	tries_heard(TRIES_NOWHERE);
	serve_exchange(fd);
}

/* Apart, so that the common case needs no stack frame. */
static __attribute__((noinline)) ssize_t received(int fd, ssize_t result, size_t wanted, int flags,
                                                  const struct iovec *parts, size_t count)
{
	int saved = errno;
	struct socket_entry *entry;
	enum socket_state state;

	thread_facts.error = &errno;
	if (socket_watched(fd) & WATCH_SERVER) {
		if (result > 0 && socket_watched(fd) & WATCH_OTHER)
			asked_by_nobody(fd);
		else if (result > 0)
			served_asked(fd);
		return result;
	}
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_received(fd, result, flags, NULL, 0, parts, count);
	/* A peek takes nothing in, but a reset that it meets is gone for the reads after it. */
	if (flags & MSG_ERRQUEUE || (flags & MSG_PEEK && result >= 0) ||
	    (result == 0 && wanted == 0))
		return result;
	entry = exchange_entry(fd);
	if (!entry || LOAD(entry->calling))
		goto out;
	if (result > 0)
		tries_heard(LOAD(entry->slot));
	state = LOAD(entry->state);
	if (state == SOCKET_THROTTLED && saved != EAGAIN)
		release_options_over(fd);
	if (result > 0 && session_carries(fd)) {
		if (session_is_called()) {
			/* It need not be asked how the connect went: bytes came. */
			if (state == SOCKET_CONNECTING)
				socket_move(fd, entry, state, ON_CONNECTED);
			goto out;
		}
		count = 0; /* nobody can read them */
	}
	if (state == SOCKET_HEAD) {
		if (result > 0)
			exchange_end_head(fd, entry, parts, count, (size_t)result);
		else if (result == 0 || (saved != EAGAIN && failure_of(saved, false)))
			socket_move(fd, entry, state, ON_ENDED); /* and counted */
		goto out;
	}
	if (state == SOCKET_ANSWERED && result > 0)
		greeting_more(fd, entry, parts, count, (size_t)result);
	if (state != SOCKET_CONNECTING && state != SOCKET_OPEN && state != SOCKET_ASKED &&
	    !(state == SOCKET_ANSWERED && result <= 0))
		goto out;
	if (result > 0) {
		exchange_end_reply(fd, entry, state, parts, count, (size_t)result);
	} else if (result == 0) {
		exchange_end_close(fd, entry, state, FAILURE_DROPPED, 0);
	} else if (saved != EINTR) {
		trait_add(entry, TRAIT_WAITED);
		exchange_end_error(fd, entry, state, saved, flags);
		socket_looked(fd, entry);
	}
out:
	errno = saved;
	return result;
}

/* Apart, so that a reply pays for no frame. */
static __attribute__((noinline)) ssize_t received_one(int fd, ssize_t result, size_t wanted,
                                                      int flags, const void *data)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)data,
		              .iov_len = result > 0 ? (size_t)result : 0 };

	/* MSG_TRUNC: the bytes were thrown away. */
	return received(fd, result, wanted, flags, &part, data && !(flags & MSG_TRUNC));
}

/* The commonest answer of all to a program that waits for events: nothing there yet. */
static bool may_be_nothing_yet(int fd, int flags)
{
	return LOAD(socket_watch[fd]) & (WATCH_EMPTY | WATCH_SERVER) ||
	       (flags & MSG_DONTWAIT && LOAD(socket_at(fd)->traits) & TRAIT_WAITED);
}

static bool is_nothing_yet(void)
{
	return thread_facts.error && *thread_facts.error == EAGAIN;
}

/* A reply on a kept connection of which no more than the first line need be looked at. data: n
 * bytes. */
static inline bool is_common(int fd, int flags, const void *data, size_t n)
{
	struct socket_entry *entry = socket_at(fd);

	return !(flags & (MSG_PEEK | MSG_ERRQUEUE | MSG_TRUNC)) && !thread_facts.stuck &&
	       (!(LOAD(entry->traits) & TRAIT_HTTP) || (data && http_is_fine(data, n))) &&
	       socket_exchange(fd, entry, (uint32_t)LOAD(shim_region->changes), SOCKET_ASKED);
}

ssize_t traffic_received(int fd, ssize_t result, size_t wanted, int flags, const void *data)
{
	if (result > 0 && is_common(fd, flags, data, (size_t)result))
		return result;
	if (result < 0 && may_be_nothing_yet(fd, flags) && is_nothing_yet())
		return result;
	return received_one(fd, result, wanted, flags, data);
}

ssize_t traffic_received_parts(int fd, ssize_t result, size_t wanted, int flags,
                               const struct iovec *parts, size_t count)
{
	/* One part, as most have, is a buffer. */
	if (result > 0 && count > 0 && parts->iov_len >= (size_t)result)
		return traffic_received(fd, result, wanted, flags, parts->iov_base);
	if (result < 0)
		return traffic_received(fd, result, wanted, flags, NULL);
	return received(fd, result, wanted, flags, parts, flags & MSG_TRUNC ? 0 : count);
}

/* A connection of ours on which a request would tell something. */
static struct socket_entry *looked_at(int fd)
{
	const struct socket_entry *entry = socket_at(fd);

	return traffic_is_unchanged(entry) || socket_watched(fd) & WATCH_SERVER ||
	               LOAD(entry->state) == SOCKET_THROTTLED
	           ? NULL
	           : socket_find(fd);
}

/* Apart, as few requests are so short. */
static __attribute__((noinline)) void may_offer(int fd)
{
	struct socket_entry *entry = socket_find(fd);
	enum socket_state state = entry ? LOAD(entry->state) : SOCKET_NONE;

	if ((state == SOCKET_OPEN || state == SOCKET_CONNECTING) &&
	    !(LOAD(entry->traits) & TRAIT_SERVED))
		STORE(entry->offer, OFFER_PERHAPS);
}

void traffic_look_for_offer(int fd, const void *data, size_t n)
{
	struct socket_entry *entry = socket_find(fd);

	if (entry && LOAD(entry->offer) == OFFER_PERHAPS)
		STORE(entry->offer, not_now_is_offer(data, n) ? OFFER_MADE : OFFER_NONE);
}

uint32_t traffic_look(int fd, const void *data, size_t n)
{
	struct socket_entry *entry = looked_at(fd);

	if (not_now_may_be_offer((ssize_t)n))
		may_offer(fd);
	if (session_is_called())
		session_look(fd, &(struct iovec) { (void *)(uintptr_t)data, n });
	return entry ? feedback_look(entry, data, n) : 0;
}

uint32_t traffic_look_parts(int fd, const struct iovec *parts, size_t count)
{
	struct socket_entry *entry = looked_at(fd);

	if (session_is_called() && count > 0)
		session_look(fd, parts);
	return entry ? feedback_look_parts(entry, parts, count) : 0;
}

uint32_t traffic_look_message(int fd, const struct msghdr *message)
{
	struct socket_entry *entry = looked_at(fd);

	if (session_is_called() && memory_is_there(message, sizeof(*message)))
		session_look(fd, message->msg_iov);
	return entry ? feedback_look_message(entry, message) : 0;
}

uint32_t traffic_begin(int fd, uint32_t fingerprint)
{
	struct socket_entry *entry = socket_at(fd);

	if (!(LOAD(entry->traits) & TRAIT_HTTP))
		return fingerprint;
	return exchange_begin(fd, fingerprint);
}

static __attribute__((noinline)) ssize_t sent(int fd, ssize_t result, int flags,
                                              uint32_t fingerprint)
{
	int saved = errno;
	struct socket_entry *entry;
	enum socket_state state;

	if (socket_watched(fd) & WATCH_SERVER) {
		if (result > 0 && socket_watched(fd) & WATCH_OTHER)
			asked_has_sent(fd);
		else if (result > 0)
			serve_exchange(fd);
		return result;
	}
	entry = exchange_entry(fd);
	if (!entry || LOAD(entry->calling))
		goto out;
	state = LOAD(entry->state);
	if (state == SOCKET_THROTTLED && saved != EAGAIN)
		release_options_over(fd);
	if (state < SOCKET_OPEN && state != SOCKET_CONNECTING)
		goto out;
	if (result > 0) {
		if (!session_carries(fd) || !session_is_called())
			exchange_went(fd, entry, state, fingerprint);
	} else if (result < 0 && state < SOCKET_DONE && saved != EINTR) {
		exchange_end_error(fd, entry, state, saved, flags);
	}
out:
	errno = saved;
	return result;
}

ssize_t traffic_not_sent(int fd, ssize_t result, int flags)
{
	exchange_take_back(fd);
	return sent(fd, result, flags, 0);
}

ssize_t traffic_sent(int fd, ssize_t result, int flags, uint32_t fingerprint)
{
	struct socket_entry *entry = socket_at(fd);

	if (LOAD(entry->traits) & TRAIT_PARTIAL)
		pieces_sent(fd, entry, result);
	if (fingerprint == TRAFFIC_BEGUN)
		return result > 0 ? result : traffic_not_sent(fd, result, flags);
	return sent(fd, result, flags, fingerprint);
}
