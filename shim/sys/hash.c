/* SPDX-License-Identifier: MIT */
/* Byte after byte, as the rule is published (Fowler, Noll and Vo). */
#include "sys/hash.h"

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while (n--)
		hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
	return hash;
}

uint32_t hash32_bytes(uint32_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while (n--)
		hash = (hash ^ *at++) * UINT32_C(0x01000193);
	return hash;
}
