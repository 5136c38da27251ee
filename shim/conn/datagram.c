/* SPDX-License-Identifier: MIT */
/* Requests by datagram: what is sent again without an answer is a retry. */
#include "conn/datagram.h"

#include "config/current.h"
#include "conn/datagram_end.h"
#include "conn/flight.h"
#include "conn/judging.h"
#include "region/state.h"
#include "sys/hash.h"
#include "sys/lookup_mark.h"
#include "sys/memory.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LARGEST 65507 /* bytes that fit into a datagram; of more the kernel says EMSGSIZE */
#define HASHED  512   /* bytes that are compared, besides the length */

/* Numbers on which a datagram has been begun with MSG_MORE. */
static _Atomic(uint8_t) unfinished[SOCKETS / 8];

void datagram_forget_pieces(int fd)
{
	atomic_fetch_and(&unfinished[fd / 8], (uint8_t) ~(1 << fd % 8));
}

uint64_t datagram_cookie(int fd)
{
	uint64_t cookie = socket_cookie(fd);

	return cookie != 0 && cookie != COOKIE_NONE ? cookie : UINT64_C(1) << 63 | (uint64_t)fd;
}

/* A hash of what the program sends, not 0: of its length and its first HASHED bytes. 0: they cannot
 * be read. Before the call, for afterwards another thread may have had the answer, and freed them.
 */
static uint64_t hash_parts(const struct iovec *parts, size_t count, size_t size)
{
	uint64_t hash = hash_word(0, size);
	size_t left = HASHED;

	for (size_t i = 0; i < count && left > 0; i++) {
		size_t n = parts[i].iov_len < left ? parts[i].iov_len : left;

		if (n == 0)
			continue;
		if (!memory_is_there(parts[i].iov_base, n))
			return 0;
		hash = hash_bytes(hash, parts[i].iov_base, n);
		left -= n;
	}
	return hash ? hash : 1;
}

uint64_t datagram_peer(const struct address *address)
{
	static const uint8_t any[16], any4[16] = { [10] = 0xff, [11] = 0xff };
	struct address plain = *address;

	if (memcmp(address->bytes, any, 16) == 0 || memcmp(address->bytes, any4, 16) == 0)
		return 0;
	plain.scope = 0;
	return hash_word(address_hash(&plain), address->port);
}

/* Everybody is asked, and others answer. */
static bool is_to_many(const struct address *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(address->bytes, mapped, sizeof(mapped)) != 0)
		return address->bytes[0] == 0xff;
	return address->bytes[12] >= 224;
}

/* Pieces of one datagram go as they are: it could not be throttled once the kernel has some. */
static bool is_piece(int fd, int flags)
{
	_Atomic(uint8_t) *byte = &unfinished[fd / 8];
	uint8_t bit = (uint8_t)(1 << fd % 8);
	bool begun = LOAD(*byte) & bit;

	if (flags & MSG_MORE) {
		if (!begun)
			atomic_fetch_or(byte, bit);
		return true;
	}
	if (begun)
		atomic_fetch_and(byte, (uint8_t)~bit);
	return begun;
}

static bool is_corked(int fd)
{
	int corked = 0;
	socklen_t len = sizeof(corked);

	return real.getsockopt(fd, IPPROTO_UDP, UDP_CORK, &corked, &len) == 0 && corked;
}

/* True if an error waits on the socket: the next call says so, and sends nothing. */
static bool has_error(int fd)
{
	struct pollfd at = { .fd = fd };
	static const long at_once[2]; /* the kernel's timespec of this word size */

	return syscall(SYS_ppoll, &at, 1, at_once, NULL, sizeof(uint64_t)) == 1 &&
	       at.revents & POLLERR;
}

static bool measure(struct datagram *datagram)
{
	datagram->size = 0;
	if (datagram->count > IOV_MAX)
		return false; /* an error of the kernel's */
	for (size_t i = 0; i < datagram->count; i++) {
		if (!memory_is_there(&datagram->parts[i], sizeof(*datagram->parts)) ||
		    datagram->parts[i].iov_len > LARGEST)
			return false;
		datagram->size += datagram->parts[i].iov_len;
		if (datagram->size > LARGEST)
			return false;
	}
	return true;
}

void datagram_failed(const struct sent_datagram *one, enum failure failure, int err)
{
	struct trial trial = {
		.destination = destination_at(one->slot, one->generation),
		.owner = one->owner,
		.place = one->place,
		.number = one->number,
		.began = one->at,
		.retry = one->retry,
		.probe = one->probe,
		.mute = true,
	};

	if (!trial.destination)
		return;
	outcome_failure(&trial, failure, err, 0);
	flight_end_datagram(trial.destination, one);
}

/* The address that a datagram goes to, in our form. False: nobody that is to be judged. */
static bool find_peer(struct datagram *datagram, int fd, const struct sockaddr *to, socklen_t len,
                      struct address *address)
{
	if (!to) {
		len = sizeof(datagram->peer);
		to = (struct sockaddr *)&datagram->peer;
		if (getpeername(fd, (struct sockaddr *)&datagram->peer, &len) != 0)
			return false;
	}
	if (!address_read(address, to, len) || address->is_unix || is_to_many(address))
		return false;
	address->is_datagram = true;
	datagram->try.address = to;
	datagram->try.len = len;
	return true;
}

/* First try or retry? What an unanswered datagram has to say comes first. False: neither. */
static bool judge(struct datagram *datagram, const struct name_hit *hit)
{
	struct attempt *try = &datagram->try;
	struct sent_datagram *sent = &datagram->sent;
	struct sent_datagram failed;

	sent->mark = hash_parts(datagram->parts, datagram->count, datagram->size);
	if (sent->mark == 0)
		return false;
	if (datagrams_is_open(sent)) {
		if (is_corked(try->fd) || has_error(try->fd)) {
			try->unjudged = true;
			return true;
		}
		try->repeats = datagrams_repeated(sent, try->account.policy->horizon, &failed);
		if (try->repeats)
			datagram_failed(&failed, FAILURE_TIMEOUT, 0);
		try->began = monotonic();
	}
	attempt_judge(try, hit);
	return true;
}

bool datagram_begin(struct datagram *datagram, int fd, const struct iovec *parts, size_t count,
                    int flags, const struct sockaddr *to, socklen_t len)
{
	struct attempt *try = &datagram->try;
	int saved = errno;
	struct address address;
	struct name_hit hit;

	if (!shim_ready() || is_piece(fd, flags) || thread_in_lookup())
		return false;
	*try = (struct attempt) { .fd = fd, .saved_errno = saved, .is_datagram = true };
	datagram->parts = parts;
	datagram->count = count;
	if (!find_peer(datagram, fd, to, len, &address) || !measure(datagram))
		goto out;
	try->began = monotonic();
	try->no_wait = flags & MSG_DONTWAIT;
	if (!destination_asks_datagrams(&address, config_current(), try->began))
		goto out;
	try->trial.owner = thread_id();
	try->trial.destination = destination_of(&address, &hit, try->began);
	try->trial.slot = destination_slot(try->trial.destination);
	try->trial.place = hit.place;
	if (!attempt_open_account(try))
		goto out;
	datagram->sent = (struct sent_datagram) {
		.cookie = datagram_cookie(fd),
		.peer = datagram_peer(&address),
		.at = try->began,
		.slot = try->trial.slot,
		.generation = (uint32_t)atomic_load(&try->trial.destination->generation),
		.owner = try->trial.owner,
		.process = thread_process(),
		.place = hit.place,
	};
	if (judge(datagram, &hit)) {
		errno = saved;
		return true;
	}
out:
	errno = saved;
	return false;
}

/* A send that failed says it of the datagram before, if there is one without an answer: then the
 * one at hand was not sent, and has answered nothing. */
static void settle_failed(struct datagram *datagram, int err)
{
	struct attempt *try = &datagram->try;
	enum failure failure = err == EAGAIN ? FAILURE_NONE : failure_of(err, false);
	struct sent_datagram failed;

	if (failure && datagrams_overdue(datagram->sent.cookie, datagram->sent.process, 0,
	                                 try->began, &failed))
		datagram_failed(&failed, failure, err);
	else if (failure && !try->unjudged) {
		outcome_failure(&try->trial, failure, err, 0);
		return;
	}
	if (try->trial.retry)
		failures_add(try->trial.destination, &try->claimed);
}

ssize_t datagram_settle(struct datagram *datagram, ssize_t result)
{
	struct attempt *try = &datagram->try;
	struct sent_datagram *sent = &datagram->sent;
	int err = errno;

	if (result < 0) {
		settle_failed(datagram, err);
		if (!try->unjudged)
			flight_end_attempt(try);
	} else {
		unsigned int traits = try->unjudged ? 0 : flight_traits(try);

		err = try->saved_errno;
		sent->at = monotonic();
		sent->number = try->trial.number;
		sent->retry = try->trial.retry;
		sent->probe = try->trial.probe;
		sent->flying = traits & TRAIT_FLYING;
		sent->paid = try->paid;
		sent->permit = try->permit;
		datagrams_add(sent);
	}
	errno = err;
	return result;
}

ssize_t datagram_swallowed(const struct datagram *datagram)
{
	errno = datagram->try.saved_errno;
	return (ssize_t)datagram->size;
}
