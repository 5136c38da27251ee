/* SPDX-License-Identifier: MIT */
/* A request that may be one sent again on a kept connection: judged and paced before its first
 * byte, as a connect is. */
#include "hook/request.h"

#include "conn/deferred.h"
#include "conn/exchange_begin.h"
#include "conn/kept.h"
#include "conn/tls_session.h"
#include "conn/tls_traffic.h"
#include "pace/pace.h"
#include "sys/memory.h"

#include <errno.h>

static bool is_cut(int fd, struct socket_entry *entry)
{
	return LOAD(entry->state) == SOCKET_CUT && socket_believe(fd, entry);
}

/* True: it must not be sent. */
static __attribute__((noinline)) bool may_not_go(int fd, uint32_t fingerprint, int flags,
                                                 ssize_t *result)
{
	struct socket_entry *entry = socket_find(fd);
	struct attempt try;

	if (!entry)
		return false;
	*result = 0;
	if (is_cut(fd, entry))
		return true;
	if (deferred_waits(entry) ? !deferred_begin(&try, fd, entry, fingerprint, flags)
	                          : !attempt_begin_request(&try, fd, fingerprint, flags))
		return false;
	if (pace(&try)) {
		attempt_start_request(&try);
		return false;
	}
	errno = try.told ? try.told : try.saved_errno;
	if (try.told)
		*result = -1;
	return true;
}

/* What was decided inside the session is done to what carries it. */
static bool carrier_is_refused(int fd, ssize_t *result)
{
	struct socket_entry *entry = socket_find(fd);
	int told = session_told(fd);

	*result = told ? -1 : 0;
	if (told)
		errno = told;
	return told || (entry && is_cut(fd, entry));
}

bool request_is_refused(int fd, uint32_t *fingerprint, int flags, ssize_t *result)
{
	if (session_carries(fd)) {
		*fingerprint = 0;
		return carrier_is_refused(fd, result);
	}
	if (traffic_may_retry(fd, *fingerprint) && may_not_go(fd, *fingerprint, flags, result))
		return true;
	*fingerprint = traffic_begin(fd, *fingerprint);
	return false;
}

uint32_t request_begin_inside(int fd, const void *data, size_t n)
{
	uint32_t fingerprint = tls_traffic_look(fd, data, n);
	int saved = errno;
	ssize_t result;

	if (traffic_may_retry(fd, fingerprint) && may_not_go(fd, fingerprint, 0, &result)) {
		if (result < 0)
			session_tell(fd, errno);
		errno = saved;
		return 0;
	}
	errno = saved;
	return exchange_begin(fd, fingerprint);
}

size_t parts_size(const struct iovec *parts, size_t count)
{
	const size_t most = MEMORY_MOST / sizeof(*parts);
	size_t sum = 0;

	if (count > most)
		count = most;
	if (!memory_is_there(parts, count * sizeof(*parts)))
		return 0;
	for (size_t i = 0; i < count; i++)
		sum += parts[i].iov_len;
	return sum;
}

size_t message_size(const struct msghdr *message)
{
	return memory_is_there(message, sizeof(*message))
	           ? parts_size(message->msg_iov, message->msg_iovlen)
	           : 0;
}
