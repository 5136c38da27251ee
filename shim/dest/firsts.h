/* SPDX-License-Identifier: MIT */
/* The destinations of which this process has noted something: a bit for each, or for each eight of
 * the largest shares. All-zero is valid. A destination that has made room for another keeps the
 * bit: a hint. */
#ifndef RETRYBUDGET_DEST_FIRSTS_H
#define RETRYBUDGET_DEST_FIRSTS_H

#include "region/region.h"
#include "sys/thread.h"

#define FIRSTS 8192

struct firsts {
	_Atomic(int32_t) process; /* a forked child's are its own */
	_Atomic(uint32_t) slots[FIRSTS / 32];
};

/* Notes this destination (its slot). True if it is for the first time. */
static inline bool firsts_note(struct firsts *firsts, uint32_t slot)
{
	uint32_t bit = UINT32_C(1) << slot % 32;
	int32_t process = thread_process();

	if (LOAD(firsts->process) != process) {
		for (size_t i = 0; i < FIRSTS / 32; i++)
			STORE(firsts->slots[i], 0);
		STORE(firsts->process, process);
	}
	return !(atomic_fetch_or_explicit(&firsts->slots[slot % FIRSTS / 32], bit,
	                                  memory_order_relaxed) &
	         bit);
}

/* Forgets it. True if it was noted. */
static inline bool firsts_take(struct firsts *firsts, uint32_t slot)
{
	uint32_t bit = UINT32_C(1) << slot % 32;
	_Atomic(uint32_t) *word = &firsts->slots[slot % FIRSTS / 32];

	return LOAD(firsts->process) == thread_process() && (LOAD(*word) & bit) != 0 &&
	       (atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed) & bit) != 0;
}

#endif
