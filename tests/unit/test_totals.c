/* SPDX-License-Identifier: MIT */
/* Sums over processes that come and go: they never fall, and nothing is counted twice. */
#include "agent/totals.c"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>

static struct totals totals;
static struct destination one;

static void start(void)
{
	cr_assert(totals_start(&totals, 2));
	memset(&one, 0, sizeof(one));
	strcpy(one.name, "db:5432");
}

static void end(void)
{
	totals_end(&totals);
}

TestSuite(totals, .init = start, .fini = end);

static void read_once(uint64_t region, int64_t attempts)
{
	one.tally.attempts = attempts;
	totals_add(&totals, region, 0, "app", &one);
}

static int64_t attempts_of(size_t series)
{
	return totals.series[series].values[TALLY_PLACE(attempts)];
}

Test(totals, what_has_come_since_is_added)
{
	for (int64_t attempts = 5; attempts <= 20; attempts += 5) {
		totals_begin(&totals);
		read_once(1, attempts);
		totals_finish(&totals, 0);
		cr_expect_eq(attempts_of(1), attempts);
	}
}

/* A process is read between two counts of one refusal. */
Test(totals, differences_never_fall)
{
	static const int64_t steps[][5] = {
		/* refused, avoided, parked; told at once, would have been */
		{ 10, 6, 2, 4, 4 }, { 11, 6, 2, 4, 5 }, { 11, 7, 2, 5, 5 },
		{ 11, 7, 3, 5, 5 }, { 12, 8, 3, 5, 5 }, { 14, 8, 3, 5, 6 },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		totals_begin(&totals);
		one.tally.refused = steps[i][0];
		one.tally.avoided = steps[i][1];
		one.tally.parked = steps[i][2];
		read_once(1, 100);
		totals_finish(&totals, 0);
		cr_expect_eq(totals.series[1].values[TOTALS_REFUSED], steps[i][3], "%zu", i);
		cr_expect_eq(totals.series[1].values[TOTALS_WOULD], steps[i][4], "%zu", i);
	}
	cr_expect_eq(totals_throttled(&totals.series[1]), 8);
}

Test(totals, another_policy_is_another_series)
{
	strcpy(one.policy, "db");
	totals_begin(&totals);
	read_once(1, 5);
	totals_finish(&totals, 0);
	strcpy(one.policy, "orders");
	totals_begin(&totals);
	read_once(1, 9);
	totals_finish(&totals, 0);
	cr_assert_eq(totals.count, 3);
	cr_expect_str_eq(totals.series[1].policy, "db");
	cr_expect_eq(attempts_of(1), 5);
	cr_expect_str_eq(totals.series[2].policy, "orders");
	cr_expect_eq(attempts_of(2), 4, "what has come since");
	cr_expect_eq(totals.series[1].processes, 0);
	memset(one.policy, 'x', sizeof(one.policy)); /* without an end */
	totals_begin(&totals);
	read_once(1, 10);
	totals_finish(&totals, 0);
	cr_expect_eq(attempts_of(0), 1, "there is room for two");
}

Test(totals, a_process_that_ends_leaves_what_it_counted)
{
	totals_begin(&totals);
	read_once(1, 7);
	read_once(2, 3);
	totals_finish(&totals, 0);
	totals_begin(&totals);
	read_once(2, 4);
	totals_finish(&totals, 0);
	cr_expect_eq(attempts_of(1), 11);
	cr_expect_eq(totals.series[1].processes, 1);
	for (int i = 0; i < MISSED; i++) {
		totals_begin(&totals);
		read_once(2, 4);
		totals_finish(&totals, 0);
	}
	cr_expect_eq(attempts_of(1), 11);
	cr_expect_eq(totals.last_count, 1, "the other is forgotten");
}

/* The agent had no descriptor left to open it with, say. */
Test(totals, a_process_that_was_not_readable_for_a_while_counts_once)
{
	totals_begin(&totals);
	read_once(1, 1000);
	totals_finish(&totals, 0);
	for (int i = 0; i < MISSED; i++) {
		totals_begin(&totals);
		totals_finish(&totals, 0);
		cr_expect_eq(totals.series[1].processes, 0);
	}
	totals_begin(&totals);
	read_once(1, 1007);
	totals_finish(&totals, 0);
	cr_expect_eq(attempts_of(1), 1007);
}

Test(totals, a_slot_that_was_taken_anew_begins_anew)
{
	totals_begin(&totals);
	read_once(1, 100);
	totals_finish(&totals, 0);
	totals_begin(&totals);
	read_once(1, 2);
	totals_finish(&totals, 0);
	cr_expect_eq(attempts_of(1), 102);
	totals_begin(&totals);
	read_once(1, INT64_MIN);
	totals_finish(&totals, 0);
	cr_expect_eq(attempts_of(1), 102, "garbage counts nothing");
	totals_begin(&totals);
	read_once(1, INT64_MAX);
	totals_finish(&totals, 0);
	cr_expect_eq(attempts_of(1), INT64_MAX, "and runs over nowhere");
}

/* A process ends while it is read, and another of its family answers for the region. */
Test(totals, what_is_read_twice_in_a_round_counts_once)
{
	one.budget.bucket.holding = INT64_C(10000) << 32 | 4000;
	for (int64_t attempts = 5; attempts <= 10; attempts += 5) {
		totals_begin(&totals);
		read_once(1, attempts);
		read_once(1, attempts + 1);
		totals_finish(&totals, 0);
		cr_expect_eq(attempts_of(1), attempts + 1);
		cr_expect_eq(totals.series[1].processes, 1);
		cr_expect_eq(totals.series[1].tokens, 4000);
	}
}

/* Any of its counters may begin or end to be 0, in any order. */
Test(totals, every_counter_is_kept_by_itself)
{
	cell64 *counters = (cell64 *)&one.tally;
	int64_t sums[TOTALS_VALUES] = { 0 }, before[TOTALS_VALUES] = { 0 };

	srand(1);
	for (int round = 0; round < 200; round++) {
		totals_begin(&totals);
		for (size_t i = 0; i < TOTALS_VALUES; i++) {
			int64_t value = rand() % 3 ? 0 : rand() % 100;

			counters[i] = value;
			sums[i] += value >= before[i] ? value - before[i] : value;
			before[i] = value;
		}
		totals_add(&totals, 1, 7, "app", &one);
		totals_finish(&totals, 0);
		for (size_t i = 0; i < TOTALS_VALUES; i++)
			cr_assert_eq(totals.series[1].values[i], sums[i], "%zu of round %d", i,
			             round);
	}
}

/* Of a share there may be 131,072. */
Test(totals, a_destination_takes_little_memory)
{
	size_t sum = 0;

	one.tally.attempts = one.tally.failed[0] = one.tally.refused = 3;
	totals_begin(&totals);
	for (unsigned int slot = 0; slot < 10000; slot++)
		totals_add(&totals, 1, slot, "app", &one);
	totals_finish(&totals, 0);
	for (size_t i = 0; i < totals.last_room; i++)
		if (totals.last[i].values)
			sum += malloc_usable_size(totals.last[i].values);
	sum += totals.last_room * sizeof(*totals.last);
	cr_expect_eq(totals.last_count, 10000);
	cr_expect_lt(sum, 10000 * 200, "%zu bytes", sum);
}

Test(totals, what_finds_no_place_is_other)
{
	totals_begin(&totals);
	for (int i = 0; i < 5; i++) {
		snprintf(one.name, sizeof(one.name), "host%d:80", i);
		read_once(1, 10);
	}
	totals_finish(&totals, 0);
	cr_expect_eq(totals.count, 3);
	cr_expect_eq(attempts_of(0), 30);
	cr_expect_str_eq(totals.series[2].destination, "host1:80");
}

static void begin_with(const char *name, uint64_t region, int64_t attempts)
{
	totals_begin(&totals);
	snprintf(one.name, sizeof(one.name), "%s", name);
	read_once(region, attempts);
}

static const char *name_of(size_t series)
{
	return totals.series[series].destination;
}

/* A program that has tried all ports does not take their places from all later ones for ever. */
Test(totals, who_has_counted_nothing_for_an_hour_makes_room)
{
	begin_with("idle:1", 1, 5);
	totals_finish(&totals, 100);
	begin_with("busy:2", 2, 5);
	totals_finish(&totals, 200);
	begin_with("busy:2", 2, 6);
	read_once(2, 7);
	totals_finish(&totals, 99 + TOTALS_IDLE);
	begin_with("new:3", 3, 2);
	totals_finish(&totals, 99 + TOTALS_IDLE);
	cr_expect_eq(totals.count, 3, "no hour yet");
	cr_expect_eq(attempts_of(0), 2);
	totals_begin(&totals);
	totals_finish(&totals, 101 + TOTALS_IDLE);
	cr_expect_str_eq(name_of(1), "idle:1", "no place is wanted");
	begin_with("new:3", 3, 3);
	totals_finish(&totals, 102 + TOTALS_IDLE);
	cr_expect_eq(totals.count, 2, "one goes");
	cr_expect_str_eq(name_of(1), "busy:2");
	cr_expect_eq(attempts_of(1), 7, "the other stays as it is");
	begin_with("new:3", 3, 7);
	totals_finish(&totals, 103 + TOTALS_IDLE);
	cr_expect_str_eq(name_of(2), "new:3");
	cr_expect_eq(attempts_of(2), 4);
	cr_expect_eq(attempts_of(0), 3, "what was counted there stays there");
	begin_with("busy:2", 2, 9);
	totals_finish(&totals, 104 + TOTALS_IDLE);
	cr_expect_eq(attempts_of(1), 9, "it is found in its new place");
}

/* Its program is there, and does nothing. */
Test(totals, who_has_lost_a_place_comes_back_with_news_alone)
{
	begin_with("idle:1", 1, 5);
	snprintf(one.name, sizeof(one.name), "idle:2");
	read_once(1, 5);
	totals_finish(&totals, 100);
	for (int i = 0; i < 3; i++) {
		begin_with("idle:1", 1, 5);
		snprintf(one.name, sizeof(one.name), "idle:2");
		read_once(1, 5);
		snprintf(one.name, sizeof(one.name), "new:3");
		read_once(2, 10 + i);
		totals_finish(&totals, 200 + i + TOTALS_IDLE);
	}
	cr_assert_eq(totals.count, 2);
	cr_expect_str_eq(name_of(1), "new:3");
	cr_expect_eq(attempts_of(1), 2);
	cr_expect_eq(attempts_of(0), 10);
	begin_with("idle:2", 1, 8);
	totals_finish(&totals, 204 + TOTALS_IDLE);
	cr_assert_eq(totals.count, 3);
	cr_expect_str_eq(name_of(2), "idle:2");
	cr_expect_eq(attempts_of(2), 3, "anew, and nothing twice");
}

Test(totals, a_name_without_an_end_is_cut)
{
	memset(one.name, 'x', sizeof(one.name));
	totals_begin(&totals);
	read_once(1, 1);
	totals_finish(&totals, 0);
	cr_expect_eq(strlen(totals.series[1].destination), REGION_NAME);
}

Test(totals, many_regions_are_kept_apart)
{
	for (int round = 1; round <= 3; round++) {
		totals_begin(&totals);
		for (uint64_t region = 1; region <= 3000; region++)
			read_once(region, round);
		totals_finish(&totals, 0);
	}
	cr_expect_eq(attempts_of(1), 9000);
	cr_expect_eq(totals.series[1].processes, 3000);
	for (int i = 0; i <= MISSED; i++) {
		totals_begin(&totals);
		totals_finish(&totals, 0);
	}
	cr_expect_eq(totals.last_count, 0);
	cr_expect_eq(attempts_of(1), 9000);
}

/* A page that is looked at makes rounds of its own: each point is of as much time as the others. */
Test(totals, points_of_time_are_alike_whenever_rounds_come)
{
	static const double rounds[] = { 100, 105, 111, 112, 113, 121 };
	const int64_t *recent;

	for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
		totals_begin(&totals);
		one.tally.avoided = (int64_t)i * 10;
		read_once(1, 100);
		totals_finish(&totals, rounds[i]);
	}
	recent = totals.series[1].recent;
	cr_expect_eq(recent[TOTALS_RECENT - 3], 10, "100 to 110");
	cr_expect_eq(recent[TOTALS_RECENT - 2], 30, "110 to 120");
	cr_expect_eq(recent[TOTALS_RECENT - 1], 10, "since 120");
	totals_begin(&totals);
	totals_finish(&totals, 100 + TOTALS_RECENT * TOTALS_POINT);
	cr_expect_eq(recent[0], 30, "the oldest that is shown");
	cr_expect_eq(recent[1], 10);
	cr_expect_eq(recent[2], 0);
}

Test(totals, what_is_left_is_summed_over_time)
{
	static const struct {
		double at, tokens; /* at the end of a round */
	} rounds[] = { { 100, 10 }, { 110, 4 }, { 115, 0 }, { 9000, 10 }, { 9001, 10 } };

	for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
		totals_begin(&totals);
		STORE(one.budget.bucket.holding,
		      INT64_C(10000) << 32 | (int64_t)(rounds[i].tokens * 1000));
		read_once(1, 100);
		totals_finish(&totals, rounds[i].at);
	}
	/* 10 s at 4, 5 s at 0, 1 s at 10; two hours and more are a sleep of the machine. */
	cr_expect_float_eq(totals.series[1].token_seconds, 50, 0.001);
	cr_expect_float_eq(totals.series[1].capacity_seconds, 160, 0.001);
}

/* One round a minute: no point is left empty between two of them, also if one comes early. */
Test(totals, a_point_is_no_shorter_than_a_round)
{
	static const double rounds[] = { 100, 160, 219, 281, 340, 399 };
	size_t count = sizeof(rounds) / sizeof(*rounds);

	totals.point = 60;
	for (size_t i = 0; i < count; i++) {
		totals_begin(&totals);
		one.tally.avoided = (int64_t)i * 10;
		read_once(1, 100);
		totals_finish(&totals, rounds[i]);
	}
	for (size_t i = 1; i < count; i++)
		cr_expect_eq(totals.series[1].recent[TOTALS_RECENT - i], 10, "%zu", i);
}
