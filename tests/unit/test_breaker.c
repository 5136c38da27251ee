/* SPDX-License-Identifier: MIT */
/*
 * The circuit breaker held against a list of everything that happened, under random schedules with
 * a clock of our own: it opens when the rule says so and at no other time, nothing goes while it is
 * open, no more probes than allowed are in flight, and nothing that dies keeps it from closing.
 */
#include "budget_fixture.h"
#include "budget/breaker.h"

#define EVENTS 2000
#define PROBES 64

static struct breaker breaker;
static struct breaker_rule rule;
static uint64_t dice;

/* The outcomes since it was closed last. */
static struct {
	int64_t at;
	bool bad;
} past[EVENTS];
static int happened, in_a_row;

static struct {
	int64_t began;
	bool dead; /* its outcome never comes */
} flying[PROBES];
static int in_flight;

static enum { SHUT, OPEN, HALF } state;
static int64_t opened_at;
static int answered;

static void begin(uint64_t seed)
{
	memset(&breaker, 0, sizeof(breaker));
	dice = seed;
	rule = (struct breaker_rule) {
		.failures = 5,
		.rate = 500000,
		.volume = 20,
		.window = SECONDS(10),
		.open = SECONDS(30),
		.probes = 1,
		.successes = 1,
		.on = 1,
	};
	happened = in_a_row = in_flight = answered = 0;
	state = SHUT;
}

/* Outcomes in the slices that the window covers, of the present one and nine before. */
static int64_t count(bool bad, int64_t now)
{
	int64_t width = rule.window / SLICES, from = (now / width - (SLICES - 1)) * width, n = 0;

	for (int i = happened - 1; i >= 0 && past[i].at >= from; i--)
		n += past[i].bad == bad;
	return n;
}

static bool should_open(int64_t now)
{
	int64_t bad = count(true, now), all = bad + count(false, now);

	if (rule.failures && in_a_row >= rule.failures)
		return true;
	return rule.rate && all >= rule.volume && bad * PPM_WHOLE >= all * rule.rate;
}

static void outcome(bool bad, bool probe, int64_t now)
{
	enum breaker_change change = bad ? breaker_failed(&breaker, &rule, probe, now, &dice)
	                                 : breaker_succeeded(&breaker, &rule, probe, now);
	bool opens = false, closes = false;

	if (state == SHUT) {
		past[happened].at = now;
		past[happened++].bad = bad;
		in_a_row = bad ? in_a_row + 1 : 0;
		opens = bad && should_open(now);
	} else if (state == HALF && probe) {
		answered += !bad;
		opens = bad;
		closes = !bad && answered >= rule.successes;
	}
	cr_assert_eq(change,
	             opens    ? BREAKER_OPENED
	             : closes ? BREAKER_CLOSED
	                      : BREAKER_AS_IT_WAS,
	             "%d: state %d, %d in a row", (int)change, (int)state, in_a_row);
	if (opens) {
		state = OPEN;
		opened_at = now;
	}
	if (closes) {
		state = SHUT;
		happened = in_a_row = 0;
	}
}

/* Those that may still count, and those that surely do. */
static int64_t alive(int64_t within, int64_t now)
{
	int64_t n = 0;

	for (int i = 0; i < in_flight; i++)
		n += flying[i].began > now - within;
	return n;
}

/* True if an attempt went; *probe: as a probe. */
static bool ask(int64_t now, bool *probe)
{
	enum breaker_change change;
	int64_t turn = breaker_wait(&breaker, &rule, now);
	enum breaker_verdict verdict = breaker_ask(&breaker, &rule, now, &change);

	*probe = verdict == BREAKER_PROBE;
	if (change == BREAKER_HALF_OPENED) {
		cr_assert_eq(state, OPEN);
		cr_assert_geq(now, opened_at + rule.open, "jittered upward only");
		state = HALF;
		answered = 0;
	} else {
		cr_assert_eq(change, BREAKER_AS_IT_WAS);
	}
	cr_assert_eq(turn == 0, verdict != BREAKER_HOLD, "waits are exact");
	if (state == SHUT)
		cr_assert_eq(verdict, BREAKER_GO);
	if (state == OPEN) {
		cr_assert_eq(verdict, BREAKER_HOLD);
		cr_assert_lt(now, opened_at + rule.open + rule.open / 10, "it ends");
	}
	if (state == HALF) {
		cr_assert_neq(verdict, BREAKER_GO);
		cr_assert_leq(alive(rule.open, now) + *probe, rule.probes, "too many probes");
		if (alive(rule.open + rule.open / 5, now) == 0)
			cr_assert(*probe, "locked out");
	}
	if (*probe) {
		flying[in_flight].began = now;
		flying[in_flight++].dead = false;
	}
	return verdict != BREAKER_HOLD;
}

static void land(int which)
{
	breaker_released(&breaker, &rule, flying[which].began);
	flying[which] = flying[--in_flight];
}

/* One random event. */
static void something(int64_t *now, int64_t ill)
{
	int which = in_flight ? (int)random_upto(&dice, in_flight - 1) : 0;
	bool probe;

	*now += random_upto(&dice, random_upto(&dice, 99) ? SECONDS(0.3) : 2 * rule.open);
	for (int i = in_flight - 1; i >= 0; i--) /* forgotten long since */
		if (flying[i].dead && flying[i].began < *now - 2 * rule.open)
			flying[i] = flying[--in_flight];
	if (in_flight && random_upto(&dice, 2) == 0) {
		if (random_upto(&dice, 9) == 0)
			flying[which].dead = true;
		if (flying[which].dead)
			return;
		land(which);
		if (random_upto(&dice, 9)) /* else it ends without an outcome */
			outcome(random_upto(&dice, 99) < ill, true, *now);
		return;
	}
	if (in_flight < PROBES && happened < EVENTS && ask(*now, &probe) && !probe)
		outcome(random_upto(&dice, 99) < ill, false, *now);
	else if (happened < EVENTS && random_upto(&dice, 9) == 0) /* of one begun before */
		outcome(random_upto(&dice, 1), false, *now);
}

Test(breaker, opens_holds_probes_and_closes_by_the_rule)
{
	int times[3] = { 0 };

	for (int round = 0; round < 200; round++) {
		int64_t now = START_OF_TIME, ill = random_upto(&dice, 100);

		begin((uint64_t)round + 1);
		rule.failures = random_upto(&dice, 2) * random_upto(&dice, 9);
		rule.rate = random_upto(&dice, 3) * 250000;
		rule.volume = 1 + random_upto(&dice, 30);
		rule.window = SECONDS(1 + random_upto(&dice, 20));
		rule.open = random_upto(&dice, 1) ? SECONDS(0.1) : SECONDS(random_upto(&dice, 60));
		if (rule.open == 0)
			rule.open = SECONDS(1);
		rule.probes = 1 + random_upto(&dice, 4);
		rule.successes = 1 + random_upto(&dice, 3);
		for (int i = 0; i < 3000 && happened < EVENTS; i++) {
			if (i % 500 == 0)
				ill = random_upto(&dice, 100);
			something(&now, ill);
			times[state]++;
		}
	}
	for (int i = 0; i < 3; i++)
		cr_expect_gt(times[i], 5000, "state %d: %d", i, times[i]);
}

Test(breaker, off_changes_nothing)
{
	static const struct breaker untouched;
	enum breaker_change change;

	begin(1);
	rule.on = 0;
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(breaker_failed(&breaker, &rule, false, START_OF_TIME, &dice),
		             BREAKER_AS_IT_WAS);
		cr_assert_eq(breaker_ask(&breaker, &rule, START_OF_TIME, &change), BREAKER_GO);
		cr_assert_eq(breaker_wait(&breaker, &rule, START_OF_TIME), 0);
	}
	cr_expect_eq(memcmp(&breaker, &untouched, sizeof(breaker)), 0);
	cr_expect(!breaker_counts_success(&breaker, &rule));
}

static void open_at(int64_t now)
{
	for (int i = 0; i < 5; i++)
		breaker_failed(&breaker, &rule, false, now, &dice);
	cr_assert(!breaker_is_closed(&breaker));
}

Test(breaker, the_open_time_is_jittered_upward_by_a_tenth)
{
	int64_t least = INT64_MAX, most = 0;

	for (int i = 0; i < 500; i++) {
		int64_t turn;

		begin((uint64_t)i);
		open_at(START_OF_TIME);
		turn = breaker_wait(&breaker, &rule, START_OF_TIME);
		least = turn < least ? turn : least;
		most = turn > most ? turn : most;
	}
	cr_expect(least >= SECONDS(30) && least < SECONDS(30.3), "%ld", (long)least);
	cr_expect(most <= SECONDS(33) && most > SECONDS(32.7), "%ld", (long)most);
}

/* The process that probes is killed: its permit comes back with another open time. */
Test(breaker, a_probe_that_never_ends_is_forgotten)
{
	int64_t now = START_OF_TIME + SECONDS(33);
	enum breaker_change change;

	begin(1);
	open_at(START_OF_TIME);
	cr_expect_eq(breaker_ask(&breaker, &rule, now, &change), BREAKER_PROBE);
	cr_expect_eq(change, BREAKER_HALF_OPENED);
	for (int64_t at = now; at < now + SECONDS(29); at += SECONDS(1)) {
		int64_t turn = breaker_wait(&breaker, &rule, at);

		cr_assert_eq(breaker_ask(&breaker, &rule, at, &change), BREAKER_HOLD);
		cr_assert(turn >= 100 * NS_PER_MS && turn <= NS_PER_S, "look again soon");
	}
	cr_expect_eq(breaker_ask(&breaker, &rule, now + SECONDS(33), &change), BREAKER_PROBE);
}

/* What was counted before it opened does not open it again. */
Test(breaker, a_closed_one_begins_anew)
{
	int64_t now = START_OF_TIME + SECONDS(1);
	enum breaker_change change;

	begin(1);
	rule.failures = 0;
	rule.volume = 4;
	rule.open = SECONDS(0.1);
	for (int i = 0; i < 10; i++)
		breaker_failed(&breaker, &rule, false, START_OF_TIME, &dice);
	cr_assert_eq(breaker_ask(&breaker, &rule, now, &change), BREAKER_PROBE);
	cr_assert_eq(breaker_succeeded(&breaker, &rule, true, now), BREAKER_CLOSED);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(breaker_failed(&breaker, &rule, false, now, &dice), BREAKER_AS_IT_WAS);
	cr_expect_eq(breaker_failed(&breaker, &rule, false, now, &dice), BREAKER_OPENED);
}

/* A reload that shortens the open time, and a corrupted word, end with the new open time. */
Test(breaker, an_end_too_far_off_is_moved_up)
{
	enum breaker_change change;

	begin(1);
	rule.open = SECONDS(3600);
	open_at(START_OF_TIME);
	rule.open = SECONDS(2);
	cr_expect_eq(breaker_wait(&breaker, &rule, START_OF_TIME + SECONDS(1)), SECONDS(2));
	cr_expect_eq(breaker_ask(&breaker, &rule, START_OF_TIME + SECONDS(3), &change),
	             BREAKER_PROBE);
}

/* How many outcomes of one schedule pass before it opens. */
static int time_to_open(int64_t failures, int64_t rate, int64_t volume, uint64_t seed)
{
	int64_t now = START_OF_TIME;

	begin(seed);
	rule.failures = failures;
	rule.rate = rate;
	rule.volume = volume;
	for (int i = 0; i < EVENTS; i++) {
		now += random_upto(&dice, SECONDS(0.5));
		if (random_upto(&dice, 99) >= 50)
			breaker_succeeded(&breaker, &rule, false, now);
		else if (breaker_failed(&breaker, &rule, false, now, &(uint64_t) { 1 }))
			return i;
	}
	return EVENTS;
}

Test(breaker, more_of_a_parameter_never_opens_it_sooner)
{
	int later = 0;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		int before[3] = { 0 };

		for (int64_t more = 1; more <= 10; more++) {
			int now[3] = {
				time_to_open(more, 0, 1, seed),
				time_to_open(0, more * 100000, 5, seed),
				time_to_open(0, 400000, more * 3, seed),
			};

			for (int i = 0; i < 3; i++) {
				cr_assert_geq(now[i], before[i], "%d, %ld", i, (long)more);
				later += now[i] > before[i];
				before[i] = now[i];
			}
		}
	}
	cr_expect_gt(later, 500, "they matter");
}

/* From any bits, with any rule: nothing overflows, and within a few open times somebody goes. */
Test(breaker, never_a_lockout_whatever_the_cells_hold)
{
	static const int64_t odd[] = { INT64_MIN, -1, 0, 1, 1000, PPM_WHOLE, INT64_MAX };
	static const int64_t times[] = { INT64_MIN, -1, 0, 1, START_OF_TIME, INT64_MAX };

	for (int round = 0; round < 20000; round++) {
		enum breaker_change change;
		bool went = false;
		int64_t *numbers = (int64_t *)&rule, open;

		begin((uint64_t)round);
		for (size_t i = 0; i < sizeof(breaker) / sizeof(cell64); i++)
			((cell64 *)&breaker)[i] =
			    (int64_t)random_next(&dice) >> random_upto(&dice, 63);
		for (int64_t at = START_OF_TIME; !went && at < START_OF_TIME + 4 * rule.open;
		     at += rule.open / 20)
			went = breaker_ask(&breaker, &rule, at, &change) != BREAKER_HOLD;
		cr_assert(went, "round %d", round);
		for (size_t i = 0; i < offsetof(struct breaker_rule, on) / sizeof(int64_t); i++)
			if (random_upto(&dice, 1))
				numbers[i] = odd[random_upto(&dice, 6)];
		open = rule.open;
		for (int i = 0; i < 6; i++) {
			int64_t now = times[random_upto(&dice, 5)];

			breaker_ask(&breaker, &rule, now, &change);
			breaker_failed(&breaker, &rule, i % 2, now, &dice);
			breaker_succeeded(&breaker, &rule, i % 2, now);
			breaker_released(&breaker, &rule, now);
			cr_assert_geq(breaker_wait(&breaker, &rule, now), 0, "%ld", (long)open);
		}
	}
}

/* --- threads --- */

enum { ROUNDS = 300 };

struct arena {
	struct breaker breakers[ROUNDS];
	_Atomic(int) opened, half_opened, permits[ROUNDS];
};

static void all_at_once(struct racer *racer)
{
	struct arena *arena = racer->shared;
	uint64_t random = (uint64_t)racer->number;

	for (int i = 0; i < ROUNDS; i++) {
		enum breaker_change change;

		pthread_barrier_wait(racer->line);
		if (breaker_failed(&arena->breakers[i], &rule, false, START_OF_TIME, &random))
			arena->opened++;
		pthread_barrier_wait(racer->line);
		if (breaker_ask(&arena->breakers[i], &rule, START_OF_TIME + SECONDS(40), &change) ==
		    BREAKER_PROBE)
			arena->permits[i]++;
		arena->half_opened += change == BREAKER_HALF_OPENED;
	}
}

Test(breaker, of_threads_at_once_one_changes_it_and_few_probe)
{
	static struct arena arena;
	int probed = 0;

	begin(1);
	rule.failures = 3;
	rule.probes = 2;
	race(all_at_once, &arena);
	cr_expect_eq(arena.opened, ROUNDS, "%d", arena.opened);
	cr_expect_eq(arena.half_opened, ROUNDS, "%d", arena.half_opened);
	for (int i = 0; i < ROUNDS; i++) {
		cr_assert_leq(arena.permits[i], 2, "round %d", i);
		probed += arena.permits[i];
	}
	cr_expect_gt(probed, ROUNDS / 2);
}
