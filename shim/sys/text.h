/* SPDX-License-Identifier: MIT */
/*
 * Building text in a buffer of fixed size, without stdio, locale or allocation. Everything here is
 * async-signal-safe and thread-safe.
 *
 * What does not fit is not written, not even in part: every function returns false then and leaves
 * the text as it was. Only text_value() and text_escaped() shorten, and show it by a final "...".
 */
#ifndef RETRYBUDGET_SYS_TEXT_H
#define RETRYBUDGET_SYS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* Of ASCII, in every locale. */
static inline bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_upper(int c)
{
	return c >= 'A' && c <= 'Z';
}

static inline char lower(int c)
{
	return (char)(is_upper(c) ? c + ('a' - 'A') : c);
}

/* True if the string begins with these letters. */
static inline bool begins(const char *string, const char *with)
{
	return strncmp(string, with, strlen(with)) == 0;
}

struct text {
	char *out;   /* always NUL-terminated, if size > 0 */
	size_t size; /* bytes of out, the NUL included */
	size_t used;
};

void text_start(struct text *text, char *out, size_t size);

/* Takes back everything after `used` bytes. */
void text_rewind(struct text *text, size_t used);

bool text_bytes(struct text *text, const char *bytes, size_t n);
bool text_string(struct text *text, const char *string);
bool text_decimal(struct text *text, int64_t value);
bool text_hex(struct text *text, uint64_t value); /* with 0x */

/* Reads the digits at *text up to the byte that must end them, and moves behind that. False: there
 * are none, or more than 18, or another byte. */
bool text_number(const char **text, char end, int64_t *value);

/* Thousandths as a decimal fraction: 93150 is "93.1" with one place. Cut, not rounded, so that what
 * is printed was really there. places: 0..3. */
bool text_fixed(struct text *text, int64_t thousandths, int places);

/* The same with as many places as the value has: 10000 is "10", 2500 is "2.5". */
bool text_thousandths(struct text *text, int64_t thousandths);

/* Bytes of any origin as one logfmt value of at most max bytes: bare where all of them are
 * harmless, else in quotes with control bytes, quotes, backslashes and all bytes from 0x7f up as
 * \xNN. Bytes that change meanwhile (shared memory) cannot break out of the value. */
bool text_value(struct text *text, const char *bytes, size_t n, size_t max);

/* The same escapes without the quotes. */
bool text_escaped(struct text *text, const char *bytes, size_t n, size_t max);

#define IP_V4_AT 12 /* where the four bytes of an IPv4 address lie in its mapped form */

/* Writes the IPv4-mapped form ::ffff:a.b.c.d of four bytes in network order (RFC 4291, section
 * 2.5.5.2). */
static inline void ip_map_v4(uint8_t ip[16], const void *v4)
{
	memset(ip, 0, 10);
	memset(ip + 10, 0xff, 2);
	memcpy(ip + IP_V4_AT, v4, 4);
}

/* True if these 16 bytes are an IPv4 address in that form. */
static inline bool ip_is_v4(const uint8_t ip[16])
{
	static const uint8_t prefix[IP_V4_AT] = { [10] = 0xff, [11] = 0xff };

	return memcmp(ip, prefix, sizeof(prefix)) == 0;
}

/* An address (16 bytes; IPv4 as ::ffff:a.b.c.d is written a.b.c.d) in the form of RFC 5952, with a
 * scope if not 0: "10.1.0.5:5432", "[fe80::1%2]:80". */
bool text_ip(struct text *text, const uint8_t address[16], uint32_t scope, uint16_t port);

/* A socket address as one logfmt value: as above, or "unix:/path", or "unix:@name" for an abstract
 * one. False too for other families and for lengths too short for their family. */
bool text_address(struct text *text, const struct sockaddr *address, socklen_t len, size_t max);

#endif
