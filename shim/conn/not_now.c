/* SPDX-License-Identifier: MIT */
/* One function for each protocol, in one list. */
#include "conn/not_now.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BEGINS(bytes, n, text)                                                                     \
	((n) >= sizeof(text) - 1 && memcmp(bytes, text, sizeof(text) - 1) == 0)

/* RFC 5321 4.2.1, RFC 959 4.2.1: 421 is "service not available", 554 as a greeting "no service". */
static bool mail(const unsigned char *bytes, size_t n)
{
	return n >= 4 && (BEGINS(bytes, n, "421") || BEGINS(bytes, n, "554")) &&
	       (bytes[3] == ' ' || bytes[3] == '-');
}

/* An error packet as the first one: 3 bytes of length, number 0, 0xff, a code from 1000 on. */
static bool mysql(const unsigned char *bytes, size_t n)
{
	unsigned int code;

	if (n < 7 || bytes[2] != 0 || bytes[3] != 0 || bytes[4] != 0xff)
		return false;
	code = bytes[5] | (unsigned int)bytes[6] << 8;
	return code >= 1000 && code < 5000;
}

static uint32_t number(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* An ErrorResponse whose SQLSTATE is of class 53 (insufficient resources) or 57 (operator
 * intervention: it starts, or stops). A wrong password is an answer. */
static bool postgres(const unsigned char *bytes, size_t n)
{
	size_t at = 5;

	if (n < 12 || bytes[0] != 'E' || number(bytes + 1) < 8 || number(bytes + 1) > 8192)
		return false;
	while (at + 2 < n && bytes[at]) {
		const unsigned char *end = memchr(bytes + at, 0, n - at);

		if (bytes[at] == 'C')
			return bytes[at + 1] == '5' &&
			       (bytes[at + 2] == '3' || bytes[at + 2] == '7');
		if (!end)
			break;
		at = (size_t)(end - bytes) + 1;
	}
	return false;
}

static bool redis(const unsigned char *bytes, size_t n)
{
	return BEGINS(bytes, n, "-ERR max");
}

/* RFC 8446 6: a record of type 21 with two bytes, before any handshake. */
static bool tls(const unsigned char *bytes, size_t n)
{
	return n >= 6 && bytes[0] == 21 && bytes[1] == 3 && bytes[2] <= 4 && bytes[3] == 0 &&
	       bytes[4] == 2;
}

static bool (*const protocols[])(const unsigned char *bytes, size_t n) = {
	mail, mysql, postgres, redis, tls,
};

enum said not_now_said(const void *bytes, size_t n)
{
	const unsigned char *first = bytes;

	/* PostgreSQL's reply to whoever asks for TLS. */
	if (n == 1 && (*first == 'N' || *first == 'S'))
		return SAID_NOTHING;
	for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++)
		if (protocols[i](first, n))
			return SAID_NOT_NOW;
	return SAID_ANSWER;
}
