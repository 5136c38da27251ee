/* SPDX-License-Identifier: MIT */
/* How soon destinations answer. */
#include "dest/answer_time.h"

#include "sys/arithmetic.h"
#include "sys/cell.h"
#include "sys/second_count.h"

/* A shorter wait is no timeout, however soon answers come; up to ENOUGH it is one where nobody has
 * been answered meanwhile: a program may have changed its mind. */
#define LEAST   (100 * NS_PER_MS)
#define ENOUGH  NS_PER_S
#define TIMES   10 /* as long as answers take */
#define OVER    2  /* the same, time and again: who is about to die answers late before */
#define WEIGHT  8  /* of what was known, against one more */
#define MOST    (3600 * NS_PER_S)
#define TRIES   3
#define RUNNING 60 /* s between two of them: less often they are no storm */

#define KNOCKS 10

static void learn(cell64 *cell, int64_t took)
{
	int64_t known = LOAD(*cell);

	took = lesser(took, MOST);
	if (known <= 0 || known > MOST) /* not known yet, or corrupted */
		known = took;
	else
		known += (took - known) / WEIGHT;
	STORE(*cell, known > 0 ? known : 1);
}

void answer_time_answered(struct destination *destination, int64_t took)
{
	if (LOAD(destination->gave_up) != 0)
		STORE(destination->gave_up, 0);
	if (took >= 0)
		learn(&destination->answer_time, took);
}

void answer_time_failed(struct destination *destination, int64_t took)
{
	if (took >= 0)
		learn(&destination->failing_time, took);
}

int64_t answer_time_failing(const struct destination *destination)
{
	int64_t known = LOAD(destination->failing_time);

	return known > 0 ? known : INT64_MAX;
}

bool answer_time_fails_slowly(const struct destination *destination)
{
	return LOAD(destination->failing_time) >= ENOUGH - ENOUGH / 10;
}

static bool is_longer(const struct destination *destination, int64_t waited, int64_t times)
{
	int64_t known = LOAD(destination->answer_time);

	return known > 0 && waited >= LEAST && waited / times >= known;
}

bool answer_time_is_long(const struct destination *destination, int64_t waited)
{
	return is_longer(destination, waited, TIMES);
}

bool answer_time_is_over(const struct destination *destination, int64_t waited)
{
	return LOAD(destination->answer_time) < ENOUGH && is_longer(destination, waited, OVER);
}

bool answer_time_is_timeout(struct destination *destination, int64_t waited, int64_t now)
{
	if (answer_time_is_long(destination, waited) && waited >= ENOUGH)
		return true;
	return answer_time_is_over(destination, waited) && answer_time_gave_up(destination, now);
}

/* Counts one more in the second that the cell tells (sys/second_count.h), anew where the last one
 * is more than `window` seconds ago. */
static int64_t again(cell64 *cell, int64_t now, int64_t window)
{
	int64_t second = now / NS_PER_S, seen = atomic_load(cell), next;

	do {
		int64_t ago = second - second_of(seen);

		next = second_count_more(
		    second_count(second, ago >= 0 && ago <= window ? count_of(seen) : 0));
	} while (!atomic_compare_exchange_weak(cell, &seen, next));
	return count_of(next);
}

bool answer_time_may_be_in_vain(const struct destination *destination, int64_t waited)
{
	return LOAD(destination->answer_time) == 0 && waited >= LEAST && waited < ENOUGH;
}

bool answer_time_is_in_vain(struct destination *destination, int64_t waited, int64_t now)
{
	return answer_time_may_be_in_vain(destination, waited) &&
	       answer_time_gave_up(destination, now);
}

bool answer_time_gave_up(struct destination *destination, int64_t now)
{
	return again(&destination->gave_up, now, RUNNING) >= TRIES;
}

bool answer_time_knocks_often(struct destination *destination, int64_t now)
{
	return LOAD(destination->budget.streak) != 0 ||
	       again(&destination->knocks, now, 0) >= KNOCKS;
}

bool answer_time_only_greets(const struct destination *destination)
{
	return count_of(LOAD(destination->greetings)) >= KNOCKS;
}

bool answer_time_converses(const struct destination *destination)
{
	return LOAD(destination->converses) != 0;
}

bool answer_time_greets_in_vain(struct destination *destination, int64_t now)
{
	return answer_time_converses(destination) &&
	       (answer_time_only_greets(destination) ||
	        again(&destination->greetings, now, 0) >= KNOCKS);
}

void answer_time_past_greeting(struct destination *destination)
{
	if (LOAD(destination->greetings) != 0)
		STORE(destination->greetings, 0);
}

void answer_time_conversed(struct destination *destination)
{
	if (LOAD(destination->converses) == 0)
		STORE(destination->converses, 1);
	answer_time_past_greeting(destination);
}
