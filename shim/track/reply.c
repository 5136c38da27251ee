/* SPDX-License-Identifier: MIT */
/* Replies by number. */
#include "track/reply.h"

#include "hook/real.h"
#include "report/record.h"
#include "track/http.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

/* Mapped for the first connection whose replies are read: three megabytes of address space, which
 * a program under `ulimit -v` may not have to spare, for nothing where there is no HTTP. */
static _Atomic(struct http_reader *) table;

#define TABLE_SIZE (SOCKETS * sizeof(struct http_reader))

static bool table_is_there(void)
{
	struct http_reader *none = NULL, *new;
	int saved = errno;

	if (atomic_load(&table))
		return true;
	new = mmap(NULL, TABLE_SIZE, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	errno = saved;
	if (new == MAP_FAILED) {
		report_fault();
		return false;
	}
	if (!atomic_compare_exchange_strong(&table, &none, new))
		munmap(new, TABLE_SIZE);
	return true;
}

void reply_forget(int fd)
{
	struct http_reader *readers = atomic_load_explicit(&table, memory_order_relaxed);

	if (!readers)
		return;
	/* Looked at first: a page that is only read stays the kernel's page of zeroes. */
	if (readers[fd].passed)
		readers[fd] = (struct http_reader) { 0 };
}

uint32_t reply_trait(int fd, const struct policy *policy, const struct destination *destination)
{
	int64_t port = atomic_load_explicit(&destination->port, memory_order_relaxed);

	if (policy->http == HTTP_OFF || (unsigned int)fd >= SOCKETS ||
	    (policy->http == HTTP_AUTO && !policy->tls && port != 80 && port != 8080) ||
	    !table_is_there())
		return 0;
	reply_forget(fd);
	return TRAIT_HTTP;
}

/* The time of day, as dates are in. */
static int64_t seconds_now(void)
{
	struct timespec now;

	libc_own.clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

/* What one thing that the reader said comes to. before: what is known so far. */
static enum reply_said understand(const struct http_reader *reader, enum http_said said,
                                  const struct policy *policy, enum reply_said before,
                                  struct http_reply *reply)
{
	switch (said) {
	case HTTP_MORE:
		return before;
	case HTTP_STATUS:
		if (reader->status == 101)
			return REPLY_SWITCHED;
		return policy && policy_fails_status(policy, reader->status) ? REPLY_FAILED
		                                                             : REPLY_GOOD;
	case HTTP_LATER:
		reply->later = http_retry_after(reader->value, seconds_now());
		reply->is_whole = true;
		return REPLY_FAILED;
	case HTTP_END:
		reply->is_whole = true;
		return before == REPLY_FAILED ? REPLY_FAILED : REPLY_OTHER;
	case HTTP_NOT:
	default:
		return REPLY_OTHER;
	}
}

enum reply_said reply_read(int fd, const struct policy *policy, const struct iovec *parts,
                           size_t count, size_t n, struct http_reply *reply)
{
	enum reply_said answer = policy ? REPLY_MORE : REPLY_FAILED;
	struct http_reader *readers = atomic_load(&table), *reader;

	if (!readers)
		return REPLY_OTHER;
	reader = &readers[fd];
	for (size_t i = 0; i < count && n > 0; i++) {
		const char *at = parts[i].iov_base;
		size_t left = parts[i].iov_len < n ? parts[i].iov_len : n;

		n -= left;
		while (left > 0) {
			size_t taken;
			enum http_said said = http_read(reader, at, left, &taken);

			answer = understand(reader, said, policy, answer, reply);
			if ((answer != REPLY_MORE && answer != REPLY_FAILED) || reply->is_whole) {
				reply_forget(fd);
				return answer;
			}
			at += taken;
			left -= taken;
		}
	}
	return answer;
}

void reply_asks(struct destination *destination, const struct http_reply *reply)
{
	struct account account;

	if (reply->later <= 0)
		return;
	destination_account(destination, config_current(), &account);
	budget_retry_after(&account, reply->later, monotonic());
}
