/* SPDX-License-Identifier: MIT */
/* The reader of HTTP/1 replies: however they are cut into pieces, it says the same. */
#include "conn/http.h"
#include "conn/http_date.h"

#include "budget/backoff.h"
#include "budget/policy.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* What was said of a stream of bytes: each status, each Retry-After, each end. */
struct detail {
	char text[512];
	size_t used;
};

static void add(struct detail *detail, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct detail *detail, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	detail->used += vsnprintf(detail->text + detail->used, sizeof(detail->text) - detail->used,
	                          format, args);
	va_end(args);
	cr_assert(detail->used < sizeof(detail->text));
}

/* A conversation: after the end of each head so many bytes of body follow. */
struct stream {
	struct http_reader reader;
	struct detail detail;
	size_t body, left; /* of each reply; of this one */
	bool over;
};

static void feed(struct stream *stream, const char *data, size_t n)
{
	while (n > 0 && !stream->over) {
		size_t taken = n < stream->left ? n : stream->left;

		stream->left -= taken;
		data += taken;
		n -= taken;
		if (n == 0)
			break;
		switch (http_read(&stream->reader, data, n, &taken)) {
		case HTTP_MORE:
			cr_assert_eq(taken, n);
			break;
		case HTTP_NOT:
			add(&stream->detail, "not ");
			stream->over = true;
			break;
		case HTTP_STATUS:
			add(&stream->detail, "%d ", stream->reader.status);
			break;
		case HTTP_LATER: /* read on, to the end of the head */
			add(&stream->detail, "[%s] ", stream->reader.value);
			stream->reader.place = 2; /* at the beginning of a line */
			stream->reader.matched = 0;
			break;
		case HTTP_END:
			add(&stream->detail, "end ");
			stream->reader = (struct http_reader) { 0 };
			stream->left = stream->body;
			break;
		}
		cr_assert(taken > 0 && taken <= n);
		data += taken;
		n -= taken;
	}
}

struct sample {
	const char *name, *text, *detail;
	size_t body;
};

static const struct sample samples[] = {
	{ "a plain reply", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 end ", 2 },
	{ "later", "HTTP/1.1 503 Busy\r\nRetry-After: 120\r\n\r\n", "503 [120] end ", 0 },
	{ "any case, no blank, tab", "HTTP/1.1 429 X\r\nRETRY-after:\t7\r\n\r\n", "429 [7] end ",
	  0 },
	{ "old", "HTTP/1.0 500 X\r\nRetry-After:9\r\n\r\n", "500 [9] end ", 0 },
	{ "lines end in LF", "HTTP/1.1 503 X\nA: b\nRetry-After: 3\n\n", "503 [3] end ", 0 },
	{ "no reason", "HTTP/1.1 503\r\nRetry-After: 3\r\n\r\n", "503 [3] end ", 0 },
	{ "no reason, LF", "HTTP/1.1 503\nRetry-After: 3\n\n", "503 [3] end ", 0 },
	{ "a date", "HTTP/1.1 503 X\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n\r\n",
	  "503 [Fri, 31 Dec 1999 23:59:59 GMT] end ", 0 },
	{ "interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 X\r\nRetry-After: 1\r\n\r\n",
	  "503 [1] end ", 0 },
	{ "hints", "HTTP/1.1 103 Early\r\nLink: a\r\nRetry-After: 5\r\n\r\nHTTP/1.1 200 X\r\n\r\n",
	  "200 end ", 0 },
	{ "another protocol", "HTTP/1.1 101 Switching\r\n", "101 ", 0 },
	{ "pipelined",
	  "HTTP/1.1 200 A\r\n\r\nokHTTP/1.1 503 B\r\nRetry-After: 4\r\n\r\nnoHTTP/1.1 404 "
	  "C\r\n\r\n",
	  "200 end 503 [4] end 404 end ", 2 },
	{ "a line left over", "\r\nHTTP/1.1 503 X\r\n\r\n", "503 end ", 0 },
	{ "the name is a part", "HTTP/1.1 503 X\r\nX-Retry-After: 1\r\nRetry-Aft: 2\r\n\r\n",
	  "503 end ", 0 },
	{ "in the value", "HTTP/1.1 503 X\r\nA: Retry-After: 1\r\n\r\n", "503 end ", 0 },
	{ "continued", "HTTP/1.1 503 X\r\nA: b\r\n Retry-After: 1\r\n\r\n", "503 end ", 0 },
	{ "empty", "HTTP/1.1 503 X\r\nRetry-After:\r\n\r\n", "503 [] end ", 0 },
	{ "long",
	  "HTTP/1.1 503 X\r\nRetry-After: "
	  "12345678901234567890123456789012345678901234567890\r\n\r\n",
	  "503 [123456789012345678901234567890123456789] end ", 0 },
	{ "ssh", "SSH-2.0-OpenSSH_9.2\r\n", "not ", 0 },
	{ "http/2", "HTTP/2 503\r\n", "not ", 0 },
	{ "two digits", "HTTP/1.1 50 X\r\n", "not ", 0 },
	{ "four digits", "HTTP/1.1 5030 X\r\n", "not ", 0 },
	{ "below 100", "HTTP/1.1 099 X\r\n", "not ", 0 },
	{ "small letters", "http/1.1 503 X\r\n", "not ", 0 },
	{ "redis", "-ERR unknown command\r\n", "not ", 0 },
	{ "binary", "\x16\x03\x01\x02", "not ", 0 },
};

#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static struct stream read_in_two(const struct sample *sample, size_t at)
{
	struct stream stream = { .body = sample->body };
	size_t n = strlen(sample->text);

	feed(&stream, sample->text, at);
	feed(&stream, sample->text + at, n - at);
	return stream;
}

Test(http, says_the_same_wherever_it_is_cut)
{
	for (size_t i = 0; i < SAMPLES; i++) {
		for (size_t at = 0; at <= strlen(samples[i].text); at++) {
			struct stream stream = read_in_two(&samples[i], at);

			cr_expect_str_eq(stream.detail.text, samples[i].detail, "%s cut at %zu: %s",
			                 samples[i].name, at, stream.detail.text);
		}
	}
}

Test(http, says_the_same_byte_by_byte)
{
	for (size_t i = 0; i < SAMPLES; i++) {
		struct stream stream = { .body = samples[i].body };

		for (const char *at = samples[i].text; *at; at++)
			feed(&stream, at, 1);
		cr_expect_str_eq(stream.detail.text, samples[i].detail, "%s: %s", samples[i].name,
		                 stream.detail.text);
	}
}

/* Every byte may be wrong, and every cut is taken: it must end, and stay within its memory. */
Test(http, stands_whatever_comes)
{
	uint64_t random = 17;
	char data[400];

	for (int round = 0; round < 20000; round++) {
		const struct sample *sample = &samples[random_upto(&random, SAMPLES - 1)];
		size_t n = strlen(sample->text), at = 0;
		struct http_reader reader = { 0 };

		memcpy(data, sample->text, n);
		for (int64_t wrong = random_upto(&random, 4); wrong > 0; wrong--)
			data[random_upto(&random, (int64_t)n - 1)] = (char)random_next(&random);
		while (at < n) {
			size_t piece = 1 + (size_t)random_upto(&random, (int64_t)(n - at) - 1),
			       taken;
			enum http_said said = http_read(&reader, data + at, piece, &taken);

			cr_assert(taken > 0 && taken <= piece);
			cr_assert(said != HTTP_MORE || taken == piece);
			cr_assert_eq(reader.value[HTTP_VALUE - 1], 0);
			cr_assert(said != HTTP_STATUS ||
			          (reader.status >= 200 && reader.status < 1000) ||
			          reader.status == 101);
			if (said == HTTP_LATER)
				http_retry_after(reader.value, 1795275000);
			if (said != HTTP_MORE && said != HTTP_STATUS)
				reader = (struct http_reader) { 0 };
			at += taken;
		}
	}
}

/* Headers without an end are given up. */
Test(http, a_head_has_a_limit)
{
	static const char line[] = "HTTP/1.1 503 X\r\n", field[] = "X-Padding: 0123456789\r\n";
	struct http_reader reader = { 0 };
	enum http_said said;
	size_t sent = 0, taken;

	cr_assert_eq(http_read(&reader, line, sizeof(line) - 1, &taken), HTTP_STATUS);
	said = http_read(&reader, line + taken, sizeof(line) - 1 - taken, &taken);
	for (; said == HTTP_MORE; sent += sizeof(field) - 1) {
		cr_assert(sent < 2 * HTTP_HEAD_MAX);
		said = http_read(&reader, field, sizeof(field) - 1, &taken);
	}
	cr_expect_eq(said, HTTP_END);
	cr_expect(sent > HTTP_HEAD_MAX / 2);
}

Test(http, the_common_line_is_known_at_once)
{
	static const char *const fine[] = { "HTTP/1.1 200 OK", "HTTP/1.0 204 \r\n",
		                            "HTTP/1.1 304\r\n", "HTTP/1.1 299 X" };
	static const char *const other[] = {
		"HTTP/1.1 503 X", "HTTP/1.1 404 X", "HTTP/1.1 100 X",  "HTTP/1.1 200",
		"HTTP/1.2 200 X", "HTTP/1.1 2000 ", "HTTP/1.1  200 X", "HTTP/1.1 20x X",
		"http/1.1 200 X", "HTTP/1.1 2 0 X",
	};

	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		cr_expect(http_is_fine(fine[i], strlen(fine[i])), "%s", fine[i]);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		cr_expect_not(http_is_fine(other[i], strlen(other[i])), "%s", other[i]);
	for (size_t n = 0; n < HTTP_LINE_LEN; n++)
		cr_expect_not(http_is_fine("HTTP/1.1 200 OK", n));
}

/* --- Retry-After --- */

#define NOW INT64_C(784111777) /* Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110 */

#define EXPECT_SECONDS(text, seconds)                                                              \
	do {                                                                                       \
		int64_t got = http_retry_after(text, NOW);                                         \
                                                                                                   \
		cr_expect_eq(got, (seconds)*NS_PER_S, "%s: %lld", text, (long long)got);           \
	} while (0)
#define EXPECT_NO_TIME(text) cr_expect_eq(http_retry_after(text, NOW), -1, "%s", text)

Test(retry_after, in_seconds)
{
	EXPECT_SECONDS("0", 0);
	EXPECT_SECONDS("120", 120);
	EXPECT_SECONDS("120  ", 120);
	EXPECT_SECONDS("007", 7);
	EXPECT_SECONDS("99999999999999999999999999999999999999", INT64_C(366) * 86400);
}

Test(retry_after, as_a_date_in_three_forms)
{
	EXPECT_SECONDS("Sun, 06 Nov 1994 08:50:37 GMT", 60);
	EXPECT_SECONDS("Sunday, 06-Nov-94 08:50:37 GMT", 60);
	EXPECT_SECONDS("Sun Nov  6 08:50:37 1994", 60);
	EXPECT_SECONDS("Sun Nov 16 08:49:37 1994", 10 * 86400);
	EXPECT_SECONDS("Thu, 01 Dec 1994 08:49:37 GMT", 25 * 86400);
}

Test(retry_after, of_the_past_asks_for_nothing)
{
	EXPECT_SECONDS("Sun, 06 Nov 1994 08:49:37 GMT", 0);
	EXPECT_SECONDS("Sun, 06 Nov 1994 08:49:36 GMT", 0);
	EXPECT_SECONDS("Wednesday, 09-Nov-60 23:12:40 GMT", 0); /* 1960, not 2060 */
}

Test(retry_after, knows_leap_years)
{
	cr_expect_eq(http_retry_after("Wed, 01 Mar 2000 00:00:00 GMT", 951868799), NS_PER_S);
	cr_expect_eq(http_retry_after("Tue, 29 Feb 2000 00:00:01 GMT", 951782400), NS_PER_S);
	cr_expect_eq(http_retry_after("Mon, 01 Mar 2100 00:00:01 GMT", 4107542400), NS_PER_S);
}

Test(retry_after, of_two_digits_is_near)
{
	/* 2026-11-21 */
	cr_expect_eq(http_retry_after("Saturday, 21-Nov-26 00:00:01 GMT", 1795219200), NS_PER_S);
	cr_expect_eq(http_retry_after("Friday, 01-Jan-27 00:00:00 GMT", 1795219200),
	             41 * INT64_C(86400) * NS_PER_S);
	cr_expect_eq(http_retry_after("Saturday, 21-Nov-99 00:00:01 GMT", 1795219200), 0);
}

Test(retry_after, must_be_one_of_these)
{
	static const char *const wrong[] = {
		"",
		"soon",
		"-1",
		"1.5",
		"12s",
		"1 2",
		"+3",
		",",
		"Sun",
		"Sun,",
		"Sun, 06",
		"Sun, 06 Nov 1994 08:50:37",
		"Sunday",
		"Sun Nov 6",
		"Sun, 06 Abc 1994 08:50:37 GMT",
		"Sun, 06 Nov 1994 25:50:37 GMT",
		"Sun, 06 Nov 1994 08:60:37 GMT",
		"Sun, 00 Nov 1994 08:50:37 GMT",
		"Sun, 06 Nov 19 4 08:50:37 GMT",
		"Sun, 06-Nov 1994 08:50:37 GMT",
		"Sun, 06 Nov 1994 08-50-37 GMT",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		EXPECT_NO_TIME(wrong[i]);
}
