/* SPDX-License-Identifier: MIT */
/* What the kernel knows of a connection that the program gives up, as an outcome. */
#include "conn/unseen.h"

#include "config/current.h"
#include "conn/connection_end.h"
#include "conn/loss.h"
#include "conn/outcome.h"
#include "conn/tcp_info.h"
#include "conn/unseen_read.h"
#include "dest/answer_time.h"
#include "region/counters.h"
#include "region/state.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A program that has done with a connection so soon after its peer last acknowledged anything did
 * not wait for more. */
#define AT_ONCE_MS 50

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
	    (state == SOCKET_ASKED && (answer_time_is_over(destination, age) ||
	                               answer_time_may_be_in_vain(destination, age))))
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
		failure = unseen_read(fd, &info, entry, trial.destination, &alive);
	/* Where the last one failed before anybody answered, that somebody does says that it is
	 * back. */
	if (!failure && !alive && LOAD(trial.destination->last_unmet) == 1)
		alive = is_left_at_once(fd, known ? &info : NULL, entry);
	/* Only what would be counted is worth asking whether the number is still our socket. */
	ours = (failure || alive ||
	        (known && LOAD(entry->traits) & TRAIT_KEPT && tcp_info_is_ended(&info))) &&
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
