/* SPDX-License-Identifier: MIT */
/* One function for each protocol, in one table. */
#include "conn/not_now.h"

#include "sys/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BEGINS(bytes, n, text)                                                                     \
	((n) >= sizeof(text) - 1 && memcmp(bytes, text, sizeof(text) - 1) == 0)

bool not_now_is_greeted(int64_t port)
{
	return port == 21 || port == 25 || port == 119 || port == 587;
}

/* 421 is "service not available", 554 as a greeting "no service", and a whole line of a code 4yz
 * refuses as a greeting, while after a question it may be an answer. So may the other two be where
 * no greeting was: a line whose first number is a value. */
static bool mail(const unsigned char *bytes, size_t n, struct said_when when)
{
	if (n < 4 || (bytes[3] != ' ' && bytes[3] != '-') || (when.asked && !when.greets))
		return false;
	if (BEGINS(bytes, n, "421") || BEGINS(bytes, n, "554"))
		return true;
	return !when.asked && when.greets && n >= 6 && bytes[0] == '4' && is_digit(bytes[1]) &&
	       is_digit(bytes[2]) && bytes[n - 1] == '\n' && bytes[n - 2] == '\r';
}

/* An error packet as the first one: 3 bytes of length, number 0, 0xff, a code from 1000 on. */
static bool mysql(const unsigned char *bytes, size_t n, struct said_when when)
{
	unsigned int code;

	(void)when;
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
static bool postgres(const unsigned char *bytes, size_t n, struct said_when when)
{
	size_t at = 5;

	(void)when;
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

/* To a command, as the first reply: it loads its data, is cut off from its master, or has its most
 * clients. -ERR alone, and -BUSY or -NOAUTH, are answers. */
static bool redis(const unsigned char *bytes, size_t n, struct said_when when)
{
	(void)when;
	return BEGINS(bytes, n, "-ERR max") || BEGINS(bytes, n, "-LOADING ") ||
	       BEGINS(bytes, n, "-MASTERDOWN ") || BEGINS(bytes, n, "-CLUSTERDOWN ");
}

/* A record of type 21, not encrypted: two bytes, before any handshake. */
static bool tls(const unsigned char *bytes, size_t n, struct said_when when)
{
	(void)when;
	return n >= 6 && bytes[0] == 21 && bytes[1] == 3 && bytes[2] <= 4 && bytes[3] == 0 &&
	       bytes[4] == 2;
}

/* CONNACK. Version 3: two bytes, the second 3, "server unavailable". Version 5: reasons 0x88
 * (unavailable), 0x89 (busy), 0x97 (quota exceeded), 0x9f (connection rate exceeded). */
static bool mqtt(const unsigned char *bytes, size_t n, struct said_when when)
{
	if (!when.asked || n < 4 || bytes[0] != 0x20 || bytes[1] > n - 2 || bytes[2] != 0)
		return false;
	if (bytes[1] == 2)
		return bytes[3] == 3;
	return bytes[1] > 2 &&
	       (bytes[3] == 0x88 || bytes[3] == 0x89 || bytes[3] == 0x97 || bytes[3] == 0x9f);
}

/* The place behind a length of BER, 0 if there is none. */
static size_t past_length(const unsigned char *bytes, size_t n, size_t at)
{
	if (at >= n)
		return 0;
	if (bytes[at] < 0x80)
		return at + 1;
	return bytes[at] <= 0x84 ? at + 1 + (bytes[at] & 0x7f) : 0;
}

/* A message with the response of a bind (0x61), or an extended one that nobody asked for (0x78),
 * whose result is 51 (busy) or 52 (unavailable). */
static bool ldap(const unsigned char *bytes, size_t n, struct said_when when)
{
	size_t at = n >= 2 && bytes[0] == 0x30 ? past_length(bytes, n, 1) : 0;

	if (!when.asked || at == 0 || at + 2 > n || bytes[at] != 2 || bytes[at + 1] > 4)
		return false;
	at += 2 + (size_t)bytes[at + 1]; /* the number of the message */
	if (at >= n || (bytes[at] != 0x61 && bytes[at] != 0x78))
		return false;
	at = past_length(bytes, n, at + 1);
	return at > 0 && at + 3 <= n && bytes[at] == 0x0a && bytes[at + 1] == 1 &&
	       (bytes[at + 2] == 51 || bytes[at + 2] == 52);
}

/* To a request for a connection, after the method was agreed on: general failure, network or host
 * unreachable, refused, expired. What the rules forbid, or the proxy cannot do (2, 7, 8), is an
 * answer. Some clients read three bytes first. */
static bool socks(const unsigned char *bytes, size_t n, struct said_when when)
{
	return when.offered && when.agreed && n >= 3 && bytes[0] == 5 && bytes[2] == 0 &&
	       (bytes[1] == 1 || (bytes[1] >= 3 && bytes[1] <= 6));
}

bool not_now_is_offer(const void *bytes, size_t n)
{
	const unsigned char *first = bytes;

	return not_now_may_be_offer((ssize_t)n) && first[0] == 5 && first[1] == n - 2;
}

/* SOCKS 5: which method, of none and of a password; and that the password is right. The same bytes
 * are an answer to whoever offered none: five, for one, as the length of what follows. */
static bool agrees(const unsigned char *bytes, size_t n, struct said_when when)
{
	if (n != 2 || !when.asked || !when.offered)
		return false;
	return when.agreed ? bytes[0] == 1 && bytes[1] == 0
	                   : bytes[0] == 5 && (bytes[1] == 0 || bytes[1] == 2);
}

static const struct {
	const char *reference; /* for whoever checks it */
	bool (*refuses)(const unsigned char *bytes, size_t n, struct said_when when);
} protocols[] = {
	{ "SMTP: RFC 5321 3.1 and 4.2.1; FTP: RFC 959 4.2.1; NNTP: RFC 3977 5.1", mail },
	{ "MySQL: the error packet, as the first of a connection", mysql },
	{ "PostgreSQL: ErrorResponse, SQLSTATE of class 53 or 57", postgres },
	{ "Redis: errors of its serialization protocol, by their first word", redis },
	{ "TLS: RFC 8446 6", tls },
	{ "MQTT: 3.1.1, 3.2.2.3; 5.0, 3.2.2.2", mqtt },
	{ "LDAP: RFC 4511 4.2.2, 4.4.1 and appendix A", ldap },
	{ "SOCKS 5: RFC 1928 6", socks },
};

enum said not_now_said(const void *bytes, size_t n, struct said_when when)
{
	const unsigned char *first = bytes;

	/* PostgreSQL's reply to whoever asks for TLS. */
	if (n == 1 && (*first == 'N' || *first == 'S'))
		return SAID_NOTHING;
	/* A mail server takes its leave of whom it refused. */
	if (when.asked && BEGINS(first, n, "221 "))
		return SAID_NOTHING;
	if (agrees(first, n, when))
		return SAID_GO_ON;
	for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++)
		if (protocols[i].refuses(first, n, when))
			return SAID_NOT_NOW;
	return SAID_ANSWER;
}
