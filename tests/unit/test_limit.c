/* SPDX-License-Identifier: MIT */
/* The rate limit of records, under an injected clock. */
#include "record_fixture.h"
#include "report/limit.h"
#include "report/report.h"

#include <pthread.h>

static bool pass(enum event event, int64_t now, int64_t *suppressed)
{
	struct record record = { .event = event, .destination = &destination };

	return limit_pass(&record, 30 * NS_PER_S, now, suppressed);
}

Test(limit, one_refusal_per_interval)
{
	int64_t held;

	cr_assert(pass(EVENT_REFUSED, 5, &held) && held == 0);
	for (int i = 0; i < 41; i++)
		cr_assert(!pass(EVENT_REFUSED, 5 + i, &held));
	cr_assert(!pass(EVENT_REFUSED, 5 + 30 * NS_PER_S - 1, &held));
	cr_assert(pass(EVENT_REFUSED, 5 + 30 * NS_PER_S, &held));
	cr_assert_eq(held, 42);
	cr_assert(!pass(EVENT_REFUSED, 6 + 30 * NS_PER_S, &held));
	cr_assert(pass(EVENT_REFUSED, 5 + 60 * NS_PER_S, &held));
	cr_assert_eq(held, 1);
	/* Lost on the way: they are counted again. */
	limit_undo(&(struct record) { .event = EVENT_REFUSED, .destination = &destination }, held);
	cr_assert(pass(EVENT_REFUSED, 5 + 90 * NS_PER_S, &held));
	cr_assert_eq(held, 2);
}

/* An [admission] section has a limit of its own, and no destination. */
Test(limit, one_rejected_per_section_and_interval)
{
	static struct admission admission, other;
	struct record record = { .event = EVENT_REJECTED, .admission = &admission };
	int64_t held;

	cr_assert(limit_pass(&record, NS_PER_S, 5, &held) && held == 0);
	for (int i = 0; i < 30; i++)
		cr_assert(!limit_pass(&record, NS_PER_S, 6 + i, &held));
	record.admission = &other;
	cr_assert(limit_pass(&record, NS_PER_S, 7, &held) && held == 0);
	record.admission = &admission;
	cr_assert(limit_pass(&record, NS_PER_S, 5 + NS_PER_S, &held));
	cr_assert_eq(held, 30);
	limit_undo(&record, held);
	cr_assert(limit_pass(&record, NS_PER_S, 5 + 2 * NS_PER_S, &held));
	cr_assert_eq(held, 31);
}

Test(limit, recovered_only_after_something)
{
	int64_t held, t = NS_PER_S;

	cr_assert(!pass(EVENT_RECOVERED, t, &held));
	cr_assert(pass(EVENT_RETRYING, t + 1, &held));
	cr_assert(!pass(EVENT_RETRYING, t + 2, &held));
	cr_assert(pass(EVENT_REFUSED, t + 3, &held));
	cr_assert(!pass(EVENT_REFUSED, t + 4, &held));
	cr_assert(pass(EVENT_EXHAUSTED, t + 5, &held));
	cr_assert(!pass(EVENT_EXHAUSTED, t + 6, &held));
	cr_assert(pass(EVENT_RECOVERED, t + 7, &held));
	cr_assert_eq(held, 1, "the refusal not told yet");
	cr_assert(!pass(EVENT_RECOVERED, t + 40 * NS_PER_S, &held), "nothing to recover from");
	cr_assert(pass(EVENT_EXHAUSTED, t + 41 * NS_PER_S, &held));
	cr_assert(pass(EVENT_RECOVERED, t + 42 * NS_PER_S, &held));
}

/* The second recovery is nearer to the first than the interval. */
Test(limit, the_log_never_ends_on_a_refusal)
{
	int64_t held;

	cr_assert(pass(EVENT_REFUSED, 100 * NS_PER_S, &held));
	cr_assert(pass(EVENT_RECOVERED, 120 * NS_PER_S, &held));
	cr_assert(pass(EVENT_REFUSED, 131 * NS_PER_S, &held));
	cr_assert(pass(EVENT_RECOVERED, 135 * NS_PER_S, &held));
	cr_assert(!pass(EVENT_RECOVERED, 136 * NS_PER_S, &held), "once is enough");
}

Test(limit, what_is_never_limited)
{
	static const enum event events[] = { EVENT_LOADED, EVENT_CONFIG_ERROR, EVENT_RELOADED,
		                             EVENT_ATTEMPT, EVENT_SCOPE };
	int64_t held;

	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
			cr_assert(pass(events[i], 1, &held) && held == 0);
	struct record record = { .event = EVENT_REFUSED, .destination = &destination };

	for (int round = 0; round < 3; round++)
		cr_assert(limit_pass(&record, 0, 1, &held), "an interval of 0 limits nothing");
}

Test(limit, corrupted_cells)
{
	static const int64_t cells[] = { INT64_MIN, -1, 1, INT64_MAX };
	int64_t held;

	for (size_t i = 0; i < 4; i++) {
		memset(&destination, 0, sizeof(destination));
		destination.records[0] = cells[i];
		destination.suppressed = INT64_MIN;
		(void)pass(EVENT_REFUSED, 100 * NS_PER_S, &held);
		cr_assert(held >= 0);
	}
}

Test(limit, a_corrupted_recovery_hides_no_other)
{
	int64_t held, now = 100 * NS_PER_S;

	memset(&destination, 0, sizeof(destination));
	destination.records[3] = INT64_MAX;
	cr_assert_not(pass(EVENT_RECOVERED, now, &held), "of nothing");
	cr_assert(pass(EVENT_REFUSED, now, &held));
	cr_assert(pass(EVENT_RECOVERED, now + 1, &held));
	cr_assert_not(pass(EVENT_RECOVERED, now + 2, &held));
}

Test(limit, a_corrupted_count_is_given_back_as_it_was)
{
	struct record record = { .event = EVENT_REFUSED, .destination = &destination };
	int64_t held;

	destination.suppressed = INT64_MAX;
	cr_assert(limit_pass(&record, 0, 1, &held));
	limit_undo(&record, held);
	cr_assert_eq(destination.suppressed, INT64_MAX);
}

/* What was counted between the claim of the one that passes and its taking all is in its hands. */
static _Atomic(int64_t) handed;

static void *refuse_often(void *passed)
{
	int64_t held;

	for (int i = 0; i < 10000; i++)
		if (pass(EVENT_REFUSED, 1 + i, &held)) {
			atomic_fetch_add((atomic_int *)passed, 1);
			atomic_fetch_add(&handed, held);
		}
	return NULL;
}

static void *recover_often(void *passed)
{
	int64_t held;

	for (int i = 0; i < 10000; i++)
		if (pass(EVENT_RECOVERED, NS_PER_S + i, &held))
			atomic_fetch_add((atomic_int *)passed, 1);
	return NULL;
}

Test(limit, one_recovery_of_many_threads)
{
	pthread_t threads[4];
	int64_t held;

	for (int round = 0; round < 20; round++) {
		atomic_int passed = 0;

		memset(&destination, 0, sizeof(destination));
		cr_assert(pass(EVENT_REFUSED, 1, &held));
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, recover_often, &passed);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		cr_assert_eq(passed, 1);
	}
}

Test(limit, one_of_many_threads)
{
	pthread_t threads[4];
	atomic_int passed = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, refuse_often, &passed);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(passed, 1);
	cr_assert_eq(destination.suppressed + atomic_load(&handed), 4 * 10000 - 1);
}
