/* SPDX-License-Identifier: MIT */
/* What a repeat waits for: the gate, tokens, and the moment that a server asked for. */
#include "budget_fixture.h"
#include "budget/budget_wait.h"

static struct world world;
static const struct account *const account = &world.account;

static int64_t own_level(int64_t now)
{
	return bucket_level(&world.budget.bucket, &world.policy.bucket, now);
}

Test(budget_wait, due_is_the_delay_then_the_tokens_cut_by_the_probe)
{
	int64_t drawn;

	world_fail_first_try(&world);
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME), 0, "one repeat goes at once");
	budget_failure(account, true, START_OF_TIME, START_OF_TIME, &world.random);
	drawn = world.budget.last_delay;
	cr_expect(drawn >= 10 * NS_PER_MS && drawn <= 200 * NS_PER_MS);
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME), drawn);
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME + drawn), 0);

	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + drawn), ADMITTED);
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME + drawn),
	             drawn > 50 * NS_PER_MS ? drawn : 50 * NS_PER_MS,
	             "one goes at the due moment, not all");

	world.budget.due_at = 0;
	while (budget_admit(account, 1000, START_OF_TIME + drawn) == ADMITTED)
		world.budget.due_at = 0;
	cr_expect_gt(budget_due(account, 1000, START_OF_TIME + drawn), SECONDS(4.8), "tokens");
	world.policy.probe = SECONDS(2);
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME + drawn), SECONDS(2), "the probe");
	budget_success(account, START_OF_TIME + drawn);
	world.policy.bucket.floor = 1000000;
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME + drawn + NS_PER_MS), 0,
	             "a recovered destination is due at once");
}

Test(budget_wait, delays_follow_the_streak)
{
	for (int32_t jitter = JITTER_FULL; jitter <= JITTER_NONE; jitter++) {
		static const double means_ms[4][3] = {
			{ 55, 205, 405 }, { 75, 300, 600 }, { 100, 200, 350 }, { 100, 400, 800 }
		};
		double sums[3] = { 0 };

		for (uint64_t seed = 0; seed < 20000; seed++) {
			world_start(&world, seed * 977);
			world.policy.backoff.jitter = jitter;
			for (int n = 1; n < 3; n++) {
				world.budget.began_at = START_OF_TIME - SECONDS(3600);
				world.budget.streak = n;
				budget_failure(account, true, START_OF_TIME, START_OF_TIME,
				               &world.random);
				sums[n] += world.budget.due_at - START_OF_TIME;
			}
		}
		for (int n = 1; n < 3; n++) {
			double mean = means_ms[jitter][n];

			cr_expect_float_eq(sums[n] / 20000 / 1e6, mean, mean * 0.03,
			                   "due, jitter %d, failure %d: %f", jitter, n + 1,
			                   sums[n] / 20000 / 1e6);
		}
	}
}

Test(budget_wait, no_delay_is_longer_than_the_streak_is_old)
{
	static const double ages_ms[] = { 0, 50, 300, 5000 };

	for (int i = 0; i < 4; i++)
		for (uint64_t seed = 0; seed < 1000; seed++) {
			int64_t age = (int64_t)(ages_ms[i] * NS_PER_MS), base = 100 * NS_PER_MS;

			world_start(&world, seed);
			budget_first_try(account, START_OF_TIME);
			budget_failure(account, false, START_OF_TIME, START_OF_TIME, &world.random);
			world.budget.streak = 9;
			budget_failure(account, true, START_OF_TIME + age, START_OF_TIME + age,
			               &world.random);
			cr_assert_leq(world.budget.last_delay, age > base ? age : base);
		}
}

Test(budget_wait, failures_from_before_the_gate_draw_none)
{
	int64_t due;

	world_fail_first_try(&world);
	budget_failure(account, false, START_OF_TIME, START_OF_TIME, &world.random);
	due = world.budget.due_at;
	cr_expect_gt(due, START_OF_TIME);
	for (int i = 1; i < 50; i++)
		budget_failure(account, false, START_OF_TIME - 1, START_OF_TIME + i, &world.random);
	cr_expect_eq(world.budget.due_at, due, "fifty in flight at a blip draw one gate");
	budget_failure(account, true, START_OF_TIME + 60, START_OF_TIME + 99, &world.random);
	cr_expect_neq(world.budget.due_at, due);
}

Test(budget_wait, the_failure_that_starts_a_streak_draws_no_gate)
{
	world_fail_first_try(&world);
	world.policy.backoff.jitter = JITTER_NONE;
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + 1), ADMITTED);
	cr_expect_eq(own_level(START_OF_TIME + 1), 9000, "it pays");
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + 1), REFUSED, "of many one goes");
	budget_failure(account, true, START_OF_TIME + 1, START_OF_TIME + 2, &world.random);
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + 99 * NS_PER_MS), REFUSED);
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + 103 * NS_PER_MS), ADMITTED);
}

/* The gate of a streak that stands and has not been answered. */
static void shut(void)
{
	world_fail_first_try(&world);
	world.policy.backoff.jitter = JITTER_NONE;
	world.budget.due_at = 0;
	budget_failure(account, true, START_OF_TIME, START_OF_TIME, &world.random);
}

Test(budget_wait, before_the_gate_a_repeat_is_refused_and_pays_nothing)
{
	shut();
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + 1), REFUSED);
	cr_expect_eq(own_level(START_OF_TIME), 10000);
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + 100 * NS_PER_MS), ADMITTED);
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + 100 * NS_PER_MS), REFUSED,
	             "one goes when it opens, not all");
}

/* A sidecar that accepts and closes after two seconds, a black hole: failures come late. */
Test(budget_wait, the_gate_of_a_repeat_in_flight_grows_with_the_streak)
{
	int went = 0;

	shut();
	for (int64_t t = 0; t < SECONDS(4); t += NS_PER_MS)
		went += budget_verdict(account, 1000, START_OF_TIME + t) == ADMITTED;
	cr_expect_eq(went, 6, "%d: at 0.1 s, and whenever the streak is twice as old", went);
	for (int64_t t = SECONDS(4); t < SECONDS(100); t += NS_PER_MS)
		went += budget_verdict(account, 1000, START_OF_TIME + t) != REFUSED;
	cr_expect_geq(went, 16, "%d: never longer apart than half of cap", went);
}

Test(budget_wait, without_a_backoff_tokens_alone_decide)
{
	world_fail_first_try(&world);
	/* Also before a gate that an earlier configuration drew. */
	atomic_store(&world.budget.due_at, START_OF_TIME + SECONDS(5));
	world.policy.backoff.base = world.policy.backoff.min = 0;
	for (int i = 0; i < 10; i++)
		cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME), ADMITTED);
	cr_expect_eq(own_level(START_OF_TIME), 0);
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME), REFUSED);
}

Test(budget_wait, the_gate_stands_open_while_the_destination_answers)
{
	shut();
	budget_success(account, START_OF_TIME + 1);
	for (int i = 0; i < 6; i++)
		budget_failure(account, true, START_OF_TIME + 2, START_OF_TIME + 2, &world.random);
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + 3), ADMITTED);
	budget_failure(account, true, START_OF_TIME + 3, START_OF_TIME + 3, &world.random);
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + 4), REFUSED, "the seventh");
}

Test(budget_wait, the_first_after_a_gate_is_free_while_a_success_stands)
{
	int64_t now = START_OF_TIME + SECONDS(5);

	shut();
	world.process_rule.start = world.process_rule.floor = 0;
	budget_success(account, START_OF_TIME);
	for (int i = 0; i < 9; i++)
		budget_failure(account, true, START_OF_TIME + i, START_OF_TIME + i, &world.random);
	world.budget.due_at = now - 1;
	world.budget.wanted_at = now - 2;
	cr_expect_eq(budget_verdict(account, 100000, now), ADMITTED_PROBE);
	cr_expect_eq(budget_verdict(account, 100000, now), REFUSED);
}

Test(budget_wait, who_comes_rarely_goes)
{
	shut();
	world.policy.bucket.start = 0;
	world.policy.probe = SECONDS(3600);
	for (int i = 1; i < 20; i++) {
		int64_t now = START_OF_TIME + i * SECONDS(4.6);

		cr_assert_neq(budget_verdict(account, 100000, now), REFUSED, "cycle %d", i);
		budget_failure(account, true, now, now, &world.random);
	}
	cr_expect_eq(
	    budget_verdict(account, 100000, START_OF_TIME + SECONDS(4.6) * 19 + SECONDS(4)),
	    REFUSED);
}

/* When somebody asked last is read for each verdict: of many at once one writes it. */
Test(budget_wait, who_follows_upon_another_need_not_say_that_he_asked)
{
	int64_t asked = START_OF_TIME + SECONDS(1);

	shut();
	world.policy.probe = SECONDS(3600);
	budget_verdict(account, 100000, asked);
	for (int i = 1; i < 1000; i++)
		budget_verdict(account, 100000, asked + i * (NS_PER_MS / 1000));
	cr_expect_eq(LOAD(world.budget.wanted_at), asked);
	budget_verdict(account, 100000, asked + NS_PER_MS);
	cr_expect_eq(LOAD(world.budget.wanted_at), asked + NS_PER_MS);
	/* A clock that went back, and one of the future. */
	budget_verdict(account, 100000, asked);
	cr_expect_eq(LOAD(world.budget.wanted_at), asked);
}

/* Where the floor earns a thousand tokens a second, who comes once in a ms is rare. */
Test(budget_wait, who_comes_as_seldom_as_a_quick_floor_earns_is_not_overlooked)
{
	int64_t now = START_OF_TIME + SECONDS(1);

	shut();
	world.policy.probe = SECONDS(3600);
	world.policy.bucket.floor = TOKENS(1000);
	budget_verdict(account, 100000, now);
	for (int i = 0; i < 5; i++)
		cr_expect_eq(budget_verdict(account, 100000, now += NS_PER_MS / 20 * 19),
		             ADMITTED_PROBE);
}

Test(budget_wait, before_the_servers_own_moment_nothing_goes)
{
	shut();
	world.policy.retry_after_cap = SECONDS(120);
	budget_retry_after(account, SECONDS(60), START_OF_TIME);
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + SECONDS(59)), REFUSED);
	cr_expect_neq(budget_verdict(account, 1000, START_OF_TIME + SECONDS(61)), REFUSED);
}

/* Of many that are told to wait a second each, in turn, the last must not hold up the first. */
Test(budget_wait, each_repeat_waits_from_the_failure_that_it_answers)
{
	struct account first, later;

	shut();
	first = later = *account;
	world.policy.retry_after_cap = SECONDS(120);
	first.claimed_at = START_OF_TIME;
	later.claimed_at = START_OF_TIME + SECONDS(0.9);
	budget_retry_after(account, SECONDS(1), first.claimed_at);
	budget_retry_after(account, SECONDS(1), later.claimed_at);
	cr_expect_eq(budget_retry_after_wait(&first, START_OF_TIME + SECONDS(0.9)), SECONDS(0.1));
	cr_expect_eq(budget_retry_after_wait(&first, START_OF_TIME + SECONDS(1)), 0);
	cr_expect_eq(budget_retry_after_wait(&later, START_OF_TIME + SECONDS(1)), SECONDS(0.9));
	cr_expect_eq(budget_retry_after_wait(account, START_OF_TIME + SECONDS(1)), SECONDS(0.9),
	             "which it answers is not known");
}

/* A server's word is about what it turned down. */
Test(budget_wait, other_work_does_not_wait_for_the_servers_moment)
{
	struct account other;

	shut();
	other = *account;
	other.may_be_other = true;
	world.policy.retry_after_cap = SECONDS(120);
	budget_retry_after(account, SECONDS(60), START_OF_TIME);
	cr_expect_eq(budget_retry_after_wait(&other, START_OF_TIME + SECONDS(30)), 0);
	cr_expect_neq(budget_verdict(&other, 1000, START_OF_TIME + SECONDS(30)), REFUSED,
	              "it waits for the gate alone");
	cr_expect_eq(budget_verdict(account, 1000, START_OF_TIME + SECONDS(31)), REFUSED);
}

Test(budget_wait, who_has_waited_as_asked_is_invited)
{
	struct account repeat;

	shut();
	repeat = *account;
	world.policy.retry_after_cap = SECONDS(120);
	repeat.claimed_at = START_OF_TIME;
	budget_retry_after(account, SECONDS(1), START_OF_TIME);
	cr_expect_not(budget_is_invited(&repeat, START_OF_TIME + SECONDS(0.9)));
	cr_expect(budget_is_invited(&repeat, START_OF_TIME + SECONDS(1)));
	cr_expect_not(budget_is_invited(account, START_OF_TIME + SECONDS(1)));
	world.budget.barred = 1;
	cr_expect_not(budget_is_invited(&repeat, START_OF_TIME + SECONDS(1)), "by `sample`");
	world.budget.barred = 0;
	budget_success(account, START_OF_TIME + SECONDS(1.1));
	cr_expect(budget_is_invited(&repeat, START_OF_TIME + SECONDS(1.2)), "others may succeed");
	budget_failure(account, true, START_OF_TIME, START_OF_TIME + SECONDS(2), &world.random);
	cr_expect_not(budget_is_invited(&repeat, START_OF_TIME + SECONDS(2)), "it asks no more");
}

Test(budget_wait, a_corrupted_due_moment_is_bounded_by_the_longest_delay)
{
	world_fail_first_try(&world);
	world.policy.probe = SECONDS(3600);
	world.budget.due_at = INT64_MAX;
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME), SECONDS(10));
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME + SECONDS(4)), SECONDS(6),
	             "and is moved up to it");
	world.policy.backoff.min = SECONDS(20);
	world.budget.due_at = INT64_MAX;
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME), SECONDS(20));

	/* A failure that raced with a success may leave one behind. */
	world.budget.streak = 0;
	cr_expect_eq(budget_due(account, 1000, START_OF_TIME), 0);
}

/* Another process writes to the gate before it is known how old the failure is. */
Test(budget_wait, a_gate_in_the_past_stays_there_when_its_failure_was_earlier)
{
	world_fail_first_try(&world);
	world.budget.drawn_at = START_OF_TIME;
	world.budget.due_at = INT64_MIN;
	budget_failed_before(account, START_OF_TIME - SECONDS(1), START_OF_TIME);
	cr_expect_eq(world.budget.due_at, 1);
	world.budget.due_at = START_OF_TIME + SECONDS(3);
	budget_failed_before(account, START_OF_TIME - SECONDS(1), START_OF_TIME);
	cr_expect_eq(world.budget.due_at, START_OF_TIME + SECONDS(2));
}

Test(budget_wait, a_corrupted_moment_that_the_server_asked_for_is_bounded_by_its_cap)
{
	static const int64_t corruptions[] = { INT64_MAX, START_OF_TIME + SECONDS(121) };

	world_fail_first_try(&world);
	world.policy.retry_after_cap = SECONDS(120);
	for (size_t i = 0; i < sizeof(corruptions) / sizeof(*corruptions); i++) {
		world.budget.not_before = corruptions[i];
		cr_expect_eq(budget_retry_after_wait(account, START_OF_TIME), SECONDS(120));
		cr_expect_eq(budget_retry_after_wait(account, START_OF_TIME + SECONDS(119)),
		             SECONDS(1), "and is moved up to it");
		cr_expect_eq(budget_retry_after_wait(account, START_OF_TIME + SECONDS(120)), 0);
	}
}

Test(budget_wait, who_obeys_no_server_leaves_its_moment_to_others)
{
	world_fail_first_try(&world);
	world.policy.retry_after_cap = SECONDS(120);
	budget_retry_after(account, SECONDS(60), START_OF_TIME);
	world.policy.retry_after_cap = 0;
	cr_expect_eq(budget_retry_after_wait(account, START_OF_TIME), 0);
	world.policy.retry_after_cap = SECONDS(120);
	cr_expect_eq(budget_retry_after_wait(account, START_OF_TIME), SECONDS(60));
}
