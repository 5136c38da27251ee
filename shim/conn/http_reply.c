/* SPDX-License-Identifier: MIT */
/* Replies by number. */
#include "conn/http_reply.h"
#include "budget/streak.h"

#include "config/current.h"
#include "conn/http.h"
#include "conn/http_date.h"
#include "report/record.h"
#include "report/report.h"
#include "sys/real.h"

#include <time.h>

static block_base blocks[BLOCKS];

/* The reader of a number; NULL: its replies were never read. */
static struct http_reader *reader_of(int fd)
{
	uintptr_t base = block_of(blocks, fd);

	return base ? (struct http_reader *)(base + (unsigned int)fd * sizeof(struct http_reader))
	            : NULL;
}

void reply_forget(int fd)
{
	struct http_reader *reader = reader_of(fd);

	/* Looked at first: a page that is only read stays the kernel's page of zeroes. */
	if (reader && reader->passed)
		*reader = (struct http_reader) { 0 };
}

uint32_t reply_trait(int fd, const struct policy *policy)
{
	if (!policy->http || fd >= SOCKETS)
		return 0;
	reply_forget(fd);
	return TRAIT_HTTP;
}

/* What the first bytes of a reply say by themselves. Most programs never meet a reply that needs a
 * reader, and map none. */
static enum reply_said glance(const struct iovec *first, size_t n)
{
	const char *bytes = first->iov_base;

	if (first->iov_len == 0 || n == 0)
		return REPLY_MORE;
	if (*bytes != 'H' && *bytes != '\r' && *bytes != '\n')
		return REPLY_OTHER;
	return http_is_fine(bytes, n < first->iov_len ? n : first->iov_len) ? REPLY_GOOD
	                                                                    : REPLY_MORE;
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
		if (!policy || !policy_fails_status(policy, reader->status))
			return REPLY_GOOD;
		reply->status = reader->status;
		return REPLY_FAILED;
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
	struct http_reader *reader = reader_of(fd);

	if (!reader) {
		enum reply_said said = policy && count > 0 ? glance(parts, n) : REPLY_OTHER;

		if (said != REPLY_MORE)
			return said;
		if (!block_map(blocks, sizeof(struct http_reader), fd))
			return REPLY_OTHER;
		reader = reader_of(fd);
	}
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

void reply_note_retry_after(struct destination *destination, const struct http_reply *reply)
{
	struct account account;

	if (reply->later <= 0)
		return;
	destination_account(destination, config_current(), &account);
	budget_retry_after(&account, reply->later, monotonic());
}
