/* SPDX-License-Identifier: MIT */
/* What the kernel knows of a connection that the program gives up, as an outcome. */
#include "conn/unseen.h"

#include "config/current.h"
#include "conn/connection_end.h"
#include "conn/data_connection.h"
#include "conn/loss.h"
#include "conn/outcome.h"
#include "conn/tcp_info.h"
#include "conn/twins.h"
#include "dest/answer_time.h"
#include "region/counters.h"
#include "region/state.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/socket_timeout.h"
#include "sys/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A connect given up sooner than this was not given a chance. */
#define SHORT_WAIT (20 * NS_PER_MS)

/* A program that has done with a connection so soon after its peer last acknowledged anything did
 * not wait for more. */
#define AT_ONCE_MS 50

/* The kernel counts in jiffies, of 10 ms at most, what tcp_info tells in ms. */
#define KERNEL_TICK (10 * NS_PER_MS)

/* True if the program has waited in vain, for so many ns, until a timeout of the socket's own ran
 * out, or for far longer than answers take. To be asked once for each wait. */
static bool is_timeout(int fd, unsigned int traits, struct destination *destination, int64_t waited)
{
	if ((traits & (TRAIT_WAITED | TRAIT_NOWAIT)) == TRAIT_WAITED &&
	    (waited >= TCP_INFO_LONG_WAIT || answer_time_is_long(destination, waited)) &&
	    waited >= lesser(socket_timeout(fd, SO_RCVTIMEO), socket_timeout(fd, SO_SNDTIMEO)) -
	                  KERNEL_TICK)
		return true;
	return answer_time_is_timeout(destination, waited, monotonic());
}

/* Data went out and nothing came back. Who sends all along sends one way, and that is a success;
 * who sent at the beginning and then waited, for longer than answers take, has met a timeout. */
static enum failure read_one_way(int fd, const struct tcp_info *info, unsigned int traits,
                                 int64_t age, struct destination *destination, bool *alive)
{
	int64_t quiet = (int64_t)info->tcpi_last_data_sent * NS_PER_MS;
	struct account account;

	destination_account(destination, config_current(), &account);
	if (age - quiet < account.policy->min_life && is_timeout(fd, traits, destination, quiet))
		return FAILURE_TIMEOUT;
	*alive = age >= account.policy->min_life && info->tcpi_bytes_acked > 1; /* 1: the SYN */
	return FAILURE_NONE;
}

/* True if what went out last may have been an acknowledgement, or more room for what comes. */
static bool is_frames(unsigned int traits)
{
	return (traits & (TRAIT_FRAMES | TRAIT_SERVED)) == (TRAIT_FRAMES | TRAIT_SERVED);
}

/* By the peer: the program has not closed yet. */
static bool is_ended(const struct tcp_info *info)
{
	return info->tcpi_state == TCP_CLOSE_WAIT_ || info->tcpi_state == TCP_CLOSE_;
}

/* For how long the program has waited on a carrier for its peer, in ms: in the handshake since that
 * last said something, then since the request as well. */
static int64_t waited_on_carrier(const struct tcp_info *info, unsigned int traits)
{
	uint32_t sent = info->tcpi_last_data_sent, heard = info->tcpi_last_data_recv;

	return traits & TRAIT_SERVED || (traits & TRAIT_HANDSHAKE_DONE && sent < heard) ? sent
	                                                                                : heard;
}

/* True if the program went on sending while its peer has been silent, and so wants no replies. */
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

/* The server has reset what came behind the goodbye, as the end of a TLS session does. */
static bool was_goodbye(const struct tcp_info *info, unsigned int traits)
{
	return !(traits & TRAIT_HTTP) && tcp_info_says_goodbye(info);
}

/* A carrier, of whose bytes nobody knows what they are, but that no reply was among them: it was
 * closed inside the handshake, or waiting for a reply. */
static enum failure read_carrier(int fd, const struct tcp_info *info, unsigned int traits,
                                 struct destination *destination)
{
	bool kept = traits & TRAIT_SERVED;

	if (kept && !tcp_info_has_taken(info))
		return FAILURE_NONE;
	if (info->tcpi_state == TCP_CLOSE_)
		return kept && was_goodbye(info, traits) ? FAILURE_NONE : FAILURE_RESET;
	if (info->tcpi_state == TCP_CLOSE_WAIT_)
		return kept ? FAILURE_NONE : FAILURE_DROPPED;
	return info->tcpi_state == TCP_ESTABLISHED_ && !is_frames(traits) &&
	               is_timeout(fd, traits, destination,
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

/* True if the program has sent nothing and has not tried to read: it asked whether somebody
 * listens, or woke whoever does, and never saw who hung up first. Or it read unseen (stdio). A
 * socket that does not block is watched by its program, to whom poll has told that end. */
static bool is_knock(int fd, const struct tcp_info *info, enum socket_state state,
                     unsigned int traits)
{
	return state == SOCKET_OPEN && !info->tcpi_bytes_sent && !(traits & TRAIT_WAITED) &&
	       !(real.fcntl(fd, F_GETFL, 0) & O_NONBLOCK);
}

/* A kept connection. That it ended is a failure only if the peer took the request; otherwise it was
 * idle, and closed before the request went out. */
static enum failure read_kept(int fd, const struct tcp_info *info, enum socket_state state,
                              unsigned int traits, struct destination *destination)
{
	if (state != SOCKET_ASKED || traits & TRAIT_FINISHED || !tcp_info_has_taken(info))
		return FAILURE_NONE;
	if (info->tcpi_state == TCP_CLOSE_)
		return was_goodbye(info, traits) ? FAILURE_NONE : FAILURE_RESET;
	if (info->tcpi_last_data_recv < info->tcpi_last_data_sent)
		return FAILURE_NONE; /* a reply came, unseen */
	/* Nobody has read that end: what went out last was its end. */
	if (info->tcpi_state == TCP_CLOSE_WAIT_)
		return FAILURE_NONE;
	return !(traits & TRAIT_TIMED_OUT) && !is_frames(traits) &&
	               is_timeout(fd, traits, destination, info->tcpi_last_data_sent * NS_PER_MS)
	           ? FAILURE_TIMEOUT
	           : FAILURE_NONE;
}

/* What the kernel knows of a connection, said in our words. *alive: a success. */
static enum failure read_info(int fd, const struct tcp_info *info, const struct socket_entry *entry,
                              struct destination *destination, bool *alive)
{
	int64_t age = monotonic() - LOAD(entry->since);
	enum socket_state state = LOAD(entry->state);
	unsigned int traits = LOAD(entry->traits);
	bool waited_long = age >= TCP_INFO_LONG_WAIT;
	uint64_t received = info->tcpi_bytes_received;

	*alive = false;
	/* TCP_FASTOPEN_CONNECT, and no request that would have carried the connect. */
	if (info->tcpi_state == TCP_SYN_SENT_ && info->tcpi_segs_out == 0)
		return FAILURE_NONE;
	/* Given up within a second: the loser of a race with another address, if there is another,
	 * or a program that changed its mind, if it does not do so each time. */
	if (info->tcpi_state == TCP_SYN_SENT_)
		return waited_long || (age >= SHORT_WAIT && !socket_has_sibling(fd, entry) &&
		                       answer_time_gave_up(destination, monotonic()))
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
		           : read_carrier(fd, info, traits, destination);
	if (traits & TRAIT_SERVED)
		return read_kept(fd, info, state, traits, destination);
	if (received) {
		*alive = true; /* read by stdio, a raw call, io_uring */
		answer_time_answered(destination, tcp_info_answered_in(info));
		return FAILURE_NONE;
	}
	if (info->tcpi_state == TCP_CLOSE_)
		return state == SOCKET_CONNECTING || info->tcpi_bytes_acked == 0 ? FAILURE_REFUSED
		                                                                 : FAILURE_RESET;
	/* Both halves ended in order, without a word from the peer: one-way conversations do. */
	if (traits & TRAIT_FINISHED)
		return FAILURE_NONE;
	if (info->tcpi_state == TCP_CLOSE_WAIT_)
		return data_connection_is_over(fd, entry) ||
		               (is_knock(fd, info, state, traits) &&
		                !answer_time_knocks_often(destination, monotonic()))
		           ? FAILURE_NONE
		           : FAILURE_DROPPED;
	if (info->tcpi_state != TCP_ESTABLISHED_)
		return FAILURE_NONE;
	if (state == SOCKET_ASKED || info->tcpi_bytes_sent)
		return read_one_way(fd, info, traits, age, destination, alive);
	/* Nothing sent: a spare connection of a pool, unless the program tried to read a greeting.
	 */
	return traits & TRAIT_WAITED && is_timeout(fd, traits, destination, age) ? FAILURE_TIMEOUT
	                                                                         : FAILURE_NONE;
}

/* True if the peer has ended the connection. errno may change. */
static bool is_hung_up(int fd)
{
	struct pollfd at = { .fd = fd, .events = POLLRDHUP };
	static const long at_once[2]; /* the kernel's timespec of this word size */

	/* poll() itself is a cancellation point, which dup2 and shutdown are not. */
	return syscall(SYS_ppoll, &at, 1, at_once, NULL, sizeof(uint64_t)) != 0;
}

/* By slot, of which one of each chunk shares a place: what held when a success was last found to
 * change nothing there, 0 = nothing. */
static ucell64 settled[REGION_CHUNK];

/* All that tells one from another in its place: the chunk, 23 bits of the slot's generation, and 32
 * of `changes`, which is never 0 and grows with each new configuration. */
static uint64_t state_of(const struct destination *destination, uint32_t slot)
{
	return (uint64_t)LOAD(destination->generation) << 40 |
	       (uint64_t)(slot / REGION_CHUNK) << 32 | (uint32_t)LOAD(shim_region->changes);
}

_Static_assert(REGION_CHUNKS <= 256, "the number of a chunk fits");

/* True if a success would change something. As on a kept connection (conn/exchange_end.c) that is
 * asked once for as long as nothing goes wrong anywhere. */
static bool wants_success(struct destination *destination, uint32_t slot)
{
	uint64_t holds = state_of(destination, slot);
	struct account account;

	if (LOAD(settled[slot % REGION_CHUNK]) == holds)
		return false;
	destination_account(destination, config_current(), &account);
	if (budget_wants_success(&account))
		return true;
	STORE(settled[slot % REGION_CHUNK], holds);
	return false;
}

/* The cheap half of the question: a young connection on which nothing has ended, to a destination
 * for which a success would change nothing, has nothing to tell. errno may change. */
static inline bool is_uneventful(int fd, const struct socket_entry *entry, enum socket_state state,
                                 struct destination *destination, uint32_t slot)
{
	int64_t age = monotonic() - LOAD(entry->since);

	if (age >= TCP_INFO_LONG_WAIT ||
	    (state == SOCKET_ASKED && answer_time_is_long(destination, age)))
		return false;
	return !wants_success(destination, slot) && !is_hung_up(fd);
}

/* True if the program has done with a connection at once, and the peer has not ended it: it asked
 * whether somebody is there, or had something to say and nothing to hear. info: NULL if the kernel
 * does not tell. errno may change. */
static bool is_left_at_once(int fd, const struct tcp_info *info, const struct socket_entry *entry)
{
	enum socket_state state = LOAD(entry->state);

	if (LOAD(entry->traits) & (TRAIT_SERVED | TRAIT_TIMED_OUT))
		return false;
	if (info)
		return info->tcpi_state == TCP_ESTABLISHED_ &&
		       info->tcpi_last_ack_recv < AT_ONCE_MS;
	return state != SOCKET_CONNECTING &&
	       monotonic() - LOAD(entry->since) < AT_ONCE_MS * NS_PER_MS && !is_hung_up(fd);
}

/* True if the peer has never answered the connect. */
static bool is_unmet(const struct tcp_info *info)
{
	return info->tcpi_state == TCP_SYN_SENT_ ||
	       (info->tcpi_state == TCP_CLOSE_ && info->tcpi_bytes_acked == 0);
}

/* Apart, so that nothing is cleared for what is uneventful. errno may change. */
static __attribute__((noinline)) void ask(int fd, struct socket_entry *entry,
                                          enum socket_state state)
{
	struct tcp_info info;
	struct trial trial;
	enum failure failure = FAILURE_NONE;
	bool alive = false, known, ours;

	if (!trial_of(entry, &trial))
		return;
	known = tcp_info(fd, &info);
	if (known)
		failure = read_info(fd, &info, entry, trial.destination, &alive);
	/* Where the last one failed before anybody answered, that somebody does says that it is
	 * back. */
	if (!failure && !alive && LOAD(trial.destination->last_unmet) == 1)
		alive = is_left_at_once(fd, known ? &info : NULL, entry);
	/* Only what would be counted is worth asking whether the number is still our socket. */
	ours =
	    (failure || alive || (known && LOAD(entry->traits) & TRAIT_KEPT && is_ended(&info))) &&
	    !thread_is_borrowed() && socket_believe(fd, entry);
	if (!ours)
		return;
	if (failure)
		connection_failed(fd, entry, state, is_unmet(&info) ? ON_UNREACHED : ON_LOST,
		                  failure, 0);
	else if (!alive && socket_move(fd, entry, state, ON_ENDED))
		loss_seen(entry);
	else if (alive && socket_move(fd, entry, state, ON_ANSWERED_UNSEEN)) {
		outcome_success(&trial);
		if (!(LOAD(entry->traits) & (TRAIT_SERVED | TRAIT_ONE_WAY)))
			count_answered(shim_tally, trial.destination, trial.retry);
	}
}

void unseen_ask(int fd, struct socket_entry *entry)
{
	struct destination *destination;
	enum socket_state state = LOAD(entry->state);
	uint32_t slot = LOAD(entry->slot);
	int saved;

	if (state != SOCKET_CONNECTING && state != SOCKET_OPEN && state != SOCKET_ASKED &&
	    !(state == SOCKET_ANSWERED && LOAD(entry->traits) & TRAIT_KEPT))
		return;
	destination = destination_at(slot, LOAD(entry->generation));
	if (!destination)
		return;
	saved = errno;
	if (state == SOCKET_CONNECTING || !is_uneventful(fd, entry, state, destination, slot))
		ask(fd, entry, state);
	errno = saved;
}
