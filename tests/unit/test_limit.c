/* SPDX-License-Identifier: MIT */
/* The rate limit of records, under an injected clock. */
#include "record_fixture.h"
#include "budget/budget_wait.h"
#include "report/limit.h"
#include "report/report.h"

#include <pthread.h>

static struct told told;

static bool pass(enum event event, int64_t now)
{
	struct record record = { .event = event,
		                 .destination = &destination,
		                 .exhausted = EXHAUSTED_OWN };

	return limit_pass(&record, 30 * NS_PER_S, now, &told);
}

/* One more attempt that is refused, and a record of it where one is due. */
static bool refuse(int64_t now)
{
	count(&destination.untold[0].attempts);
	count(&destination.untold[0].throttled);
	count(&destination.untold[0].refused);
	return pass(EVENT_THROTTLED, now);
}

Test(limit, one_throttled_per_interval)
{
	struct record record = { .event = EVENT_THROTTLED, .destination = &destination };

	cr_assert(refuse(5) && told.throttled == 1);
	for (int i = 0; i < 41; i++)
		cr_assert(!refuse(5 + i));
	cr_assert(!refuse(5 + 30 * NS_PER_S - 1));
	cr_assert(refuse(5 + 30 * NS_PER_S));
	cr_assert_eq(told.throttled, 43);
	cr_assert_eq(told.refused, 43);
	cr_assert_eq(told.attempts, 43);
	cr_assert(!refuse(6 + 30 * NS_PER_S));
	cr_assert(refuse(5 + 60 * NS_PER_S));
	cr_assert_eq(told.throttled, 2);
	/* Lost on the way: they are told by the next. */
	limit_undo(NULL, &record, &told);
	cr_assert(refuse(5 + 90 * NS_PER_S));
	cr_assert_eq(told.throttled, 3);
	cr_assert_eq(told.refused, 3);
	cr_assert_eq(told.attempts, 3);
}

static struct region crowd;
static struct destination hosts[600];

static bool pass_crowd(enum event event, int host, int64_t now)
{
	struct record record = { .event = event,
		                 .destination = &hosts[host],
		                 .exhausted = EXHAUSTED_OWN };

	return limit_pass(&record, 30 * NS_PER_S, now, &told) &&
	       limit_pass_crowd(&crowd, &record, 30 * NS_PER_S, now, &told);
}

/* So many of the hosts get a record. */
static int pass_all(enum event event, int64_t now)
{
	int passed = 0;

	for (int i = 0; i < 600; i++)
		passed += pass_crowd(event, i, now + i);
	return passed;
}

Test(limit, of_a_crowd_of_destinations_no_more_than_so_many)
{
	for (int i = 0; i < 600; i++)
		hosts[i].untold[0].throttled = 2;
	cr_expect_eq(pass_all(EVENT_RETRYING, 1), LIMIT_MOST / 2);
	cr_expect_eq(pass_all(EVENT_EXHAUSTED, 1000), 0);
	cr_expect_eq(LOAD(hosts[0].exhausted), 0, "it was not told");
	cr_expect_eq(LOAD(crowd.records.suppressed), 550 + 600);
	cr_expect_eq(pass_all(EVENT_THROTTLED, 2000), LIMIT_MOST / 2);
	cr_expect_eq(pass_all(EVENT_THROTTLED, 3000), 0, "each once");
	cr_expect_eq(LOAD(crowd.records.suppressed), 550, "the first of them told of the others");
	cr_expect_eq(LOAD(hosts[599].untold[0].throttled), 2, "what was not told is still to be");
	cr_assert(pass_crowd(EVENT_THROTTLED, 599, 31 * NS_PER_S));
	cr_expect_eq(told.suppressed, 550);
	cr_expect_eq(told.throttled, 2);
	cr_assert(pass_crowd(EVENT_THROTTLED, 598, 31 * NS_PER_S));
	cr_expect_eq(told.suppressed, 0);
}

/* That of which the log says that it fails is said to be back, whatever was written meanwhile. */
Test(limit, a_crowd_hides_no_recovery_of_what_was_told)
{
	for (int i = 0; i < 600; i++)
		hosts[i].untold[0].throttled = 2;
	cr_expect_eq(pass_all(EVENT_THROTTLED, 1), LIMIT_MOST);
	for (int i = 0; i < 600; i++)
		hosts[i].untold[0].throttled = 2;
	cr_expect_eq(pass_all(EVENT_RECOVERED, NS_PER_S), LIMIT_MOST);
	cr_expect_eq(pass_all(EVENT_RECOVERED, 2 * NS_PER_S), 0);
	cr_expect_eq(pass_all(EVENT_RECOVERED, 40 * NS_PER_S), LIMIT_MOST, "the rest, by and by");
}

/* What the log has said of an outage before says nothing of this one. */
Test(limit, a_crowd_that_has_recovered_before_is_bounded_in_a_later_outage)
{
	int passed = 0;

	for (int i = 0; i < 600; i++)
		hosts[i].untold[0].throttled = 2;
	cr_expect_eq(pass_all(EVENT_RETRYING, 1), LIMIT_MOST / 2);
	cr_expect_eq(pass_all(EVENT_THROTTLED, 1000), LIMIT_MOST / 2);
	cr_expect_eq(pass_all(EVENT_RECOVERED, NS_PER_S), LIMIT_MOST / 2);
	for (int i = 0; i < 600; i++)
		hosts[i].untold[0].throttled = 2;
	for (int i = 599; i >= 0; i--)
		passed += pass_crowd(EVENT_THROTTLED, i, 100 * NS_PER_S);
	cr_expect_eq(passed, LIMIT_MOST);
	for (int i = 0; i < 600; i++)
		hosts[i].untold[0].throttled = 2;
	cr_expect_eq(pass_all(EVENT_RECOVERED, 101 * NS_PER_S), LIMIT_MOST,
	             "those of which the log says that they fail, and no others");
}

Test(limit, a_record_that_is_lost_tells_none_that_was_left_out)
{
	struct record record = { .event = EVENT_THROTTLED, .destination = &hosts[0] };

	crowd.records.suppressed = 7;
	cr_assert(pass_crowd(EVENT_THROTTLED, 0, 1) && told.suppressed == 7);
	limit_undo(&crowd, &record, &told);
	cr_expect_eq(LOAD(crowd.records.suppressed), 7);
}

Test(limit, every_sum_is_taken_and_given_back)
{
	static const struct untold all = { 1, 2, 3, 4, 5, 6 };
	struct record record = { .event = EVENT_RECOVERED, .destination = &destination };

	for (int round = 0; round < 3; round++) {
		if (round == 0)
			memcpy(&destination.untold[0], &all, sizeof(all));
		cr_assert(pass(EVENT_RECOVERED, (1 + 100 * round) * NS_PER_S));
		cr_assert(told.attempts == 1 && told.throttled == 2 && told.refused == 3);
		cr_assert(told.parked == 4 && told.held == 5 && told.waited == 6);
		cr_assert_eq(destination.untold[0].waited, 0);
		limit_undo(NULL, &record, &told);
	}
	cr_assert_eq(memcmp(&destination.untold[0], &all, sizeof(all)), 0);
}

/* The records between do not shorten the sums of those that tell them. */
Test(limit, others_take_nothing)
{
	destination.untold[0].throttled = 7;
	cr_assert(pass(EVENT_RETRYING, 1) && told.throttled == 0);
	cr_assert(pass(EVENT_EXHAUSTED, 1) && told.throttled == 0);
	cr_assert(pass(EVENT_ATTEMPT, 1) && told.throttled == 0);
	cr_assert(pass(EVENT_REFILLED, 1) && told.throttled == 0);
	cr_assert_eq(destination.untold[0].throttled, 7);
}

Test(limit, exhausted_and_refilled_take_turns)
{
	struct record refilled = { .event = EVENT_REFILLED,
		                   .destination = &destination,
		                   .exhausted = EXHAUSTED_PROCESS };
	int64_t t = NS_PER_S;

	cr_assert(!pass(EVENT_REFILLED, t), "nothing ran out");
	cr_assert(pass(EVENT_EXHAUSTED, t));
	cr_assert(!pass(EVENT_EXHAUSTED, t + 40 * NS_PER_S), "it has been said");
	cr_assert(pass(EVENT_REFILLED, t + 50 * NS_PER_S));
	cr_assert(!pass(EVENT_REFILLED, t + 50 * NS_PER_S));
	cr_assert(pass(EVENT_EXHAUSTED, t + 51 * NS_PER_S));
	cr_assert(pass(EVENT_REFILLED, t + 52 * NS_PER_S));
	cr_assert(!pass(EVENT_EXHAUSTED, t + 53 * NS_PER_S), "within the interval");
	cr_assert(!pass(EVENT_REFILLED, t + 54 * NS_PER_S), "nor was that said");
	/* Lost on the way: the other one may come again. */
	limit_undo(NULL, &refilled, &told);
	cr_assert_eq(destination.exhausted, EXHAUSTED_PROCESS);
	refilled.event = EVENT_EXHAUSTED;
	limit_undo(NULL, &refilled, &told);
	cr_assert_eq(destination.exhausted, 0);
}

/* An [admission] section has a limit of its own, and no destination. */
Test(limit, one_rejected_per_section_and_interval)
{
	static struct admission admission, other;
	struct record record = { .event = EVENT_REJECTED, .admission = &admission };

	cr_assert(limit_pass(&record, NS_PER_S, 5, &told) && told.suppressed == 0);
	for (int i = 0; i < 30; i++)
		cr_assert(!limit_pass(&record, NS_PER_S, 6 + i, &told));
	record.admission = &other;
	cr_assert(limit_pass(&record, NS_PER_S, 7, &told) && told.suppressed == 0);
	record.admission = &admission;
	cr_assert(limit_pass(&record, NS_PER_S, 5 + NS_PER_S, &told));
	cr_assert_eq(told.suppressed, 30);
	limit_undo(NULL, &record, &told);
	cr_assert(limit_pass(&record, NS_PER_S, 5 + 2 * NS_PER_S, &told));
	cr_assert_eq(told.suppressed, 31);
}

Test(limit, recovered_only_after_something)
{
	int64_t t = NS_PER_S;

	cr_assert(!pass(EVENT_RECOVERED, t));
	cr_assert(pass(EVENT_RETRYING, t + 1));
	cr_assert(!pass(EVENT_RETRYING, t + 2));
	cr_assert(refuse(t + 3));
	cr_assert(!refuse(t + 4));
	cr_assert(pass(EVENT_EXHAUSTED, t + 5));
	cr_assert(pass(EVENT_RECOVERED, t + 7));
	cr_assert_eq(told.throttled, 1, "the one not told yet");
	cr_assert(!pass(EVENT_RECOVERED, t + 40 * NS_PER_S), "nothing to recover from");
	cr_assert(pass(EVENT_REFILLED, t + 41 * NS_PER_S));
	cr_assert(!pass(EVENT_RECOVERED, t + 41 * NS_PER_S), "which is good news");
	cr_assert(pass(EVENT_EXHAUSTED, t + 42 * NS_PER_S));
	cr_assert(pass(EVENT_RECOVERED, t + 43 * NS_PER_S));
}

/* Streaks that come faster than the interval: it bounds what is said of all of them together, and
 * what was not said is said by the next. */
Test(limit, a_destination_that_flaps)
{
	int records = 0, told_of = 0;

	for (int i = 0; i < 1000; i++) {
		if (refuse((100 + i) * NS_PER_S / 10))
			records++, told_of += (int)told.throttled;
		if (pass(EVENT_RECOVERED, (100 + i) * NS_PER_S / 10 + 1))
			records++, told_of += (int)told.throttled;
	}
	cr_assert_leq(records, 8);
	cr_assert_eq(told_of + destination.untold[0].throttled, 1000);
	cr_assert(pass(EVENT_RECOVERED, 200 * NS_PER_S));
	cr_assert_eq(destination.untold[0].throttled, 0);
}

/* The second recovery is nearer to the first than the interval. */
Test(limit, the_log_never_ends_on_a_throttling)
{
	cr_assert(pass(EVENT_THROTTLED, 100 * NS_PER_S));
	cr_assert(pass(EVENT_RECOVERED, 120 * NS_PER_S));
	cr_assert(pass(EVENT_THROTTLED, 131 * NS_PER_S));
	cr_assert(pass(EVENT_RECOVERED, 135 * NS_PER_S));
	cr_assert(!pass(EVENT_RECOVERED, 136 * NS_PER_S), "once is enough");
}

Test(limit, what_is_never_limited)
{
	static const enum event events[] = { EVENT_LOADED, EVENT_CONFIG_ERROR, EVENT_RELOADED,
		                             EVENT_ATTEMPT, EVENT_SCOPE };
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
			cr_assert(pass(events[i], 1));
	struct record record = { .event = EVENT_THROTTLED, .destination = &destination };

	for (int round = 0; round < 3; round++)
		cr_assert(limit_pass(&record, 0, 1, &told), "an interval of 0 limits nothing");
}

Test(limit, corrupted_cells)
{
	static const int64_t cells[] = { INT64_MIN, -1, 1, INT64_MAX };

	for (size_t i = 0; i < 4; i++) {
		memset(&destination, 0, sizeof(destination));
		destination.records[0] = cells[i];
		(void)pass(EVENT_THROTTLED, 100 * NS_PER_S);
		memset(&destination, 0, sizeof(destination));
		for (size_t k = 0; k < sizeof(struct untold) / sizeof(cell64); k++)
			((cell64 *)&destination.untold[0])[k] = cells[i];
		destination.exhausted = cells[i];
		cr_assert(pass(EVENT_THROTTLED, 100 * NS_PER_S));
		cr_assert(told.attempts >= 0 && told.throttled >= 0 && told.refused >= 0);
		cr_assert(told.parked >= 0 && told.held >= 0 && told.waited >= 0);
		cr_assert_leq(told.attempts, INT64_C(999999999999));
		cr_assert_eq(destination.untold[0].attempts, 0);
		cr_assert(pass(EVENT_REFILLED, 100 * NS_PER_S));
		cr_assert(pass(EVENT_EXHAUSTED, 100 * NS_PER_S), "nothing is locked out");
	}
}

Test(limit, a_corrupted_recovery_hides_no_other)
{
	int64_t now = 100 * NS_PER_S;

	memset(&destination, 0, sizeof(destination));
	destination.records[3] = INT64_MAX;
	cr_assert_not(pass(EVENT_RECOVERED, now), "of nothing");
	cr_assert(pass(EVENT_THROTTLED, now));
	cr_assert(pass(EVENT_RECOVERED, now + 1));
	cr_assert_not(pass(EVENT_RECOVERED, now + 2));
}

Test(limit, a_corrupted_count_is_given_back_as_it_was)
{
	static struct admission admission = { .suppressed = INT64_MAX };
	struct record record = { .event = EVENT_REJECTED, .admission = &admission };

	cr_assert(limit_pass(&record, 0, 1, &told));
	limit_undo(NULL, &record, &told);
	cr_assert_eq(admission.suppressed, INT64_MAX);
}

/* Two kinds of records take the sums at once, and some are lost: none is told twice, or never. */
static _Atomic(int64_t) handed;

static void *tell_often(void *passed)
{
	for (int i = 0; i < 10000; i++) {
		enum event event = i % 3 ? EVENT_THROTTLED : EVENT_RECOVERED;
		struct record record = { .event = event, .destination = &destination };
		struct told mine;

		count(&destination.untold[0].throttled);
		if (!limit_pass(&record, 100, 1 + i, &mine))
			continue;
		atomic_fetch_add((atomic_int *)passed, 1);
		if (i % 5 == 0)
			limit_undo(NULL, &record, &mine);
		else
			atomic_fetch_add(&handed, mine.throttled);
	}
	return NULL;
}

static void *recover_often(void *passed)
{
	struct record record = { .event = EVENT_RECOVERED, .destination = &destination };
	struct told mine;

	for (int i = 0; i < 10000; i++)
		if (limit_pass(&record, 30 * NS_PER_S, NS_PER_S + i, &mine))
			atomic_fetch_add((atomic_int *)passed, 1);
	return NULL;
}

static void *exhaust_often(void *passed)
{
	struct record record = { .event = EVENT_EXHAUSTED,
		                 .destination = &destination,
		                 .exhausted = EXHAUSTED_OWN };
	struct told mine;

	for (int i = 0; i < 10000; i++)
		if (limit_pass(&record, 30 * NS_PER_S, 1 + i, &mine))
			atomic_fetch_add((atomic_int *)passed, 1);
	return NULL;
}

static int passes_of_four(void *run(void *passed))
{
	pthread_t threads[4];
	atomic_int passed = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, &passed);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return passed;
}

Test(limit, one_of_many_threads)
{
	for (int round = 0; round < 20; round++) {
		memset(&destination, 0, sizeof(destination));
		cr_assert_eq(passes_of_four(exhaust_often), 1);
		cr_assert_eq(passes_of_four(recover_often), 1);
	}
}

Test(limit, many_threads_lose_no_sum)
{
	cr_assert_gt(passes_of_four(tell_often), 100);
	cr_assert_eq(destination.untold[0].throttled + atomic_load(&handed), 4 * 10000);
}

/* An operator has set another mode: no sum is of both. */
Test(limit, each_mode_has_a_sum)
{
	struct record throttled = { .event = EVENT_THROTTLED, .destination = &destination };
	struct record would = { .event = EVENT_THROTTLED,
		                .destination = &destination,
		                .observe = true,
		                .in_observe = true };

	cr_assert(refuse(1));
	cr_assert_not(limit_pass_other(&throttled, &told), "there was no other mode");
	for (int i = 0; i < 5; i++)
		cr_assert_not(refuse(2));
	destination.untold[1].throttled = 3;
	cr_assert_not(limit_pass(&would, 30 * NS_PER_S, 3, &told), "they share the interval");
	cr_assert(limit_pass(&would, 30 * NS_PER_S, 40 * NS_PER_S, &told));
	cr_assert_eq(told.throttled, 3);
	cr_assert(limit_pass_other(&would, &told));
	cr_assert_eq(told.throttled, 5);
	limit_undo(NULL, &throttled, &told);
	cr_assert_eq(destination.untold[0].throttled, 5, "lost, and for the next to tell");
	cr_assert_eq(destination.untold[1].throttled, 0);
	cr_assert(limit_pass_other(&would, &told));
	cr_assert_not(limit_pass_other(&would, &told), "it is told once");
}
