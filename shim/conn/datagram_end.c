/* SPDX-License-Identifier: MIT */
/* How requests by datagram end: answered, told of an error, given up. */
#include "conn/datagram_end.h"

#include "config/current.h"
#include "conn/datagram.h"
#include "conn/dns.h"
#include "conn/flight.h"
#include "region/counters.h"
#include "region/state.h"
#include "sys/lookup_mark.h"
#include "sys/real.h"
#include "sys/socket_timeout.h"
#include "sys/thread.h"

#include <errno.h>

/* Who sent what just came: as the program was told, else the one peer of the socket. 0: unknown. */
static uint64_t sender(int fd, const struct sockaddr *from, socklen_t len)
{
	struct sockaddr_storage peer;
	struct address address;

	if (from && address_read(&address, from, len))
		return datagram_peer(&address);
	len = sizeof(peer);
	if (getpeername(fd, (struct sockaddr *)&peer, &len) != 0 ||
	    !address_read(&address, (struct sockaddr *)&peer, len))
		return 0;
	return datagram_peer(&address);
}

/* refused: the name server says that it could not. */
static void answered(const struct sent_datagram *last, bool refused)
{
	struct destination *destination = destination_at(last->slot, last->generation);
	struct trial trial = {
		.destination = destination,
		.generation = last->generation,
		.owner = last->owner,
		.place = last->place,
		.number = last->number,
		.retry = last->retry,
		.probe = last->probe,
	};
	struct account account;

	if (!destination)
		return;
	if (refused && atomic_load(&destination->port) == DNS_PORT) {
		if (last->mark) /* else it has been counted */
			outcome_failure(&trial, FAILURE_STATUS, 0, 0);
		return;
	}
	destination_account(destination, config_current(), &account);
	count_answered(shim_tally, destination, last->retry);
	if (budget_wants_success(&account)) {
		outcome_success(&trial);
	} else {
		count(&destination->tally.successes);
		count(&shim_tally->successes);
	}
}

/* EAGAIN where nothing forbids to wait: SO_RCVTIMEO ran out. */
static bool ran_out(int fd, int flags)
{
	return !(flags & MSG_DONTWAIT) && socket_waits(fd);
}

ssize_t datagram_received(int fd, ssize_t result, int flags, const struct sockaddr *from,
                          socklen_t len, const struct iovec *parts, size_t count)
{
	int saved = errno;
	struct sent_datagram one;

	/* A peek takes nothing in but an error. */
	if (flags & MSG_ERRQUEUE || (flags & MSG_PEEK && result >= 0) || !shim_ready() ||
	    datagrams_none() || thread_in_lookup())
		return result;
	if (result >= 0) {
		uint64_t cookie = datagram_cookie(fd), peer = sender(fd, from, len);
		struct sent_datagram last = { 0 };
		bool probe = false;

		while (datagrams_answered(cookie, peer, &one)) {
			struct destination *of = destination_at(one.slot, one.generation);

			if (of && one.mark) /* one that failed has been ended */
				flight_end_datagram(of, &one);
			probe |= one.mark && one.probe;
			if (last.cookie == 0 || one.at > last.at)
				last = one;
		}
		last.probe = probe;
		if (last.cookie)
			answered(&last, dns_is_failure(parts, count, (size_t)result));
	} else if (saved == EAGAIN) {
		if (ran_out(fd, flags) && datagrams_overdue(datagram_cookie(fd), thread_process(),
		                                            DATAGRAM_TIMEOUT, monotonic(), &one))
			datagram_failed(&one, FAILURE_TIMEOUT, 0);
	} else {
		enum failure failure = failure_of(saved, false);

		if (failure &&
		    datagrams_overdue(datagram_cookie(fd), thread_process(), 0, monotonic(), &one))
			datagram_failed(&one, failure, saved);
	}
	errno = saved;
	return result;
}

/* True if another number refers to the socket. Looked for only where it matters. */
static bool lives_on(int fd, uint64_t cookie)
{
	int limit = (int)socket_limit();

	for (int other = 0; other < limit; other++)
		if (other != fd && socket_watched(other) & WATCH_DATAGRAM &&
		    datagram_cookie(other) == cookie)
			return true;
	return false;
}

void datagram_end(int fd)
{
	int saved = errno;
	int64_t now = monotonic();
	int32_t process = thread_process_noted();
	struct sent_datagram one;
	uint64_t cookie;

	datagram_forget_pieces(fd);
	if (datagrams_none() || process == 0)
		return;
	cookie = datagram_cookie(fd);
	if (datagrams_waits(cookie, process, 0, now) && lives_on(fd, cookie))
		goto out;
	while (datagrams_overdue(cookie, process, DATAGRAM_TIMEOUT, now, &one))
		datagram_failed(&one, FAILURE_TIMEOUT, 0);
	while (datagrams_overdue(cookie, process, 0, now, &one)) {
		struct destination *of = destination_at(one.slot, one.generation);

		if (of)
			flight_end_datagram(of, &one);
	}
	datagrams_drop(cookie, process);
out:
	errno = saved;
}
