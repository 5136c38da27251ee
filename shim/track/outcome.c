/* SPDX-License-Identifier: MIT */
/* What outcomes do, and the oracle that tells them where no hook saw them. */
#include "track/outcome.h"

#include "hook/real.h"
#include "track/failures.h"
#include "track/state.h"
#include "track/thread.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(place)         atomic_load_explicit(&(place), memory_order_relaxed)
#define STORE(place, value) atomic_store_explicit(&(place), value, memory_order_relaxed)

/* A host that waited this long for an answer and then hung up has met a timeout (DESIGN 4). */
#define PATIENCE_MS 1000

/* A connect given up sooner than this was not given a chance. */
#define IMPATIENCE (20 * NS_PER_MS)

enum failure failure_of(int err, bool is_unix)
{
	switch (err) {
	case ECONNREFUSED:
		return FAILURE_REFUSED;
	case ENOENT:
		return is_unix ? FAILURE_REFUSED : FAILURE_NONE;
	case EAGAIN:
		return is_unix ? FAILURE_REFUSED : FAILURE_LOCAL;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENETDOWN:
	case EHOSTDOWN:
	case ENONET:
	case ENOPROTOOPT: /* an ICMP error, as the two before */
	case EPERM:
		return FAILURE_UNREACHABLE;
	case ETIMEDOUT:
		return FAILURE_TIMEOUT;
	case ECONNRESET:
	case EPIPE:
		return FAILURE_RESET;
	case EADDRNOTAVAIL:
	case ENOBUFS:
		return FAILURE_LOCAL;
	default:
		return FAILURE_NONE;
	}
}

bool trial_of(const struct socket_entry *entry, struct trial *trial)
{
	trial->generation = LOAD(entry->generation);
	trial->destination = destination_at(LOAD(entry->slot), trial->generation);
	trial->owner = LOAD(entry->owner);
	trial->place = LOAD(entry->place);
	trial->print = LOAD(entry->print);
	trial->run = LOAD(entry->run);
	trial->counted = LOAD(entry->traits) & TRAIT_COUNTED;
	trial->retry = LOAD(entry->traits) & TRAIT_RETRY;
	return trial->destination;
}

bool trial_stands(const struct trial *trial)
{
	return destination_at(destination_slot(trial->destination), trial->generation);
}

void outcome_failure(const struct trial *trial, enum failure failure, int err, int eai)
{
	struct destination *destination = trial->destination;
	const struct config *config = config_current();
	struct account account;
	struct unanswered unanswered;
	int64_t now = monotonic();
	int saved = errno;

	if (!trial_stands(trial))
		return;
	destination_account(destination, config, &account);
	if (err)
		STORE(destination->last_errno, err);
	if (eai)
		STORE(destination->last_eai, eai);
	STORE(destination->last_failure, failure);
	count(&destination->tally.failures[failure]);
	count(&shim_region->tally.failures[failure]);
	count(&shim_region->trouble);
	unanswered.owner = trial->owner == thread_id() ? trial->owner : FAILURE_ANYONE;
	unanswered.place = trial->place;
	unanswered.at = now;
	unanswered.print = trial->print;
	unanswered.run = trial->run;
	unanswered.counted = trial->counted;
	unanswered.passed = false;
	unanswered.held = false;
	names_failed(trial->place, now);
	if (trial->place && (uint32_t)LOAD(destination->good_place) == trial->place)
		STORE(destination->good_place, 0);
	failures_add(destination, &unanswered);
	budget_failure(&account, trial->retry, now, thread_random());
	errno = saved;
}

void outcome_success(struct destination *destination, uint32_t place)
{
	const struct config *config = config_current();
	struct account account;
	int index = destination_account(destination, config, &account);
	int64_t now = monotonic();
	int64_t streak = budget_success(&account, now);

	names_answered(place);
	STORE(destination->good_place, place);
	if (LOAD(destination->presumed) != 0)
		STORE(destination->presumed, 0);
	count(&destination->tally.successes);
	count(&shim_region->tally.successes);
	if (streak > 0) {
		struct record record = {
			.event = EVENT_RECOVERED,
			.destination = destination,
			.policy = config->labels[index],
			.streak = streak,
			.tokens = bucket_level(account.process, account.process_rule, now),
		};

		record.process_tokens = record.tokens;
		record.process_capacity = account.process_rule->capacity;
		record.tokens = budget_level(&account, now, &record.capacity);
		report(&record, now);
	}
}

/* --- the oracle --- */

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

bool outcome_taken(int fd)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return !known || taken(&info);
}

bool outcome_waited(int fd, const struct socket_entry *entry)
{
	struct tcp_info info;
	int saved = errno;
	int64_t waited = monotonic() - LOAD(entry->since);
	bool known = tcp_info(fd, &info);

	errno = saved;
	if (known && LOAD(entry->phase) == PHASE_ASKED)
		waited = (int64_t)info.tcpi_last_data_sent * NS_PER_MS;
	return waited >= PATIENCE_MS * NS_PER_MS;
}

bool outcome_met(int fd)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return !known || info.tcpi_bytes_acked > 0; /* the SYN counts */
}

bool outcome_alive(int fd)
{
	struct tcp_info info;
	int saved = errno;
	bool known = tcp_info(fd, &info);

	errno = saved;
	return known && info.tcpi_state == TCP_ESTABLISHED_ && info.tcpi_bytes_acked > 1;
}

/* Data went out and nothing came back. Who sends all along talks one way, and lives by that; who
 * sent at the beginning and then waited has met a timeout. */
static enum failure read_one_way(const struct tcp_info *info, int64_t age,
                                 struct destination *destination, bool *alive)
{
	int64_t quiet = (int64_t)info->tcpi_last_data_sent * NS_PER_MS;
	struct account account;

	destination_account(destination, config_current(), &account);
	if (quiet >= PATIENCE_MS * NS_PER_MS && age - quiet < account.policy->min_life)
		return FAILURE_TIMEOUT;
	*alive = age >= account.policy->min_life && info->tcpi_bytes_acked > 1; /* 1: the SYN */
	return FAILURE_NONE;
}

/* What the kernel knows of a connection, said in our words. *alive: a success. */
static enum failure read_info(int fd, const struct tcp_info *info, const struct socket_entry *entry,
                              struct destination *destination, bool *alive)
{
	int64_t age = monotonic() - LOAD(entry->since);
	enum phase phase = LOAD(entry->phase);
	unsigned int traits = LOAD(entry->traits);
	bool waited_long = age >= PATIENCE_MS * NS_PER_MS;
	uint64_t received = info->tcpi_bytes_received;

	*alive = false;
	/* TCP_FASTOPEN_CONNECT, and no request that would have carried the connect. */
	if (info->tcpi_state == TCP_SYN_SENT_ && info->tcpi_segs_out == 0)
		return FAILURE_NONE;
	/* Given up within a second: the loser of a race with another address, if there is another.
	 */
	if (info->tcpi_state == TCP_SYN_SENT_)
		return waited_long || (age >= IMPATIENCE && !socket_has_sibling(fd, entry))
		           ? FAILURE_TIMEOUT
		           : FAILURE_NONE;
	/* A FIN counts as a byte, and is not forgotten when a reset follows it. */
	if (received && (info->tcpi_state == TCP_CLOSE_WAIT_ ||
	                 (info->tcpi_state == TCP_CLOSE_ && received == 1)))
		received--;
	if (traits & TRAIT_LIVED || (traits & TRAIT_TIMED_OUT && !received))
		return FAILURE_NONE; /* counted already */
	if (traits & TRAIT_SERVED) {
		/* A kept connection. That it ended is a failure only if the peer took the request;
		 * otherwise it was idle, and closed before the request went out. */
		if (phase != PHASE_ASKED || traits & TRAIT_FINISHED || !taken(info))
			return FAILURE_NONE;
		if (info->tcpi_state == TCP_CLOSE_)
			return FAILURE_RESET;
		if (info->tcpi_last_data_recv < info->tcpi_last_data_sent)
			return FAILURE_NONE; /* a reply came, unseen */
		/* Nobody has read that end: what went out last was a goodbye. */
		if (info->tcpi_state == TCP_CLOSE_WAIT_)
			return FAILURE_NONE;
		return info->tcpi_last_data_sent >= PATIENCE_MS ? FAILURE_TIMEOUT : FAILURE_NONE;
	}
	if (received) {
		*alive = true; /* read by stdio, a raw call, io_uring */
		return FAILURE_NONE;
	}
	if (info->tcpi_state == TCP_CLOSE_)
		return phase == PHASE_CONNECTING || info->tcpi_bytes_acked == 0 ? FAILURE_REFUSED
		                                                                : FAILURE_RESET;
	/* Both halves ended in order, without a word from the peer: one-way conversations do. */
	if (traits & TRAIT_FINISHED)
		return FAILURE_NONE;
	if (info->tcpi_state == TCP_CLOSE_WAIT_)
		return FAILURE_DROPPED;
	if (info->tcpi_state != TCP_ESTABLISHED_)
		return FAILURE_NONE;
	if (phase == PHASE_ASKED || info->tcpi_bytes_sent)
		return read_one_way(info, age, destination, alive);
	/* Nothing sent: a spare connection of a pool, unless the host tried to read a greeting. */
	return traits & TRAIT_WAITED && waited_long ? FAILURE_TIMEOUT : FAILURE_NONE;
}

/* The cheap half of the question: a young connection on which nothing has ended, to a destination
 * for which a success would change nothing, has nothing to tell. */
static bool is_uneventful(int fd, const struct socket_entry *entry, const struct trial *trial)
{
	struct pollfd at = { .fd = fd, .events = POLLRDHUP };
	static const long at_once[2]; /* the kernel's timespec of this word size */
	struct account account;

	if (monotonic() - LOAD(entry->since) >= PATIENCE_MS * NS_PER_MS)
		return false;
	destination_account(trial->destination, config_current(), &account);
	/* poll() itself is a cancellation point, which dup2 and shutdown are not. */
	return !budget_wants_success(&account) &&
	       syscall(SYS_ppoll, &at, 1, at_once, NULL, sizeof(uint64_t)) == 0;
}

void outcome_ask(int fd, struct socket_entry *entry)
{
	enum phase phase = LOAD(entry->phase);
	int saved = errno;
	struct tcp_info info;
	struct trial trial;
	enum failure failure;
	bool alive;

	if (phase != PHASE_CONNECTING && phase != PHASE_OPEN && phase != PHASE_ASKED)
		return;
	if (!trial_of(entry, &trial))
		return;
	if ((phase != PHASE_CONNECTING && is_uneventful(fd, entry, &trial)) || !tcp_info(fd, &info))
		goto out;
	failure = read_info(fd, &info, entry, trial.destination, &alive);
	/* Only what would be counted is worth asking whether the number is still our socket. */
	if ((failure || alive) && !thread_is_borrowed() && socket_believe(fd, entry) &&
	    socket_move(fd, entry, phase, PHASE_DONE)) {
		if (failure)
			outcome_failure(&trial, failure, 0, 0);
		else
			outcome_success(trial.destination, trial.place);
	}
out:
	errno = saved;
}
