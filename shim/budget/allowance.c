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
#define FRESH ALLOWANCE_FEW
#define OPEN  6

/* Where it is not known what is usual: as many failures in a row are no chance, or half of what was
 * answered in the window, if that is more. Where nine in ten fail it is one run in twenty-four. */
#define RUN 30

/* Where what fails does so by itself: attempts for each answer, and failures in a row. One thing
 * that is tried a hundred times a second beside ten others that are answered is within both. */
#define PER_ANSWER_MIXED 20
#define OPEN_MIXED       30

/* Of work that is bounded: attempts for each answer, once that many were answered; and as many
 * failures in a row as may be chance where so few are answered, which for nine in ten is once in
 * five hundred. */
#define PER_ANSWER_BOUNDED 20
#define ANSWERS_BOUNDED    3
#define CHANCE             6
#define RUN_BOUNDED        60

/* Of what was tried often: answers for each connect whose request is judged instead. */
#define ANSWERS_PER_DEFERRED 10

/* Slices, a second each, of which one has an attempt: with kept connections there are next to none
 * as long as the server answers. */
#define ONE_IN 3

/* A port waits so long (TIME_WAIT) until it may be used again towards the same peer. */
#define PORT_WAITS (60 * NS_PER_S)

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
	if (LOAD(allowance->before) == 0)
		STORE(allowance->before, 1);
	slices_count(&allowance->answers, now);
	if (age(&allowance->failed_at, now) > ALLOWANCE_WINDOW)
		STORE(allowance->watching, 0);
}

void allowance_note_answer(struct allowance *allowance, int64_t began)
{
	if (LOAD(allowance->answered_at) <= began)
		STORE(allowance->answered_at, began + 1);
}

/* What went before the last answer came, and has failed since, says nothing of what the destination
 * did after it: of eight threads whose requests hang six are told in a row. */
static bool is_since(const struct allowance *allowance, int64_t began, int64_t now)
{
	int64_t answered_at = LOAD(allowance->answered_at);

	return began >= answered_at || answered_at > now;
}

/* Nothing has failed there for as long as anything counts. */
static bool is_first(const struct allowance *allowance, int64_t now)
{
	return age(&allowance->failed_at, now) > ALLOWANCE_WINDOW;
}

/* Traffic that has only just begun has no usual. */
static bool lasts(const struct allowance *allowance, int64_t now)
{
	return slices_sum(&allowance->tries, ALLOWANCE_WINDOW, SLICES / 2, SLICES - 1, now) > 0;
}

/* Attempts in a second: of this one, which has only begun, or of the one before. */
static int64_t in_a_second(const struct slices *slices, int64_t now)
{
	return greater(slices_sum(slices, ALLOWANCE_WINDOW, 0, 0, now),
	               slices_sum(slices, ALLOWANCE_WINDOW, 1, 1, now));
}

void allowance_answered_before(struct allowance *allowance, int64_t answered, int64_t now)
{
	int64_t before, known;

	if (!is_first(allowance, now))
		return;
	STORE(allowance->before, answered > 0 ? 1 + in_a_second(&allowance->tries, now) : 0);
	before = slices_within(&allowance->tries, ALLOWANCE_WINDOW, now);
	if (answered > 0 && before > ALLOWANCE_START)
		STORE(allowance->answered_at, now);
	answered = lesser(answered, before - 1);
	known = slices_within(&allowance->answers, ALLOWANCE_WINDOW, now);
	if (known < answered && !lasts(allowance, now))
		slices_add(&allowance->answers, ALLOWANCE_WINDOW, answered - known, now);
}

void allowance_failed(struct allowance *allowance, int64_t began, int64_t now)
{
	/* Of the first it may not be known: a request on a kept connection has its time only once
	 * something has failed. */
	bool first = is_first(allowance, now);
	bool counts = first || is_since(allowance, began, now);

	if (first) {
		int64_t before = slices_within(&allowance->tries, ALLOWANCE_WINDOW, now);

		STORE(allowance->usual, lasts(allowance, now) ? before : 0);
		STORE(allowance->usual_at, now);
		/* Nobody counts successes while all is well: what went and did not fail was one,
		 * unless it is still on its way. */
		if (before > ALLOWANCE_START && LOAD(allowance->answered_at) < began)
			STORE(allowance->answered_at, began);
	}
	STORE(allowance->failed_at, now);
	STORE(allowance->watching, 1);
	if (counts)
		atomic_fetch_add_explicit(&allowance->failed, 1, memory_order_relaxed);
}

/* Of one that nobody answers (a one-way sender's) earlier seconds tell: what has only just begun
 * may fail all at once. */
static bool was_in_use(const struct allowance *allowance, bool answered, int64_t now)
{
	return slices_sum(&allowance->tries, ALLOWANCE_WINDOW, answered ? 0 : 1, SLICES - 1, now) >
	       ALLOWANCE_START;
}

bool allowance_lacks_port(struct allowance *allowance, bool answered, int64_t now)
{
	if (age(&allowance->answered_at, now) < PORT_WAITS)
		return true;
	/* Nobody counts successes while all is well; from here on somebody does, so that attempts
	 * without a port do not speak for themselves. */
	if (LOAD(allowance->watching) != 0 || age(&allowance->failed_at, now) <= ALLOWANCE_WINDOW ||
	    !was_in_use(allowance, answered, now))
		return false;
	STORE(allowance->answered_at, now);
	STORE(allowance->watching, 1);
	return true;
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

static bool answers(const struct allowance *allowance, int64_t most, int64_t within, int64_t now)
{
	int64_t failed = LOAD(allowance->failed);

	return age(&allowance->answered_at, now) < within && failed >= 0 && failed <= most;
}

bool allowance_is_answering(const struct allowance *allowance, int64_t now)
{
	return answers(allowance, OPEN, NS_PER_S, now);
}

bool allowance_is_answering_mixed(const struct allowance *allowance, int64_t now)
{
	return answers(allowance, OPEN_MIXED, NS_PER_S, now);
}

bool allowance_is_answering_slowly(const struct allowance *allowance, int64_t now)
{
	return answers(allowance, OPEN, ALLOWANCE_WINDOW, now);
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

bool allowance_is_as_before(const struct allowance *allowance, int64_t now)
{
	int64_t before = within(LOAD(allowance->before), 0, SLICE_COUNT_MAX) - 1;

	if (before < 0)
		return false;
	return (slices_sum(&allowance->tries, ALLOWANCE_WINDOW, 0, 0, now) + 1) * 10 <=
	           before * OVER_USUAL ||
	       slices_sum(&allowance->tries, ALLOWANCE_WINDOW, 0, ONE_IN - 1, now) == 0;
}

/* Failures in a row that may be chance, by what was answered before them. */
static int64_t chance(int64_t tries, int64_t answers, int64_t failed)
{
	return lesser(RUN_BOUNDED, CHANCE * (tries - within(failed, 0, tries)) / answers);
}

/* As much as is answered. */
static bool is_answered(const struct allowance *allowance, enum workload workload, int64_t now)
{
	int64_t tries = slices_within(&allowance->tries, ALLOWANCE_WINDOW, now);
	int64_t answers = slices_within(&allowance->answers, ALLOWANCE_WINDOW, now);
	int64_t failed = LOAD(allowance->failed);
	int64_t each = PER_ANSWER_UNKNOWN, run = greater(RUN, answers / 2);

	if (workload == WORKLOAD_MIXED)
		return tries < answers * PER_ANSWER_MIXED;
	if (usual(allowance, now))
		return tries < answers * PER_ANSWER;
	if (workload == WORKLOAD_BOUNDED && answers >= ANSWERS_BOUNDED) {
		each = PER_ANSWER_BOUNDED;
		run = greater(run, chance(tries, answers, failed));
	}
	return tries < answers * each && failed >= 0 && failed < run;
}

bool allowance_defers(const struct allowance *allowance, bool few, int64_t deferred, int64_t now)
{
	int64_t answers = slices_within(&allowance->answers, ALLOWANCE_WINDOW, now);

	return few ? deferred * SLICES < answers * PER_ANSWER_BOUNDED
	           : deferred * SLICES * ANSWERS_PER_DEFERRED < answers;
}

bool allowance_take(struct allowance *allowance, enum workload workload, int64_t now)
{
	int64_t started = LOAD(allowance->started);

	if (is_fresh(allowance, now) &&
	    (is_answered(allowance, workload, now) || allowance_is_usual(allowance, now)))
		return true;
	while (started >= 0 && started < ALLOWANCE_START)
		if (atomic_compare_exchange_weak_explicit(&allowance->started, &started,
		                                          started + 1, memory_order_relaxed,
		                                          memory_order_relaxed))
			return true;
	return false;
}
