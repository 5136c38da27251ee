/* SPDX-License-Identifier: MIT */
/*
 * An unanswered failure as it stands in shared memory: a word that is claimed by one
 * compare-and-swap, and a detail beside it, written after it, that may for a moment be missing or
 * an earlier one's. The detail carries a check of the word that it goes with; without it the
 * failure is known less well.
 *
 * Pure.
 */
#ifndef RETRYBUDGET_DEST_FAILURE_WORD_H
#define RETRYBUDGET_DEST_FAILURE_WORD_H

#include <stdbool.h>
#include <stdint.h>

#define FAILURE_ANYONE   0   /* owner of a failure that any thread may answer */
#define FAILURE_UNPLACED 255 /* seat of one that has none */

struct unanswered {
	int32_t owner;        /* thread id, or FAILURE_ANYONE */
	uint32_t place;       /* of the address among those of its name (dest/names.h), 0 = none */
	int64_t at;           /* ns, precise to 1 us; 4 ms without its detail */
	uint32_t fingerprint; /* of the request, 0 = unknown */
	uint32_t number;      /* attempts for this request so far, 1..31 */
	bool held;            /* by us: when the program will learn of it is not known */
	bool counted;         /* the number is known to count from the first try */
	bool passed;  /* something else has come in its place: only its own request answers it */
	bool refused; /* the last of these attempts never went: we refused it */
	bool early;   /* claimed by nobody: the program waits longer before it tries again */
	uint8_t seat; /* where it stood in the list until it was claimed, from 1; 0 = nowhere */
};

/* The word, never 0, which is a free place; in *detail what goes beside it. The time is taken up to
 * the next unit: what was asked for before a failure must not seem to have come after. */
int64_t failure_pack(const struct unanswered *failure, int64_t *detail);

/* What the two say. now: ns, not long after the failure. */
struct unanswered failure_unpack(int64_t word, int64_t detail, int64_t now);

/* The word: 22 bits of owner (the kernel's largest thread id is 2^22), 12 of the address's place,
 * 30 of time. */
#define FAILURE_TIME_SHIFT 22 /* 4.2 ms */
#define FAILURE_TIME_BITS  30 /* wraps after 52 days; one that old is read as young once */
#define FAILURE_TIME_MASK  ((UINT64_C(1) << FAILURE_TIME_BITS) - 1)

/* What the word says alone: whose it is, where, and when, to 4 ms. Here, since an attempt looks at
 * all that a destination has. */
static inline struct unanswered failure_unpack_word(int64_t packed, int64_t now)
{
	uint64_t word = (uint64_t)packed, units = (uint64_t)now >> FAILURE_TIME_SHIFT;
	uint64_t age = (units - (word & FAILURE_TIME_MASK)) & FAILURE_TIME_MASK;

	if (age > FAILURE_TIME_MASK / 2) /* noted by a thread whose clock was a moment later */
		age = 0;
	return (struct unanswered) {
		.owner = (int32_t)(word >> 42),
		.place = (uint32_t)(word >> 30) & 0xfff,
		.at = (int64_t)((units - age) << FAILURE_TIME_SHIFT),
		.number = 1,
	};
}

/* False: the detail, whichever word it goes with, is of none that was passed. */
#define FAILURE_PASSED (UINT64_C(1) << 50)
static inline bool failure_may_be_passed(int64_t detail)
{
	return (uint64_t)detail & FAILURE_PASSED;
}

/* The fingerprint alone, 0 = unknown. */
uint32_t failure_fingerprint(int64_t word, int64_t detail);

/* The detail of a failure that was passed over; as it is, if it is another's. */
int64_t failure_pass(int64_t word, int64_t detail);

#endif
