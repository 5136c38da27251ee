/* SPDX-License-Identifier: MIT */
/* Prints of requests. */
#include "track/request.h"

#include "track/address.h"

#define FIRST_LINE 128
#define LAST_BYTES 32

/* A TLS record of a handshake: what follows holds random bytes. */
static int is_tls(const unsigned char *bytes, size_t n)
{
	return n >= 3 && bytes[0] == 0x16 && bytes[1] == 0x03 && bytes[2] <= 0x04;
}

uint32_t request_print(const void *data, size_t n)
{
	const unsigned char *bytes = data;
	size_t line = 0, last = n > LAST_BYTES ? LAST_BYTES : n;
	uint64_t hash;

	if (n == 0 || is_tls(bytes, n))
		return 0;
	while (line < n && line < FIRST_LINE && bytes[line] != '\n')
		line++;
	hash = hash_bytes(hash_bytes(ADDRESS_HASH, bytes, line), bytes + n - last, last);
	hash ^= hash >> 32;
	return (uint32_t)hash ? (uint32_t)hash : 1;
}
