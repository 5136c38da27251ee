/* SPDX-License-Identifier: MIT */
/* The detail: 11 bits that tell which word it goes with, 1 each for refused, held, passed and
 * counted, 12 of finer time, 5 of number, 32 of fingerprint. */
#include "dest/failure_word.h"

#define FINE_SHIFT 10 /* 1 us: new work may come soon after a failure */
#define FINE_MASK  0xfff
#define NUMBER_MAX 31

#define DETAIL_NUMBER  32
#define DETAIL_COUNTED (UINT64_C(1) << 37)
#define DETAIL_FINE    38
#define DETAIL_HELD    (UINT64_C(1) << 51)
#define DETAIL_REFUSED (UINT64_C(1) << 52)
#define DETAIL_CHECK   53

static uint64_t check_of(int64_t word)
{
	uint64_t bits = (uint64_t)word;

	return (bits ^ bits >> 12 ^ bits >> 24 ^ bits >> 36 ^ bits >> 48 ^ bits >> 60) & 0x7ff;
}

static bool is_of(int64_t detail, int64_t word)
{
	return (uint64_t)detail >> DETAIL_CHECK == check_of(word);
}

static int64_t pack_word(const struct unanswered *failure)
{
	uint64_t at = ((uint64_t)failure->at >> FAILURE_TIME_SHIFT) & FAILURE_TIME_MASK;
	uint64_t word = ((uint64_t)(uint32_t)failure->owner & 0x3fffff) << 42 |
	                (uint64_t)(failure->place & 0xfff) << 30 | at;

	return word ? (int64_t)word : 1;
}

static int64_t pack_detail(const struct unanswered *failure, int64_t word)
{
	uint64_t number = failure->number > NUMBER_MAX ? NUMBER_MAX : failure->number;
	uint64_t fine = (uint64_t)failure->at >> FINE_SHIFT & FINE_MASK;

	return (int64_t)(check_of(word) << DETAIL_CHECK | fine << DETAIL_FINE |
	                 number << DETAIL_NUMBER | failure->fingerprint |
	                 (failure->counted ? DETAIL_COUNTED : 0) |
	                 (failure->passed ? FAILURE_PASSED : 0) |
	                 (failure->held ? DETAIL_HELD : 0) |
	                 (failure->refused ? DETAIL_REFUSED : 0));
}

int64_t failure_pack(const struct unanswered *failure, int64_t *detail)
{
	struct unanswered kept = *failure;
	int64_t word;

	kept.at += (INT64_C(1) << FINE_SHIFT) - 1;
	word = pack_word(&kept);
	*detail = pack_detail(&kept, word);
	return word;
}

static void unpack_detail(struct unanswered *failure, int64_t packed)
{
	uint64_t detail = (uint64_t)packed;

	failure->fingerprint = (uint32_t)detail;
	failure->number = (uint32_t)(detail >> DETAIL_NUMBER) & NUMBER_MAX;
	failure->counted = detail & DETAIL_COUNTED;
	failure->passed = detail & FAILURE_PASSED;
	failure->held = detail & DETAIL_HELD;
	failure->refused = detail & DETAIL_REFUSED;
	failure->at += (int64_t)(detail >> DETAIL_FINE & FINE_MASK) << FINE_SHIFT;
}

struct unanswered failure_unpack(int64_t word, int64_t detail, int64_t now)
{
	struct unanswered failure = failure_unpack_word(word, now);

	if (is_of(detail, word))
		unpack_detail(&failure, detail);
	return failure;
}

uint32_t failure_fingerprint(int64_t word, int64_t detail)
{
	return is_of(detail, word) ? (uint32_t)detail : 0;
}

int64_t failure_pass(int64_t word, int64_t detail)
{
	return is_of(detail, word) ? (int64_t)((uint64_t)detail | FAILURE_PASSED) : detail;
}
