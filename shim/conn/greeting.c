/* SPDX-License-Identifier: MIT */
/* Whether a greeting was all. How soon it was is told by when the connect began. */
#include "conn/greeting.h"

#include "config/current.h"
#include "conn/outcome.h"
#include "dest/answer_time.h"
#include "sys/cell.h"
#include "sys/real.h"

/* True if the connection has outlived its greeting: then it serves somebody who only listens. */
static bool has_outlived(const struct socket_entry *entry, const struct trial *trial, int64_t now)
{
	struct account account;

	destination_account(trial->destination, config_current(), &account);
	if (now - LOAD(entry->began) < account.policy->min_life)
		return false;
	answer_time_past_greeting(trial->destination);
	return true;
}

/* A message of a WebSocket, text or binary and not masked, as servers send them (RFC 6455 5.2).
 * What is pushed to who only listens is what he came for; words in ASCII begin otherwise. */
static bool is_message(const struct iovec *parts, size_t count, size_t n)
{
	const unsigned char *frame = count > 0 ? parts->iov_base : NULL;

	return n >= 2 && count > 0 && parts->iov_len >= 2 &&
	       (frame[0] == 0x81 || frame[0] == 0x82) && frame[1] < 0x80;
}

void greeting_more(int fd, struct socket_entry *entry, const struct iovec *parts, size_t count,
                   size_t n)
{
	unsigned int traits = LOAD(entry->traits);
	struct trial trial;

	if (!(traits & TRAIT_AGREES) || !trial_of(entry, &trial))
		return;
	if (is_message(parts, count, n))
		answer_time_past_greeting(trial.destination);
	else if (!has_outlived(entry, &trial, monotonic()))
		return;
	atomic_fetch_and(&entry->traits, (uint32_t)~TRAIT_AGREES);
	if (!(traits & TRAIT_KEPT)) /* its reads tell nothing more until it asks */
		atomic_fetch_and(&socket_watch[fd], (uint8_t)~WATCH_READ);
}

bool greeting_was_in_vain(const struct socket_entry *entry)
{
	const unsigned int over = TRAIT_REPLY_FAILED | TRAIT_FINISHED | TRAIT_TIMED_OUT;
	unsigned int traits = LOAD(entry->traits);
	int64_t now = monotonic();
	struct trial trial;

	return traits & TRAIT_AGREES && !(traits & over) && trial_of(entry, &trial) &&
	       LOAD(trial.destination->port) != 0 && !has_outlived(entry, &trial, now) &&
	       answer_time_greets_in_vain(trial.destination, now);
}
