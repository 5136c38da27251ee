/* SPDX-License-Identifier: MIT */
/*
 * The word of the step: 40 bits of time in units of 2^20 ns, 4 of steps in a row without a refusal,
 * 5 of the step's number, 15 of how many may go; 0 of these: it is not on. The word of the counts
 * begins with the number of the step that they are of, and is empty for any other: so a step begins
 * with one compare-and-swap of its own word.
 */
#include "budget/ramp.h"

#define LIMIT_BITS  15
#define NUMBER_BITS 5
#define CALM_BITS   4
#define NUMBER      LIMIT_BITS
#define CALM        (NUMBER + NUMBER_BITS)
#define BEGAN       (CALM + CALM_BITS)
#define UNIT        20

/* Not on: somebody was throttled, or the way back has broken off. */
#define THROTTLED  INT64_C(0x8000)
#define BROKEN_OFF INT64_C(0x10000)

#define COUNT_BITS 16
#define COUNT_MASK ((INT64_C(1) << COUNT_BITS) - 1)
#define FAILED     0
#define ANSWERED   16
#define WENT       32
#define REFUSED_AT 48
#define STEP_AT    49

static int64_t part(int64_t word, int at, int bits)
{
	return (int64_t)((uint64_t)word >> at & ((UINT64_C(1) << bits) - 1));
}

static int64_t limit_of(int64_t step)
{
	return part(step, 0, LIMIT_BITS);
}

/* A beginning in the near future is a rival's later clock; one further off was corrupted, and the
 * step is over. */
static int64_t age_of(int64_t step, int64_t now)
{
	uint64_t mask = (UINT64_C(1) << (64 - BEGAN)) - 1;
	uint64_t age = (((uint64_t)now >> UNIT) - ((uint64_t)step >> BEGAN)) & mask;
	uint64_t ahead = mask + 1 - age;

	return ahead <= (uint64_t)RAMP_STEP >> UNIT ? 0 : (int64_t)(age << UNIT);
}

static int64_t step_word(int64_t now, int64_t calm, int64_t number, int64_t limit)
{
	return (int64_t)((uint64_t)now >> UNIT << BEGAN | (uint64_t)calm << CALM |
	                 (uint64_t)(number & ((1 << NUMBER_BITS) - 1)) << NUMBER | (uint64_t)limit);
}

/* The counts of this step. */
static int64_t counts_of(int64_t step, int64_t counts)
{
	int64_t number = part(step, NUMBER, NUMBER_BITS);

	return part(counts, STEP_AT, NUMBER_BITS) == number ? counts : number << STEP_AT;
}

static int64_t one_more(int64_t counts, int at)
{
	return part(counts, at, COUNT_BITS) < COUNT_MASK ? counts + (INT64_C(1) << at) : counts;
}

/* How many may go in the next step. */
static int64_t next_limit(int64_t limit, int64_t counts)
{
	int64_t went = part(counts, WENT, COUNT_BITS), failed = part(counts, FAILED, COUNT_BITS);
	int64_t answered = part(counts, ANSWERED, COUNT_BITS);

	if (failed * 8 > failed + answered || answered * 2 < went)
		return greater(limit / 2, 1);
	if (answered * 8 < went * 7 || (went < limit && !part(counts, REFUSED_AT, 1)))
		return limit;
	return lesser(limit * 2, RAMP_MOST);
}

/* Of a step's number they go evenly, for a burst is what small queues overflow from; and one goes
 * whenever all that went are answered. */
static bool has_room(int64_t step, int64_t counts, int64_t now)
{
	int64_t limit = limit_of(step), went = part(counts, WENT, COUNT_BITS);

	return went < lesser(1 + limit * age_of(step, now) / RAMP_STEP, limit) ||
	       (went <= part(counts, ANSWERED, COUNT_BITS) &&
	        part(counts, FAILED, COUNT_BITS) == 0);
}

static int64_t next_step(int64_t step, int64_t counts, int64_t now)
{
	int64_t calm = part(counts, REFUSED_AT, 1) ? 0 : part(step, CALM, CALM_BITS) + 1;

	if (calm >= RAMP_CALM)
		return 0;
	return step_word(now, calm, part(step, NUMBER, NUMBER_BITS) + 1,
	                 next_limit(limit_of(step), counts));
}

static bool is_over(int64_t step, int64_t now)
{
	return limit_of(step) == 0 || age_of(step, now) >= RAMP_CALM * RAMP_STEP;
}

static bool is_waiting(int64_t step)
{
	return step == THROTTLED || step == BROKEN_OFF;
}

void ramp_throttled(struct ramp *ramp, int64_t now)
{
	int64_t step = LOAD(ramp->step);

	if (!is_waiting(step) && is_over(step, now))
		cell_swap(&ramp->step, step, THROTTLED);
}

void ramp_begin(struct ramp *ramp, bool was_outage, int64_t now)
{
	int64_t step = LOAD(ramp->step);

	if (is_waiting(step) && (was_outage || step == BROKEN_OFF))
		cell_swap(&ramp->step, step,
		          step_word(now, 0, part(LOAD(ramp->counts), STEP_AT, NUMBER_BITS) + 1,
		                    RAMP_FIRST));
	else if (step != 0 && is_over(step, now))
		cell_swap(&ramp->step, step, 0);
}

void ramp_stop(struct ramp *ramp, int64_t now)
{
	int64_t step = LOAD(ramp->step);

	if (!is_over(step, now))
		cell_swap(&ramp->step, step, BROKEN_OFF);
}

bool ramp_take(struct ramp *ramp, int64_t now)
{
	int64_t step, seen, counts;

	for (;;) {
		step = LOAD(ramp->step);
		if (is_over(step, now))
			return true;
		seen = LOAD(ramp->counts);
		counts = counts_of(step, seen);
		if (age_of(step, now) >= RAMP_STEP) {
			cell_swap(&ramp->step, step, next_step(step, counts, now));
			continue;
		}
		if (!has_room(step, counts, now)) {
			if (part(counts, REFUSED_AT, 1) ||
			    cell_swap(&ramp->counts, seen, counts | INT64_C(1) << REFUSED_AT))
				return false;
		} else if (cell_swap(&ramp->counts, seen, one_more(counts, WENT))) {
			return true;
		}
	}
}

static void note(struct ramp *ramp, int at)
{
	int64_t step, seen;

	do {
		step = LOAD(ramp->step);
		if (limit_of(step) == 0)
			return;
		seen = LOAD(ramp->counts);
	} while (!cell_swap(&ramp->counts, seen, one_more(counts_of(step, seen), at)));
}

void ramp_answered(struct ramp *ramp)
{
	note(ramp, ANSWERED);
}

void ramp_failed(struct ramp *ramp)
{
	note(ramp, FAILED);
}

bool ramp_lasts(const struct ramp *ramp, int64_t now)
{
	return !is_over(LOAD(ramp->step), now);
}
