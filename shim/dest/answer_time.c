/* SPDX-License-Identifier: MIT */
/* How soon destinations answer. */
#include "dest/answer_time.h"

#include "sys/cell.h"

/* A shorter wait is no timeout, however soon answers come; up to ENOUGH it is one where nobody has
 * been answered meanwhile: a host may have changed its mind. */
#define LEAST  (100 * NS_PER_MS)
#define ENOUGH NS_PER_S
#define TIMES  10 /* as long as answers take */
#define WEIGHT 8  /* of what was known, against one more */
#define MOST   (3600 * NS_PER_S)
#define TRIES  3

#define KNOCKS     10
#define KNOCK_BITS 24
#define KNOCK_MASK ((INT64_C(1) << KNOCK_BITS) - 1)

void answer_time_answered(struct destination *destination, int64_t took)
{
	int64_t known = LOAD(destination->answer_time);

	if (LOAD(destination->gave_up) != 0)
		STORE(destination->gave_up, 0);
	if (took < 0)
		return;
	if (took > MOST)
		took = MOST;
	if (known <= 0 || known > MOST) /* not known yet, or corrupted */
		known = took;
	else
		known += (took - known) / WEIGHT;
	STORE(destination->answer_time, known > 0 ? known : 1);
}

bool answer_time_is_long(const struct destination *destination, int64_t waited)
{
	int64_t known = LOAD(destination->answer_time);

	return known > 0 && waited >= LEAST && waited / TIMES >= known;
}

bool answer_time_is_timeout(struct destination *destination, int64_t waited)
{
	return answer_time_is_long(destination, waited) &&
	       (waited >= ENOUGH || answer_time_gave_up(destination));
}

bool answer_time_gave_up(struct destination *destination)
{
	int64_t times = atomic_fetch_add(&destination->gave_up, 1) + 1;

	return times >= TRIES || times < 0; /* corrupted */
}

bool answer_time_knocks_often(struct destination *destination, int64_t now)
{
	int64_t second = now / NS_PER_S, seen = atomic_load(&destination->knocks), next;

	if (LOAD(destination->budget.streak) != 0)
		return true;
	do
		next = seen >> KNOCK_BITS == second && (seen & KNOCK_MASK) < KNOCK_MASK
		           ? seen + 1
		           : second << KNOCK_BITS | 1;
	while (!atomic_compare_exchange_weak(&destination->knocks, &seen, next));
	return (next & KNOCK_MASK) >= KNOCKS;
}
