/* SPDX-License-Identifier: MIT */
/* Connections as the kernel sees them. */
#include "conn/tcp_info.h"

#include "config/current.h"
#include "conn/connection_end.h"
#include "conn/flight.h"
#include "conn/loss.h"
#include "conn/outcome.h"
#include "dest/answer_time.h"
#include "dest/demand.h"
#include "region/counters.h"
#include "region/state.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A host that waited this long for an answer and then hung up has met a timeout (shim/README.md).
 */
#define LONG_WAIT_MS 1000

/* A connect given up sooner than this was not given a chance. */
#define SHORT_WAIT (20 * NS_PER_MS)

static bool tcp_info(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	*info = (struct tcp_info) { 0 };
	return real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len) == 0 &&
	       len > offsetof(struct tcp_info, tcpi_bytes_received);
}

enum { TCP_ESTABLISHED_ = 1, TCP_SYN_SENT_ = 2, TCP_CLOSE_ = 7, TCP_CLOSE_WAIT_ = 8 };

/* True if the peer has acknowledged every byte sent; the SYN counts as one more. */
static bool taken(const struct tcp_info *info)
{
	return info->tcpi_bytes_acked > info->tcpi_bytes_sent - info->tcpi_bytes_retrans;
}

/* ns from what was sent last to what came last, -1 = nobody knows: something was sent since. */
static int64_t answer_time(const struct tcp_info *info)
{
	uint32_t sent = info->tcpi_last_data_sent, heard = info->tcpi_last_data_recv;

	return info->tcpi_bytes_sent && sent >= heard ? (int64_t)(sent - heard) * NS_PER_MS : -1;
}

bool tcp_info_taken(int fd)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return !known || taken(&info);
}

bool tcp_info_waited(int fd, const struct socket_entry *entry)
{
	struct tcp_info info;
	struct trial trial;
	int saved = errno;
	int64_t waited = monotonic() - LOAD(entry->since);
	bool known = tcp_info(fd, &info);

	errno = saved;
	if (known && LOAD(entry->state) == SOCKET_ASKED)
		waited = (int64_t)info.tcpi_last_data_sent * NS_PER_MS;
	if (waited >= LONG_WAIT_MS * NS_PER_MS)
		return true;
	return trial_of(entry, &trial) && answer_time_is_long(trial.destination, waited);
}

int64_t tcp_info_answer_time(int fd, const struct socket_entry *entry)
{
	struct tcp_info info;
	int saved = errno;
	int64_t age = monotonic() - LOAD(entry->since);

	/* The host may have been in no hurry to ask; the kernel knows when it did. */
	if (age < LONG_WAIT_MS * NS_PER_MS)
		return age;
	age = tcp_info(fd, &info) ? answer_time(&info) : -1;
	errno = saved;
	return age;
}

bool tcp_info_met(int fd)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return !known || info.tcpi_bytes_acked > 0; /* the SYN counts */
}

bool tcp_info_alive(int fd)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return known && info.tcpi_state == TCP_ESTABLISHED_ && info.tcpi_bytes_acked > 1;
}

/* The kernel remembers who called listen(). A parent that listens for its children, and connects to
 * them, does not accept itself. */
bool tcp_info_is_own(int fd)
{
	struct ucred listener;
	socklen_t len = sizeof(listener);
	int saved = errno;
	bool own = demand_serves() &&
	           real.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &len) == 0 &&
	           listener.pid == thread_process();

	errno = saved;
	return own;
}

/* Data went out and nothing came back. Who sends all along talks one way, and lives by that; who
 * sent at the beginning and then waited, for longer than answers take, has met a timeout. */
static enum failure read_one_way(const struct tcp_info *info, int64_t age,
                                 struct destination *destination, bool *alive)
{
	int64_t quiet = (int64_t)info->tcpi_last_data_sent * NS_PER_MS;
	struct account account;

	destination_account(destination, config_current(), &account);
	if (age - quiet < account.policy->min_life && answer_time_is_timeout(destination, quiet))
		return FAILURE_TIMEOUT;
	*alive = age >= account.policy->min_life && info->tcpi_bytes_acked > 1; /* 1: the SYN */
	return FAILURE_NONE;
}

/* True if what went out last may have been an acknowledgement, or more room for what comes. */
static bool is_frames(unsigned int traits)
{
	return (traits & (TRAIT_FRAMES | TRAIT_SERVED)) == (TRAIT_FRAMES | TRAIT_SERVED);
}

/* By the peer: the host has not closed yet. */
static bool is_ended(const struct tcp_info *info)
{
	return info->tcpi_state == TCP_CLOSE_WAIT_ || info->tcpi_state == TCP_CLOSE_;
}

/* For how long the host has waited on a carrier for its peer, in ms: in the handshake since that
 * last said something, then since the request as well. */
static int64_t waited_on_carrier(const struct tcp_info *info, unsigned int traits)
{
	uint32_t sent = info->tcpi_last_data_sent, heard = info->tcpi_last_data_recv;

	return traits & TRAIT_SERVED || (traits & TRAIT_HANDSHAKE_DONE && sent < heard) ? sent
	                                                                                : heard;
}

/* True if the host went on sending while its peer has been silent, and so wants no replies. */
static bool is_one_way_carrier(const struct tcp_info *info, unsigned int traits,
                               struct destination *destination)
{
	int64_t alone = (int64_t)info->tcpi_last_data_recv - info->tcpi_last_data_sent;
	struct account account;

	if (!(traits & TRAIT_HANDSHAKE_DONE) || traits & TRAIT_SERVED)
		return false;
	destination_account(destination, config_current(), &account);
	return alone * NS_PER_MS >= account.policy->min_life;
}

/* A carrier, of whose bytes nobody knows what they are, but that no reply was among them: it was
 * closed inside the handshake, or waiting for a reply. */
static enum failure read_carrier(const struct tcp_info *info, unsigned int traits,
                                 struct destination *destination)
{
	bool kept = traits & TRAIT_SERVED;

	if (kept && !taken(info))
		return FAILURE_NONE;
	if (info->tcpi_state == TCP_CLOSE_)
		return FAILURE_RESET;
	if (info->tcpi_state == TCP_CLOSE_WAIT_)
		return kept ? FAILURE_NONE : FAILURE_DROPPED;
	return info->tcpi_state == TCP_ESTABLISHED_ && !is_frames(traits) &&
	               answer_time_is_timeout(destination,
	                                      waited_on_carrier(info, traits) * NS_PER_MS) &&
	               !is_one_way_carrier(info, traits, destination)
	           ? FAILURE_TIMEOUT
	           : FAILURE_NONE;
}

/* True if its end says something: inside the handshake, or waiting in a call that would have shown
 * the reply. Else it is judged by its bytes, like any other: of a session that was only opened they
 * are the answer, and so they are where replies are read unseen. */
static bool is_telling_carrier(enum socket_state state, unsigned int traits)
{
	return traits & TRAIT_CARRIER && (!(traits & TRAIT_HANDSHAKE_DONE) ||
	                                  (state == SOCKET_ASKED && traits & TRAIT_OPENED));
}

/* True if the host has sent nothing and has not tried to read: it asked whether somebody listens,
 * or woke whoever does, and never saw who hung up first. Or it read unseen (stdio). A socket that
 * does not block is watched by its host, to whom poll has told that end. */
static bool is_knock(int fd, const struct tcp_info *info, enum socket_state state,
                     unsigned int traits)
{
	return state == SOCKET_OPEN && !info->tcpi_bytes_sent && !(traits & TRAIT_WAITED) &&
	       !(real.fcntl(fd, F_GETFL, 0) & O_NONBLOCK);
}

/* What the kernel knows of a connection, said in our words. *alive: a success. */
static enum failure read_info(int fd, const struct tcp_info *info, const struct socket_entry *entry,
                              struct destination *destination, bool *alive)
{
	int64_t age = monotonic() - LOAD(entry->since);
	enum socket_state state = LOAD(entry->state);
	unsigned int traits = LOAD(entry->traits);
	bool waited_long = age >= LONG_WAIT_MS * NS_PER_MS;
	uint64_t received = info->tcpi_bytes_received;

	*alive = false;
	/* TCP_FASTOPEN_CONNECT, and no request that would have carried the connect. */
	if (info->tcpi_state == TCP_SYN_SENT_ && info->tcpi_segs_out == 0)
		return FAILURE_NONE;
	/* Given up within a second: the loser of a race with another address, if there is another,
	 * or a host that changed its mind, if it does not do so each time. */
	if (info->tcpi_state == TCP_SYN_SENT_)
		return waited_long || (age >= SHORT_WAIT && !socket_has_sibling(fd, entry) &&
		                       answer_time_gave_up(destination))
		           ? FAILURE_TIMEOUT
		           : FAILURE_NONE;
	/* A FIN counts as a byte, and is not forgotten when a reset follows it. */
	if (received && (info->tcpi_state == TCP_CLOSE_WAIT_ ||
	                 (info->tcpi_state == TCP_CLOSE_ && received == 1)))
		received--;
	if (traits & TRAIT_TIMED_OUT && !received)
		return FAILURE_NONE; /* counted already */
	if (traits & TRAIT_ONE_WAY) /* and that it lived, too: unless the peer has ended it since */
		return is_ended(info) && !received && !(traits & TRAIT_FINISHED) ? FAILURE_DROPPED
		                                                                 : FAILURE_NONE;
	if (is_telling_carrier(state, traits))
		return traits & (TRAIT_FINISHED | TRAIT_TIMED_OUT)
		           ? FAILURE_NONE
		           : read_carrier(info, traits, destination);
	if (traits & TRAIT_SERVED) {
		/* A kept connection. That it ended is a failure only if the peer took the request;
		 * otherwise it was idle, and closed before the request went out. */
		if (state != SOCKET_ASKED || traits & TRAIT_FINISHED || !taken(info))
			return FAILURE_NONE;
		if (info->tcpi_state == TCP_CLOSE_)
			return FAILURE_RESET;
		if (info->tcpi_last_data_recv < info->tcpi_last_data_sent)
			return FAILURE_NONE; /* a reply came, unseen */
		/* Nobody has read that end: what went out last was its end. */
		if (info->tcpi_state == TCP_CLOSE_WAIT_)
			return FAILURE_NONE;
		return answer_time_is_timeout(destination, info->tcpi_last_data_sent * NS_PER_MS) &&
		               !is_frames(traits)
		           ? FAILURE_TIMEOUT
		           : FAILURE_NONE;
	}
	if (received) {
		*alive = true; /* read by stdio, a raw call, io_uring */
		answer_time_answered(destination, answer_time(info));
		return FAILURE_NONE;
	}
	if (info->tcpi_state == TCP_CLOSE_)
		return state == SOCKET_CONNECTING || info->tcpi_bytes_acked == 0 ? FAILURE_REFUSED
		                                                                 : FAILURE_RESET;
	/* Both halves ended in order, without a word from the peer: one-way conversations do. */
	if (traits & TRAIT_FINISHED)
		return FAILURE_NONE;
	if (info->tcpi_state == TCP_CLOSE_WAIT_)
		return is_knock(fd, info, state, traits) &&
		               !answer_time_knocks_often(destination, monotonic())
		           ? FAILURE_NONE
		           : FAILURE_DROPPED;
	if (info->tcpi_state != TCP_ESTABLISHED_)
		return FAILURE_NONE;
	if (state == SOCKET_ASKED || info->tcpi_bytes_sent)
		return read_one_way(info, age, destination, alive);
	/* Nothing sent: a spare connection of a pool, unless the host tried to read a greeting. */
	return traits & TRAIT_WAITED && answer_time_is_timeout(destination, age) ? FAILURE_TIMEOUT
	                                                                         : FAILURE_NONE;
}

/* The cheap half of the question: a young connection on which nothing has ended, to a destination
 * for which a success would change nothing, has nothing to tell. errno may change. */
static bool is_uneventful(int fd, const struct socket_entry *entry, struct destination *destination)
{
	struct pollfd at = { .fd = fd, .events = POLLRDHUP };
	static const long at_once[2]; /* the kernel's timespec of this word size */
	int64_t age = monotonic() - LOAD(entry->since);
	struct account account;

	if (age >= LONG_WAIT_MS * NS_PER_MS ||
	    (LOAD(entry->state) == SOCKET_ASKED && answer_time_is_long(destination, age)))
		return false;
	destination_account(destination, config_current(), &account);
	/* poll() itself is a cancellation point, which dup2 and shutdown are not. */
	return !budget_wants_success(&account) &&
	       syscall(SYS_ppoll, &at, 1, at_once, NULL, sizeof(uint64_t)) == 0;
}

/* Apart, so that nothing is cleared for what is uneventful. errno may change. */
static __attribute__((noinline)) void ask(int fd, struct socket_entry *entry,
                                          enum socket_state state)
{
	struct tcp_info info;
	struct trial trial;
	enum failure failure;
	bool alive, ours;

	if (!trial_of(entry, &trial) || !tcp_info(fd, &info))
		return;
	failure = read_info(fd, &info, entry, trial.destination, &alive);
	/* Only what would be counted is worth asking whether the number is still our socket. */
	ours = (failure || alive || (LOAD(entry->traits) & TRAIT_KEPT && is_ended(&info))) &&
	       !thread_is_borrowed() && socket_believe(fd, entry);
	if (!ours)
		return;
	if (failure)
		connection_failed(fd, entry, state, ON_LOST, failure, 0);
	else if (!alive && socket_move(fd, entry, state, ON_ENDED))
		loss_seen(entry);
	else if (alive && socket_move(fd, entry, state, ON_ANSWERED_UNSEEN)) {
		outcome_success(&trial);
		if (!(LOAD(entry->traits) & (TRAIT_SERVED | TRAIT_ONE_WAY)))
			count_answered(shim_region, trial.destination, trial.retry);
	}
}

void tcp_info_ask(int fd, struct socket_entry *entry)
{
	struct destination *destination;
	enum socket_state state = LOAD(entry->state);
	int saved;

	if (state != SOCKET_CONNECTING && state != SOCKET_OPEN && state != SOCKET_ASKED &&
	    !(state == SOCKET_ANSWERED && LOAD(entry->traits) & TRAIT_KEPT))
		return;
	destination = destination_at(LOAD(entry->slot), LOAD(entry->generation));
	if (!destination)
		return;
	saved = errno;
	if (state == SOCKET_CONNECTING || !is_uneventful(fd, entry, destination))
		ask(fd, entry, state);
	errno = saved;
}
