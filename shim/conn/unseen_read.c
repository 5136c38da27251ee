/* SPDX-License-Identifier: MIT */
/* What the kernel knows of a connection, said in our words. */
#include "conn/unseen_read.h"

#include "config/current.h"
#include "conn/data_connection.h"
#include "conn/feedback.h"
#include "conn/twins.h"
#include "dest/answer_time.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/socket_timeout.h"

#include <fcntl.h>

/* A connect given up sooner than this was not given a chance. */
#define SHORT_WAIT (20 * NS_PER_MS)

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
static enum failure read_one_way(int fd, const struct tcp_info *info,
                                 const struct socket_entry *entry, int64_t age,
                                 struct destination *destination, bool *alive)
{
	int64_t quiet = (int64_t)info->tcpi_last_data_sent * NS_PER_MS;
	struct account account;

	destination_account(destination, config_current(), &account);
	if (age - quiet < account.policy->min_life &&
	    (is_timeout(fd, LOAD(entry->traits), destination, quiet) ||
	     (feedback_wants_answer(entry) &&
	      answer_time_is_in_vain(destination, quiet, monotonic()))))
		return FAILURE_TIMEOUT;
	*alive = age >= account.policy->min_life && info->tcpi_bytes_acked > 1; /* 1: the SYN */
	return FAILURE_NONE;
}

/* True if what went out last may have been an acknowledgement, or more room for what comes. */
static bool is_frames(unsigned int traits)
{
	return (traits & (TRAIT_FRAMES | TRAIT_SERVED)) == (TRAIT_FRAMES | TRAIT_SERVED);
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

enum failure unseen_read(int fd, const struct tcp_info *info, const struct socket_entry *entry,
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
	/* Given up within a second: the loser of a race with another address, if one was won, or a
	 * program that changed its mind, if it does not do so each time. */
	if (info->tcpi_state == TCP_SYN_SENT_)
		return waited_long || (age >= SHORT_WAIT && !socket_has_rival(fd, entry) &&
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
		return tcp_info_is_ended(info) && !received && !(traits & TRAIT_FINISHED)
		           ? FAILURE_DROPPED
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
		return read_one_way(fd, info, entry, age, destination, alive);
	/* Nothing sent: a spare connection of a pool, unless the program tried to read a greeting.
	 */
	return traits & TRAIT_WAITED && is_timeout(fd, traits, destination, age) ? FAILURE_TIMEOUT
	                                                                         : FAILURE_NONE;
}
