/* SPDX-License-Identifier: MIT */
/* Turns as the host's own words tell of them, before they are sealed and once they are opened. */
#include "conn/tls_traffic.h"

#include "conn/exchange_begin.h"
#include "conn/attempt.h"
#include "conn/exchange_end.h"
#include "conn/feedback.h"
#include "conn/tcp_info.h"
#include "conn/traffic.h"
#include "sys/cell.h"

#include <errno.h>

uint32_t inside_look(int fd, const void *data, size_t n)
{
	struct socket_entry *entry = socket_find(fd);

	return entry ? hindsight_look(entry, data, n) : 0;
}

void inside_sent(int fd, bool went, uint32_t print)
{
	int saved = errno;
	struct socket_entry *entry = asking_entry(fd);

	if (!entry)
		goto out;
	if (print == TRAFFIC_BEGUN) {
		if (!went)
			asking_take_back(fd);
	} else if (went && LOAD(entry->phase) >= PHASE_OPEN) {
		asking_went(fd, entry, LOAD(entry->phase), print);
	}
	if (went)
		trait_add(entry, TRAIT_SEALED);
out:
	errno = saved;
}

void inside_received(int fd, const void *data, ssize_t n)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)data,
		              .iov_len = n > 0 ? (size_t)n : 0 };
	int saved = errno;
	struct socket_entry *entry = asking_entry(fd);
	enum phase phase;

	if (!entry)
		goto out;
	trait_add(entry, TRAIT_OPENED);
	phase = LOAD(entry->phase);
	if (n <= 0)
		goto out;
	trait_add(entry, TRAIT_SEALED);
	if (phase == PHASE_HEAD)
		ending_head(fd, entry, &part, 1, (size_t)n);
	else if (phase == PHASE_OPEN || phase == PHASE_ASKED)
		ending_reply(fd, entry, phase, &part, 1, (size_t)n);
out:
	errno = saved;
}

void inside_opened(int fd)
{
	struct socket_entry *entry = socket_find(fd);

	if (entry)
		trait_add(entry, TRAIT_SEALED);
}

void inside_goodbye(int fd)
{
	struct socket_entry *entry = socket_find(fd);
	const unsigned int waiting = TRAIT_SEALED | TRAIT_OPENED;

	/* Before the handshake is over nothing has begun that it could end. */
	if (!entry || !(LOAD(entry->traits) & TRAIT_SEALED) || !attempt_is_ours(entry))
		return;
	if (LOAD(entry->phase) == PHASE_ASKED && (LOAD(entry->traits) & waiting) == waiting)
		oracle_ask(fd, entry);
	trait_add(entry, TRAIT_FINISHED);
}
