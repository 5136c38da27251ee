/* SPDX-License-Identifier: MIT */
/* FNV-1a, by the vectors that its authors publish (RFC 9923, appendix C). */
#include "sys/hash.h"

#include <criterion/criterion.h>
#include <string.h>

Test(hash, published_vectors)
{
	static const struct {
		const char *bytes;
		uint32_t narrow;
		uint64_t wide;
	} cases[] = {
		{ "", UINT32_C(0x811c9dc5), UINT64_C(0xcbf29ce484222325) },
		{ "a", UINT32_C(0xe40c292c), UINT64_C(0xaf63dc4c8601ec8c) },
		{ "foobar", UINT32_C(0xbf9cf968), UINT64_C(0x85944171f73967e8) },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *bytes = cases[i].bytes;
		size_t n = strlen(bytes), half = n / 2;

		cr_expect_eq(hash32_bytes(HASH32_START, bytes, n), cases[i].narrow, "%s", bytes);
		cr_expect_eq(hash_bytes(HASH_START, bytes, n), cases[i].wide, "%s", bytes);
		cr_expect_eq(
		    hash_bytes(hash_bytes(HASH_START, bytes, half), bytes + half, n - half),
		    cases[i].wide, "%s, in two pieces", bytes);
	}
}
