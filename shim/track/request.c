/* SPDX-License-Identifier: MIT */
/* Prints of requests. */
#include "track/request.h"

#include "track/address.h"

#include <string.h>

#define FIRST_LINE 128

/* A TLS record: what follows is a handshake with random bytes in it, or encrypted. */
static int is_tls(const unsigned char *bytes, size_t n)
{
	return n >= 3 && bytes[0] >= 0x14 && bytes[0] <= 0x17 && bytes[1] == 0x03 &&
	       bytes[2] <= 0x04;
}

/* How much comes before the body: a header that an empty line ends, or nothing. */
static size_t before_body(const unsigned char *bytes, size_t n)
{
	const unsigned char *end =
	    memmem(bytes, n < REQUEST_BEGIN ? n : REQUEST_BEGIN, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

uint32_t request_print(const void *data, size_t n)
{
	const unsigned char *bytes = data;
	size_t line = 0, last;
	uint64_t hash;

	if (n == 0 || is_tls(bytes, n))
		return 0;
	while (line < n && line < FIRST_LINE && bytes[line] != '\n')
		line++;
	last = n - before_body(bytes, n);
	if (last > REQUEST_END)
		last = REQUEST_END;
	hash = hash_bytes(hash_bytes(ADDRESS_HASH, bytes, line), bytes + n - last, last);
	hash ^= hash >> 32;
	/* Neither 0, which stands for none, nor TRAFFIC_BEGUN. */
	return (uint32_t)hash + 1 > 1 ? (uint32_t)hash : 1;
}
