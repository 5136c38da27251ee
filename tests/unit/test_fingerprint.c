/* SPDX-License-Identifier: MIT */
/* Which requests look the same. */
#include "dest/fingerprint.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static uint32_t fingerprint_of_text(const char *text)
{
	return fingerprint_of(text, strlen(text));
}

Test(fingerprint, the_first_line_tells)
{
	const char *head = "Host: a\r\nUser-Agent: legacyd/1.0 (a rather long line here)\r\n\r\n";
	char one[256], other[256];

	snprintf(one, sizeof(one), "GET /u/1 HTTP/1.1\r\n%s", head);
	snprintf(other, sizeof(other), "GET /u/2 HTTP/1.1\r\n%s", head);
	cr_assert_neq(fingerprint_of_text(one), fingerprint_of_text(other));
	cr_assert_eq(fingerprint_of_text(one), fingerprint_of_text(strdup(one)));
}

Test(fingerprint, the_last_bytes_tell)
{
	const char *head = "POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n";
	char one[256], other[256];

	snprintf(one, sizeof(one), "%s{\"job\": 1001}", head);
	snprintf(other, sizeof(other), "%s{\"job\": 1002}", head);
	cr_assert_neq(fingerprint_of_text(one), fingerprint_of_text(other));
}

/* The number of the try, a date, a trace id. */
Test(fingerprint, what_varies_between_is_passed_over)
{
	const char *tail = "Host: a\r\nUser-Agent: legacyd/1.0 (a rather long line here)\r\n\r\n";
	char one[256], other[256];

	snprintf(one, sizeof(one), "GET /u/1 HTTP/1.1\r\nX-Try: 1\r\n%s", tail);
	snprintf(other, sizeof(other), "GET /u/1 HTTP/1.1\r\nX-Try: 2\r\n%s", tail);
	cr_assert_eq(fingerprint_of_text(one), fingerprint_of_text(other));
}

Test(fingerprint, without_a_head_every_byte_tells)
{
	char one[1024], other[1024];

	memset(one, 'a', sizeof(one));
	memset(other, 'a', sizeof(other));
	cr_assert_eq(fingerprint_of(one, sizeof(one)), fingerprint_of(other, sizeof(other)));
	other[500] = 'b';
	cr_assert_neq(fingerprint_of(one, sizeof(one)), fingerprint_of(other, sizeof(other)));
}

Test(fingerprint, some_tell_nothing)
{
	const char greeting[] = "\x16\x03\x01\x02\x00\x01\x00";

	cr_assert_eq(fingerprint_of(greeting, sizeof(greeting)), 0);
	cr_assert_eq(fingerprint_of("", 0), 0);
	cr_assert_neq(fingerprint_of("\x16\x05\x01", 3), 0);
	for (size_t n = 1; n < 4; n++)
		cr_assert_neq(fingerprint_of("get", n), 0);
}

#define RPC "POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n"

/* The same URL for all, and only the body tells: in its middle, too. */
Test(fingerprint, the_whole_body_tells)
{
	uint32_t one = fingerprint_of_text(RPC "{\"method\": \"pay\", \"id\": 1, \"unit\": 100}\n");

	cr_assert_neq(one, 0);
	cr_assert_neq(one,
	              fingerprint_of_text(RPC "{\"method\": \"buy\", \"id\": 1, \"unit\": 100}\n"));
	cr_assert_eq(
	    one, fingerprint_of_text("POST /rpc HTTP/1.1\r\nX-Try: 2\r\ncontent-length:40\r\n\r\n"
	                             "{\"method\": \"pay\", \"id\": 1, \"unit\": 100}\n"));
}

Test(fingerprint, a_long_target_tells)
{
	char one[600], other[600];

	memset(one, 'a', sizeof(one));
	memcpy(one, "GET /", 5);
	strcpy(one + 400, " HTTP/1.1\r\n\r\n");
	memcpy(other, one, sizeof(one));
	other[399] = 'b';
	cr_assert_neq(fingerprint_of_text(one), fingerprint_of_text(other));
}

Test(fingerprint, what_is_not_whole_has_none)
{
	cr_assert_eq(fingerprint_of_text(RPC), 0);
	cr_assert_eq(fingerprint_of_text(RPC "{\"method\": \"pay\""), 0);
	cr_assert_eq(fingerprint_of_text("GET /u/1 HTTP/1.1\r\nHost: a\r\n"), 0);
	cr_assert_eq(fingerprint_of_text("GET /u"), 0);
	cr_assert_neq(fingerprint_of_text("GET /u HTTP/1.1\r\n\r\n"), 0);
	cr_assert_neq(fingerprint_of_text("POST /u HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), 0);
}

#define CHUNKED "POST /u HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"

Test(fingerprint, a_chunked_body_is_whole_with_its_last_chunk)
{
	uint32_t one = fingerprint_of_text(CHUNKED "5\r\nhello\r\n0\r\n\r\n");

	cr_assert_neq(one, 0);
	cr_assert_eq(fingerprint_of_text(CHUNKED), 0);
	cr_assert_eq(fingerprint_of_text(CHUNKED "5\r\nhello\r\n"), 0);
	cr_assert_eq(fingerprint_of_text(CHUNKED "5\r\nhello\r\n0\r\n"), 0);
	cr_assert_neq(fingerprint_of_text(CHUNKED "5\r\nhullo\r\n0\r\n\r\n"), one);
	cr_assert_eq(fingerprint_of_text(CHUNKED "2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nEnd: 1\r\n\r\n"),
	             one);
}

/* In whatever pieces it is written. */
Test(fingerprint, pieces_make_no_difference)
{
	static const char *const whole[] = {
		RPC "{\"method\": \"pay\", \"id\": 1, \"unit\": 100}\n",
		CHUNKED "5\r\nhello\r\n10;x\r\n0123456789abcdef\r\n0\r\n\r\n",
		"GET /u/1 HTTP/1.0\r\nHost: a\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		size_t n = strlen(whole[i]);

		for (size_t cut = 5; cut < n; cut++) {
			struct fingerprint_reader reader = { 0 };
			uint32_t fingerprint;

			fingerprint_read(&reader, whole[i], cut);
			cr_expect_eq(fingerprint_said(&reader, &fingerprint), FINGERPRINT_PARTIAL,
			             "%zu", cut);
			cr_expect_eq(fingerprint, 0);
			fingerprint_read(&reader, whole[i] + cut, n - cut);
			cr_expect_eq(fingerprint_said(&reader, &fingerprint), FINGERPRINT_WHOLE,
			             "%zu", cut);
			cr_expect_eq(fingerprint, fingerprint_of_text(whole[i]));
		}
	}
}

Test(fingerprint, one_that_is_too_long_has_none)
{
	static char body[FINGERPRINT_MOST + 1];

	memset(body, 'x', sizeof(body));
	cr_assert_eq(fingerprint_of(body, sizeof(body)), 0);
	cr_assert_neq(fingerprint_of(body, sizeof(body) - 1), 0);
	cr_assert_eq(
	    fingerprint_of_text("PUT /u HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nx"),
	    0);
}

/* What every connection begins with is no request. */
Test(fingerprint, preambles_tell_nothing)
{
	const char startup[] = "\0\0\0\x10\0\x03\0\0user\0me\0";
	const char tls[] = "\0\0\0\x08\x04\xd2\x16\x2f";

	cr_assert_eq(fingerprint_of(startup, sizeof(startup)), 0);
	cr_assert_eq(fingerprint_of(tls, 8), 0);
	cr_assert_eq(fingerprint_of_text("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0);
	cr_assert_eq(fingerprint_of("AMQP\0\0\x09\x01", 8), 0);
	cr_assert_eq(fingerprint_of_text("*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n"), 0);
	cr_assert_neq(fingerprint_of_text("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), 0);
	cr_assert_eq(fingerprint_of("\0\0\1\x07", 4), 0);
	cr_assert_eq(fingerprint_of("\x05\x01\0", 3), 0, "SOCKS");
	cr_assert_eq(fingerprint_of("\x01\x04user\x08password", 15), 0, "to such a proxy");
	cr_assert_neq(fingerprint_of("\x01\x04user\x08password!", 16), 0);
	cr_assert_neq(fingerprint_of("\x05\x01\0\x01\x7f\0\0\x01\0\x50", 10), 0);
}

Test(fingerprint, one_with_a_head_is_known_by_a_bit)
{
	char request[64];

	for (int i = 0; i < 1000; i++) {
		snprintf(request, sizeof(request), "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
		cr_assert_eq(fingerprint_of_text(request) & FINGERPRINT_HEAD, FINGERPRINT_HEAD);
		snprintf(request, sizeof(request), "get %d\r\n", i);
		cr_assert_eq(fingerprint_of_text(request) & FINGERPRINT_HEAD, 0);
		cr_assert_neq(fingerprint_of_text(request), 0);
	}
}
