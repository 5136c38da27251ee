/* SPDX-License-Identifier: MIT */
/* Exchanges as the program's own words tell of them, before they are encrypted and once they are
 * decrypted. */
#include "conn/tls_traffic.h"

#include "conn/attempt.h"
#include "conn/exchange_begin.h"
#include "conn/exchange_end.h"
#include "conn/feedback.h"
#include "conn/attempt_end.h"
#include "conn/traffic.h"
#include "conn/unseen.h"
#include "sys/cell.h"

#include <errno.h>

uint32_t tls_traffic_look(int fd, const void *data, size_t n)
{
	struct socket_entry *entry = socket_find(fd);

	return entry ? feedback_look(entry, data, n) : 0;
}

void tls_traffic_sent(int fd, bool went, uint32_t fingerprint)
{
	int saved = errno;
	struct socket_entry *entry = exchange_entry(fd);

	if (!entry)
		goto out;
	if (fingerprint == TRAFFIC_BEGUN) {
		if (!went)
			exchange_take_back(fd);
	} else if (went && LOAD(entry->state) >= SOCKET_OPEN) {
		exchange_went(fd, entry, LOAD(entry->state), fingerprint);
	}
	if (went)
		trait_add(entry, TRAIT_HANDSHAKE_DONE);
out:
	errno = saved;
}

void tls_traffic_received(int fd, const void *data, ssize_t n)
{
	struct iovec part = { .iov_base = (void *)(uintptr_t)data,
		              .iov_len = n > 0 ? (size_t)n : 0 };
	int saved = errno;
	struct socket_entry *entry = exchange_entry(fd);
	enum socket_state state;

	if (!entry)
		goto out;
	trait_add(entry, TRAIT_OPENED);
	state = LOAD(entry->state);
	if (n <= 0)
		goto out;
	trait_add(entry, TRAIT_HANDSHAKE_DONE);
	if (state == SOCKET_HEAD)
		exchange_end_head(fd, entry, &part, 1, (size_t)n);
	else if (state == SOCKET_OPEN || state == SOCKET_ASKED)
		exchange_end_reply(fd, entry, state, &part, 1, (size_t)n);
out:
	errno = saved;
}

void tls_traffic_opened(int fd)
{
	struct socket_entry *entry = socket_find(fd);

	if (entry)
		trait_add(entry, TRAIT_HANDSHAKE_DONE);
}

void tls_traffic_close_notify(int fd)
{
	struct socket_entry *entry = socket_find(fd);
	const unsigned int waiting = TRAIT_HANDSHAKE_DONE | TRAIT_OPENED;

	/* Before the handshake is over nothing has begun that it could end. */
	if (!entry || !(LOAD(entry->traits) & TRAIT_HANDSHAKE_DONE) || !attempt_is_ours(entry))
		return;
	if (LOAD(entry->state) == SOCKET_ASKED && (LOAD(entry->traits) & waiting) == waiting)
		unseen_ask(fd, entry);
	trait_add(entry, TRAIT_FINISHED);
}
