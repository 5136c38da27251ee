/* SPDX-License-Identifier: MIT */
/* Request and reply, seen from outside: a turn begins with the first write after a reply and
 * succeeds with the first byte read after it. */
#include "track/traffic.h"

#include "hook/real.h"
#include "track/datagram.h"
#include "track/hindsight.h"
#include "track/outcome.h"
#include "track/state.h"
#include "track/thread.h"

#include <errno.h>
#include <fcntl.h>

#define LOAD(place) atomic_load_explicit(&(place), memory_order_relaxed)

static void add_trait(struct socket_entry *entry, unsigned int trait)
{
	if (!(LOAD(entry->traits) & trait))
		atomic_fetch_or_explicit(&entry->traits, (uint16_t)trait, memory_order_relaxed);
}

/* The entry of a watched number, unless it turns out to be somebody else's. */
static struct socket_entry *entry_of(int fd)
{
	struct socket_entry *entry = socket_find(fd);

	if (!entry || (socket_watched(fd) & WATCH_STALE ? !socket_believe(fd, entry)
	                                                : !socket_identify(fd, entry)))
		return NULL;
	return entry;
}

/* True if this success would change the budget: streak, or a bucket that is not full. */
static bool wanted_success(const struct socket_entry *entry, struct trial *trial,
                           struct account *account)
{
	if (!trial_of(entry, trial))
		return false;
	destination_account(trial->destination, config_current(), account);
	return budget_wants_success(account);
}

static void answered(int fd, struct socket_entry *entry, enum phase phase)
{
	bool first = !(LOAD(entry->traits) & TRAIT_SERVED);
	struct account account;
	struct trial trial;

	uint32_t trouble = (uint32_t)LOAD(shim_region->trouble);

	add_trait(entry, TRAIT_SERVED);
	if (!socket_move(fd, entry, phase, PHASE_ANSWERED))
		return;
	atomic_fetch_and(&entry->traits, (uint16_t)~TRAIT_TIMED_OUT);
	if (wanted_success(entry, &trial, &account)) {
		if (socket_believe(fd, entry))
			outcome_success(trial.destination, trial.place);
		return;
	}
	atomic_store_explicit(&entry->calm, trouble + 1, memory_order_relaxed);
	if (first && trial.destination) {
		count(&trial.destination->tally.successes);
		count(&shim_region->tally.successes);
	}
}

/* True if the error is that of the connect: the peer has never answered it. */
static bool is_of_connect(int fd, const struct socket_entry *entry, enum phase phase)
{
	return phase == PHASE_CONNECTING ||
	       (!(LOAD(entry->traits) & TRAIT_SERVED) && !outcome_met(fd));
}

/* The connection ended without an answer. */
static void broken(int fd, struct socket_entry *entry, enum phase phase, enum failure failure,
                   int err)
{
	unsigned int traits = LOAD(entry->traits);
	struct trial trial;
	bool connecting;

	/* A kept connection that the peer closed while it was idle is nobody's failure: then the
	 * peer never acknowledged the request that met the closed door, and a reset that answers
	 * it reads as EPIPE. ECONNRESET says that the connection was whole until then, even where
	 * the reset came before any acknowledgement. */
	bool idle = traits & (TRAIT_LIVED | TRAIT_TIMED_OUT) ||
	            (traits & TRAIT_FINISHED && failure == FAILURE_DROPPED) ||
	            (traits & TRAIT_SERVED &&
	             (phase == PHASE_ANSWERED || (err != ECONNRESET && !outcome_taken(fd))));

	if (idle) {
		socket_move(fd, entry, phase, PHASE_DONE);
		return;
	}
	if (!socket_believe(fd, entry) || !trial_of(entry, &trial))
		return;
	connecting = is_of_connect(fd, entry, phase);
	if (socket_move(fd, entry, phase, connecting ? PHASE_NONE : PHASE_DONE))
		outcome_failure(&trial, failure, connecting ? err : 0, 0);
}

/* EAGAIN on a socket that blocks: SO_RCVTIMEO or SO_SNDTIMEO ran out. */
static bool ran_out(int fd, struct socket_entry *entry, int flags)
{
	int mode;

	if (flags & MSG_DONTWAIT || LOAD(entry->traits) & TRAIT_NOWAIT)
		return false;
	mode = real.fcntl(fd, F_GETFL, 0);
	if (mode < 0 || mode & O_NONBLOCK) {
		add_trait(entry, TRAIT_NOWAIT);
		return false;
	}
	return true;
}

/* EINPROGRESS from a send: it began the connect that connect() itself had put off
 * (TCP_FASTOPEN_CONNECT). On a socket that blocks, SO_SNDTIMEO has run out on it. */
static void begun(int fd, struct socket_entry *entry, enum phase phase, int flags)
{
	bool pending = !ran_out(fd, entry, flags);
	struct trial trial;

	if (socket_believe(fd, entry) && trial_of(entry, &trial) &&
	    socket_move(fd, entry, phase, pending ? PHASE_CONNECTING : PHASE_FAILED) && !pending)
		outcome_failure(&trial, FAILURE_TIMEOUT, 0, 0);
}

static void failed(int fd, struct socket_entry *entry, enum phase phase, int err, int flags)
{
	enum failure failure;
	struct trial trial;

	if (err == EINPROGRESS) {
		if (phase == PHASE_OPEN)
			begun(fd, entry, phase, flags);
		return;
	}

	if (err == EAGAIN) {
		/* A timeout once the host has waited, not each tick of a short SO_RCVTIMEO. The
		 * answer may still come, so the phase stays. */
		if (phase != PHASE_ANSWERED && !(LOAD(entry->traits) & TRAIT_TIMED_OUT) &&
		    ran_out(fd, entry, flags) && outcome_waited(fd, entry) &&
		    socket_believe(fd, entry) && trial_of(entry, &trial) &&
		    !(atomic_fetch_or(&entry->traits, TRAIT_TIMED_OUT) & TRAIT_TIMED_OUT))
			outcome_failure(&trial, FAILURE_TIMEOUT, 0, 0);
		return;
	}
	failure = failure_of(err, false);
	if (failure)
		broken(fd, entry, phase, failure, err);
}

/* The serving side takes turns too: a request is new work, more of the same stream is not, or a
 * forwarder of log lines would have an excuse for every line. */
static void turn_server(int fd)
{
	atomic_fetch_xor_explicit(&socket_watch[fd], WATCH_READ | WATCH_WRITE,
	                          memory_order_relaxed);
}

/* Apart, so that the common case needs no stack frame. */
static __attribute__((noinline)) ssize_t received(int fd, ssize_t result, size_t wanted, int flags)
{
	int saved = errno;
	struct socket_entry *entry;
	enum phase phase;

	if (socket_watched(fd) & WATCH_SERVER) {
		if (result > 0) {
			thread_asked(false);
			turn_server(fd);
		}
		return result;
	}
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_received(fd, result, flags, NULL, 0);
	/* A peek takes nothing in, but a reset that it meets is gone for the reads after it. */
	if (flags & MSG_ERRQUEUE || (flags & MSG_PEEK && result >= 0) ||
	    (result == 0 && wanted == 0))
		return result;
	entry = entry_of(fd);
	if (!entry)
		goto out;
	phase = LOAD(entry->phase);
	if (phase != PHASE_CONNECTING && phase != PHASE_OPEN && phase != PHASE_ASKED)
		goto out;
	if (result > 0) {
		answered(fd, entry, phase);
	} else if (result == 0) {
		broken(fd, entry, phase, FAILURE_DROPPED, 0);
	} else if (saved != EINTR) {
		add_trait(entry, TRAIT_WAITED);
		failed(fd, entry, phase, saved, flags);
	}
out:
	errno = saved;
	return result;
}

/* The commonest answer of all to a program that waits for events: nothing there yet. */
static bool is_nothing_yet(int fd, int flags)
{
	unsigned int known = TRAIT_WAITED | (flags & MSG_DONTWAIT ? 0 : TRAIT_NOWAIT);

	return (LOAD(socket_entries[fd].traits) & known) == known && errno == EAGAIN;
}

/* Nothing has gone wrong anywhere since a success on this connection last changed nothing. */
static bool is_calm(int fd)
{
	return (uint32_t)LOAD(shim_region->trouble) + 1 == LOAD(socket_entries[fd].calm);
}

ssize_t traffic_received(int fd, ssize_t result, size_t wanted, int flags)
{
	if (result > 0) {
		if (!(flags & (MSG_PEEK | MSG_ERRQUEUE)) && is_calm(fd) &&
		    socket_turn(fd, PHASE_ASKED))
			return result;
	} else if (result < 0 && (socket_watched(fd) & WATCH_SERVER || is_nothing_yet(fd, flags))) {
		return result;
	}
	return received(fd, result, wanted, flags);
}

/* A connection that is only written to succeeds by living: looked at once it is old enough, and
 * only while a success would matter. */
static void lives(int fd, struct socket_entry *entry)
{
	struct account account;
	struct trial trial;

	if (!wanted_success(entry, &trial, &account) ||
	    monotonic() - LOAD(entry->since) < account.policy->min_life || !outcome_alive(fd))
		return;
	if (!socket_believe(fd, entry) ||
	    atomic_fetch_or(&entry->traits, TRAIT_LIVED) & TRAIT_LIVED)
		return;
	socket_phase(fd, entry, PHASE_ASKED);
	outcome_success(trial.destination, trial.place);
}

/* A connection of ours on which a request would tell something. */
static struct socket_entry *looked_at(int fd)
{
	return is_calm(fd) || socket_watched(fd) & WATCH_SERVER ? NULL : socket_find(fd);
}

uint32_t traffic_look(int fd, const void *data, size_t n)
{
	const struct socket_entry *entry = looked_at(fd);

	return entry ? hindsight_look(entry, data, n) : 0;
}

uint32_t traffic_look_parts(int fd, const struct iovec *parts, size_t count)
{
	const struct socket_entry *entry = looked_at(fd);

	return entry ? hindsight_look_parts(entry, parts, count) : 0;
}

uint32_t traffic_look_message(int fd, const struct msghdr *message)
{
	const struct socket_entry *entry = looked_at(fd);

	return entry ? hindsight_look_message(entry, message) : 0;
}

static void asked(struct socket_entry *entry, uint32_t print)
{
	if (LOAD(entry->traits) & TRAIT_SERVED)
		hindsight_next(entry, print);
	else
		hindsight_first(entry, print);
}

static __attribute__((noinline)) ssize_t sent(int fd, ssize_t result, int flags, uint32_t print)
{
	int saved = errno;
	struct socket_entry *entry;
	enum phase phase;

	if (socket_watched(fd) & WATCH_SERVER) {
		if (result > 0)
			turn_server(fd);
		return result;
	}
	entry = entry_of(fd);
	if (!entry)
		goto out;
	phase = LOAD(entry->phase);
	if (phase < PHASE_OPEN && phase != PHASE_CONNECTING)
		goto out;
	if (result > 0) {
		if (phase == PHASE_ASKED)
			lives(fd, entry);
		else if (phase != PHASE_DONE && socket_move(fd, entry, phase, PHASE_ASKED))
			asked(entry, print);
	} else if (result < 0 && phase != PHASE_DONE && saved != EINTR) {
		failed(fd, entry, phase, saved, flags);
	}
out:
	errno = saved;
	return result;
}

ssize_t traffic_sent(int fd, ssize_t result, int flags, uint32_t print)
{
	if (result > 0 && is_calm(fd) && socket_turn(fd, PHASE_ANSWERED))
		return result;
	return sent(fd, result, flags, print);
}
