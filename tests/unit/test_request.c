/* SPDX-License-Identifier: MIT */
/* Which requests look the same. */
#include "track/request.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static uint32_t print_of(const char *text)
{
	return request_print(text, strlen(text));
}

Test(request, the_first_line_tells)
{
	const char *head = "Host: a\r\nUser-Agent: legacyd/1.0 (a rather long line here)\r\n\r\n";
	char one[256], other[256];

	snprintf(one, sizeof(one), "GET /u/1 HTTP/1.1\r\n%s", head);
	snprintf(other, sizeof(other), "GET /u/2 HTTP/1.1\r\n%s", head);
	cr_assert_neq(print_of(one), print_of(other));
	cr_assert_eq(print_of(one), print_of(strdup(one)));
}

Test(request, the_last_bytes_tell)
{
	const char *head = "POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n";
	char one[256], other[256];

	snprintf(one, sizeof(one), "%s{\"job\": 1001}", head);
	snprintf(other, sizeof(other), "%s{\"job\": 1002}", head);
	cr_assert_neq(print_of(one), print_of(other));
}

/* The number of the try, a date, a trace id. */
Test(request, what_varies_between_is_passed_over)
{
	const char *tail = "Host: a\r\nUser-Agent: legacyd/1.0 (a rather long line here)\r\n\r\n";
	char one[256], other[256];

	snprintf(one, sizeof(one), "GET /u/1 HTTP/1.1\r\nX-Try: 1\r\n%s", tail);
	snprintf(other, sizeof(other), "GET /u/1 HTTP/1.1\r\nX-Try: 2\r\n%s", tail);
	cr_assert_eq(print_of(one), print_of(other));
}

Test(request, a_line_without_end_is_read_so_far)
{
	char one[1024], other[1024];

	memset(one, 'a', sizeof(one));
	memset(other, 'a', sizeof(other));
	other[127] = 'b';
	cr_assert_neq(request_print(one, sizeof(one)), request_print(other, sizeof(other)));
	other[127] = 'a';
	other[128] = 'b';
	cr_assert_eq(request_print(one, sizeof(one)), request_print(other, sizeof(other)));
}

Test(request, some_tell_nothing)
{
	const char greeting[] = "\x16\x03\x01\x02\x00\x01\x00";

	cr_assert_eq(request_print(greeting, sizeof(greeting)), 0);
	cr_assert_eq(request_print("", 0), 0);
	cr_assert_neq(request_print("\x16\x05\x01", 3), 0);
	for (size_t n = 1; n < 4; n++)
		cr_assert_neq(request_print("get", n), 0);
}
