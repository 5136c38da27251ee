/* SPDX-License-Identifier: MIT */
/*
 * The word of the step: 40 bits of time in units of 2^20 ns, 4 of steps in a row without a refusal,
 * 5 of the step's number, 1 once it was too large, 3 of the fastest answer, 11 of how many may go;
 * 0 of these: it is not on. The word of the counts begins with the number of the step that they are
 * of, and is empty for any other: so a step begins with one compare-and-swap of its own word.
 */
#include "budget/ramp.h"

#define LIMIT_BITS  11
#define SPEED_BITS  3
#define NUMBER_BITS 5
#define QUIET_BITS  4
#define FASTEST     LIMIT_BITS
#define CAREFUL     (FASTEST + SPEED_BITS)
#define NUMBER      (CAREFUL + 1)
#define QUIET       (NUMBER + NUMBER_BITS)
#define BEGAN       (QUIET + QUIET_BITS)
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
#define QUICK_AT   (STEP_AT + NUMBER_BITS) /* of its fastest answer, 0 = none came */
#define SLOW_AT    (QUICK_AT + SPEED_BITS) /* of its slowest */

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

/* pace: how many may go, and what the next step has to know. */
static int64_t step_word(int64_t now, int64_t quiet, int64_t number, int64_t pace)
{
	return (int64_t)((uint64_t)now >> UNIT << BEGAN | (uint64_t)quiet << QUIET |
	                 (uint64_t)(number & ((1 << NUMBER_BITS) - 1)) << NUMBER | (uint64_t)pace);
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

/* How long an answer took, in 3 bits: 1 under RAMP_STEP, each further one up to twice as long. */
static int64_t speed_of(int64_t took)
{
	int64_t speed = 1;

	for (int64_t most = RAMP_STEP; took >= most && speed < 7; most *= 2)
		speed++;
	return speed;
}

/* 0 is unknown, and no answer's. */
static int64_t faster(int64_t a, int64_t b)
{
	return a == 0 || b == 0 ? a | b : lesser(a, b);
}

static int64_t answer_of(int64_t counts, int64_t speed)
{
	int64_t mask = (INT64_C(1) << SPEED_BITS) - 1;
	int64_t quick = faster(part(counts, QUICK_AT, SPEED_BITS), speed);
	int64_t slow = greater(part(counts, SLOW_AT, SPEED_BITS), speed);

	counts &= ~(mask << QUICK_AT | mask << SLOW_AT);
	return counts | quick << QUICK_AT | slow << SLOW_AT;
}

/* Those who wait in a server's queue for much longer than an answer takes give up, and come again.
 * Half a second is no queue. */
static bool has_queue(int64_t fastest, int64_t counts)
{
	return part(counts, SLOW_AT, SPEED_BITS) >= greater(fastest + 2, 4);
}

/* What of the next step's word says how many may go. It doubles until it was too large once. */
static int64_t next_pace(int64_t step, int64_t counts)
{
	int64_t went = part(counts, WENT, COUNT_BITS), failed = part(counts, FAILED, COUNT_BITS);
	int64_t answered = part(counts, ANSWERED, COUNT_BITS), limit = limit_of(step);
	int64_t careful = part(step, CAREFUL, 1);
	int64_t fastest =
	    faster(part(step, FASTEST, SPEED_BITS), part(counts, QUICK_AT, SPEED_BITS));

	if (failed * 8 > failed + answered || answered * 2 < went) {
		limit /= 2;
	} else if (has_queue(fastest, counts)) {
		limit = answered * 7 / 8;
		careful = 1;
	} else if (answered * 8 >= went * 7 && (went >= limit || part(counts, REFUSED_AT, 1))) {
		limit += careful ? limit / 8 + 1 : limit;
	}
	return careful << CAREFUL | fastest << FASTEST | within(limit, 1, RAMP_MOST);
}

/* Of a step's number they go evenly, for a burst is what small queues overflow from; and one goes
 * whenever all that went are answered, if it is not from a queue that the answers come. */
static bool has_room(int64_t step, int64_t counts, int64_t now)
{
	int64_t limit = limit_of(step), went = part(counts, WENT, COUNT_BITS);

	return went < lesser(1 + limit * age_of(step, now) / RAMP_STEP, limit) ||
	       (went <= part(counts, ANSWERED, COUNT_BITS) &&
	        part(counts, FAILED, COUNT_BITS) == 0 &&
	        !has_queue(part(step, FASTEST, SPEED_BITS), counts));
}

static int64_t next_step(int64_t step, int64_t counts, int64_t now)
{
	int64_t quiet = part(counts, REFUSED_AT, 1) ? 0 : part(step, QUIET, QUIET_BITS) + 1;

	if (quiet >= RAMP_QUIET)
		return 0;
	return step_word(now, quiet, part(step, NUMBER, NUMBER_BITS) + 1, next_pace(step, counts));
}

static bool is_over(int64_t step, int64_t now)
{
	return limit_of(step) == 0 || age_of(step, now) >= RAMP_QUIET * RAMP_STEP;
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
	int64_t step = LOAD_ORDERED(ramp->step);

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

	while (!is_over(step, now) && !cell_swap_ordered(&ramp->step, step, BROKEN_OFF))
		step = LOAD(ramp->step); /* somebody began its next one */
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

/* speed: of an answer; 0 = it failed. */
static void note(struct ramp *ramp, int at, int64_t speed)
{
	int64_t step, seen, counts;

	do {
		step = LOAD(ramp->step);
		if (limit_of(step) == 0)
			return;
		seen = LOAD(ramp->counts);
		counts = one_more(counts_of(step, seen), at);
		if (speed > 0)
			counts = answer_of(counts, speed);
	} while (!cell_swap(&ramp->counts, seen, counts));
}

void ramp_answered(struct ramp *ramp, int64_t took)
{
	note(ramp, ANSWERED, speed_of(took));
}

void ramp_failed(struct ramp *ramp)
{
	note(ramp, FAILED, 0);
}

bool ramp_lasts(const struct ramp *ramp, int64_t now)
{
	return !is_over(LOAD(ramp->step), now);
}

bool ramp_is_idle(const struct ramp *ramp, int64_t now)
{
	return !is_waiting(LOAD(ramp->step)) && !ramp_is_on(ramp, now);
}

bool ramp_is_wanted(const struct ramp *ramp, int64_t now)
{
	return LOAD(ramp->step) == BROKEN_OFF || ramp_is_on(ramp, now);
}
