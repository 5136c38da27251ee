/* SPDX-License-Identifier: MIT */
/* Replies of name servers. */
#include "conn/dns.h"

#define HEADER 12 /* bytes */

enum { SERVFAIL = 2, REFUSED = 5 };

/* A byte of what lies in parts; 0 behind their end. */
static unsigned int byte_at(const struct iovec *parts, size_t count, size_t at)
{
	for (size_t i = 0; i < count; i++) {
		if (at < parts[i].iov_len)
			return ((const unsigned char *)parts[i].iov_base)[at];
		at -= parts[i].iov_len;
	}
	return 0;
}

bool dns_is_failure(const struct iovec *parts, size_t count, size_t n)
{
	unsigned int code;

	if (n < HEADER || !(byte_at(parts, count, 2) & 0x80))
		return false;
	code = byte_at(parts, count, 3) & 0x0f;
	return code == SERVFAIL || code == REFUSED;
}
