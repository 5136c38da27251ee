/* SPDX-License-Identifier: MIT */
/* The allowance of a destination for attempts of unknown kind. */
#include "budget/allowance.h"

#include "sys/cell.h"

/* Attempts for each answer. Where it is not known what is usual, more: a destination that fails
 * most of what it gets would else be asked less and less until nobody asks. */
#define PER_ANSWER         2
#define PER_ANSWER_UNKNOWN 10

/* Tolerance over the usual traffic of a second, in tenths. */
#define OVER_USUAL 11

#define USUAL_HOLDS (300 * NS_PER_S)

/* Failures since the last success up to which it still counts as fresh, beyond its first second. */
#define FRESH 10
#define OPEN  6

/* Where what fails does so by itself: attempts for each answer, and failures in a row. One thing
 * that is tried a hundred times a second beside ten others that are answered is within both. */
#define PER_ANSWER_MIXED 20
#define OPEN_MIXED       30

/* A moment of the future is a rival's later clock, or garbage: it counts as now. */
static int64_t age(const cell64 *moment, int64_t now)
{
	int64_t at = LOAD(*moment);

	return at <= 0 ? INT64_MAX : at > now ? 0 : now - at;
}

void allowance_answered(struct allowance *allowance, int64_t now)
{
	STORE(allowance->answered_at, now);
	if (LOAD(allowance->failed) != 0)
		STORE(allowance->failed, 0);
	if (LOAD(allowance->started) != 0)
		STORE(allowance->started, 0);
	if (LOAD(allowance->watching) == 0)
		return;
	slices_count(&allowance->answers, now);
	if (age(&allowance->failed_at, now) > ALLOWANCE_WINDOW)
		STORE(allowance->watching, 0);
}

void allowance_failed(struct allowance *allowance, int64_t now)
{
	if (age(&allowance->failed_at, now) > ALLOWANCE_WINDOW) {
		int64_t before = slices_within(&allowance->tries, ALLOWANCE_WINDOW, now);
		/* Traffic that has only just begun has no usual. */
		bool lasts = slices_sum(&allowance->tries, ALLOWANCE_WINDOW, SLICES / 2, SLICES - 1,
		                        now) > 0;

		STORE(allowance->usual, lasts ? before : 0);
		STORE(allowance->usual_at, now);
		/* Nobody counts successes while all is well: what went and did not fail was one. */
		if (before > ALLOWANCE_START)
			STORE(allowance->answered_at, now);
	}
	STORE(allowance->failed_at, now);
	STORE(allowance->watching, 1);
	atomic_fetch_add_explicit(&allowance->failed, 1, memory_order_relaxed);
}

/* Attempts in ten seconds that are usual here; 0: not known. */
static int64_t usual(const struct allowance *allowance, int64_t now)
{
	int64_t usual = LOAD(allowance->usual);

	/* A destination that is tried once in a while has no usual traffic to speak of. */
	if (age(&allowance->usual_at, now) > USUAL_HOLDS || usual <= ALLOWANCE_START)
		return 0;
	return usual > SLICE_COUNT_MAX ? SLICE_COUNT_MAX : usual;
}

static bool is_fresh(const struct allowance *allowance, int64_t now)
{
	int64_t failed = LOAD(allowance->failed);

	return age(&allowance->answered_at, now) < NS_PER_S || (failed >= 0 && failed <= FRESH);
}

static bool answers(const struct allowance *allowance, int64_t most, int64_t now)
{
	int64_t failed = LOAD(allowance->failed);

	return age(&allowance->answered_at, now) < NS_PER_S && failed >= 0 && failed <= most;
}

bool allowance_is_answering(const struct allowance *allowance, int64_t now)
{
	return answers(allowance, OPEN, now);
}

bool allowance_is_answering_mixed(const struct allowance *allowance, int64_t now)
{
	return answers(allowance, OPEN_MIXED, now);
}

bool allowance_has_answer(const struct allowance *allowance, int64_t now)
{
	return age(&allowance->answered_at, now) < ALLOWANCE_WINDOW;
}

bool allowance_is_usual(const struct allowance *allowance, int64_t now)
{
	int64_t known = usual(allowance, now);

	/* This second's: a slice is a second. */
	return known && slices_sum(&allowance->tries, ALLOWANCE_WINDOW, 0, 0, now) * 100 <
	                    known * OVER_USUAL;
}

bool allowance_take(struct allowance *allowance, bool mixed, int64_t now)
{
	int64_t known = usual(allowance, now), tries, answers;
	int64_t started = LOAD(allowance->started);

	if (is_fresh(allowance, now)) {
		tries = slices_within(&allowance->tries, ALLOWANCE_WINDOW, now);
		answers = slices_within(&allowance->answers, ALLOWANCE_WINDOW, now);
		if (tries < answers * (mixed   ? PER_ANSWER_MIXED
		                       : known ? PER_ANSWER
		                               : PER_ANSWER_UNKNOWN))
			return true;
		if (allowance_is_usual(allowance, now))
			return true;
	}
	while (started >= 0 && started < ALLOWANCE_START)
		if (atomic_compare_exchange_weak_explicit(&allowance->started, &started,
		                                          started + 1, memory_order_relaxed,
		                                          memory_order_relaxed))
			return true;
	return false;
}
