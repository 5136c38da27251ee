/* SPDX-License-Identifier: MIT */
/* Unanswered failures: who may answer which, once each. */
#include "dest/failures.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW     (INT64_C(5000) * NS_PER_S)
#define HORIZON (60 * NS_PER_S)

static struct destination destination;

static int32_t me(void)
{
	return (int32_t)syscall(SYS_gettid);
}

static void fail(int32_t owner, uint32_t lookup, int64_t at)
{
	struct unanswered failure = { .owner = owner, .place = lookup, .at = at, .number = 1 };

	failures_add(&destination, &failure);
}

static int asked;

/* That of libc, counted. */
int kill(pid_t process, int signal)
{
	asked++;
	return (int)syscall(SYS_kill, process, signal);
}

static bool claim(int32_t thread, int64_t now, struct unanswered *claimed)
{
	return failures_claim(&destination, thread, true, HORIZON, now, claimed);
}

Test(failures, a_failure_is_answered_once)
{
	struct unanswered claimed;

	cr_assert_not(claim(me(), NOW, &claimed));
	fail(me(), 7, NOW);
	cr_assert(claim(me(), NOW + NS_PER_S, &claimed));
	cr_assert_eq(claimed.owner, me());
	cr_assert_eq(claimed.place, 7);
	cr_assert(claimed.at >= NOW && claimed.at < NOW + NS_PER_MS / 500, "precise to 1 us");
	cr_assert_not(claim(me(), NOW + NS_PER_S, &claimed));
}

Test(failures, a_living_stranger_s_failure_is_not_ours)
{
	struct unanswered claimed;

	fail(getppid(), 0, NOW);
	cr_assert_not(claim(me(), NOW, &claimed));
	cr_assert(claim(getppid(), NOW, &claimed));
}

static pid_t one_that_is_gone(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	return child;
}

Test(failures, the_failure_of_a_thread_that_is_gone_is_anyone_s)
{
	struct unanswered claimed;

	fail(one_that_is_gone(), 3, NOW);
	cr_assert(claim(me(), NOW, &claimed));
	cr_assert_eq(claimed.place, 3);
}

Test(failures, of_one_that_has_gone_is_left)
{
	struct unanswered failure = { .owner = one_that_is_gone() };

	cr_expect(failures_is_left(&failure));
	failure.owner = me();
	cr_expect_not(failures_is_left(&failure));
	failure.owner = FAILURE_ANYONE;
	cr_expect_not(failures_is_left(&failure));
}

Test(failures, of_many_strangers_an_attempt_asks_a_few)
{
	struct unanswered claimed;

	for (int i = 0; i < REGION_FAILURES; i++)
		fail(getppid(), 0, NOW);
	asked = 0;
	cr_assert_not(claim(me(), NOW, &claimed));
	cr_assert(asked > 0 && asked < 10, "%d of %d", asked, REGION_FAILURES);
}

Test(failures, of_all_strangers_it_is_asked_in_the_end)
{
	struct unanswered claimed;
	int32_t gone = one_that_is_gone();
	int tries = 0;

	for (int i = 0; i < REGION_FAILURES; i++)
		fail(i == REGION_FAILURES / 2 ? gone : getppid(), 0, NOW);
	while (!claim(me(), NOW + tries * NS_PER_MS / 500, &claimed))
		cr_assert_lt(tries++, REGION_FAILURES);
	cr_assert_eq(claimed.owner, gone);
}

Test(failures, who_has_a_story_of_his_own_asks_for_nobody)
{
	struct unanswered claimed;

	fail(one_that_is_gone(), 0, NOW);
	asked = 0;
	cr_assert_not(failures_claim(&destination, me(), false, HORIZON, NOW, &claimed));
	cr_assert_eq(asked, 0);
	cr_assert(claim(me(), NOW, &claimed));
}

Test(failures, nobody_s_failure_is_anyone_s_but_our_own_comes_first)
{
	struct unanswered claimed;

	fail(FAILURE_ANYONE, 1, NOW);
	fail(me(), 2, NOW - NS_PER_S);
	cr_assert(claim(me(), NOW, &claimed));
	cr_assert_eq(claimed.place, 2);
	cr_assert(claim(me(), NOW, &claimed));
	cr_assert_eq(claimed.place, 1);
}

Test(failures, the_newest_of_our_own_is_answered_first)
{
	struct unanswered claimed;

	fail(me(), 1, NOW - NS_PER_S);
	fail(me(), 2, NOW);
	fail(me(), 3, NOW - 2 * NS_PER_S);
	cr_assert(claim(me(), NOW, &claimed));
	cr_assert_eq(claimed.place, 2);
}

Test(failures, one_beyond_the_horizon_is_forgotten)
{
	struct unanswered claimed;

	fail(me(), 0, NOW);
	cr_assert_not(claim(me(), NOW + HORIZON + NS_PER_S, &claimed));
	for (int i = 0; i < REGION_FAILURES; i++)
		cr_assert_eq(destination.failures[i], 0);
}

Test(failures, those_without_a_place_are_still_counted)
{
	struct unanswered claimed;
	int answered = 0;

	for (int i = 0; i < REGION_FAILURES + 20; i++)
		fail(getppid(), 0, NOW);
	while (claim(me(), NOW, &claimed))
		answered++;
	cr_assert_eq(answered, 20, "a stranger may answer the %d without an owner, not %d", 20,
	             answered);
	for (answered = 0; claim(getppid(), NOW, &claimed); answered++)
		;
	cr_assert_eq(answered, REGION_FAILURES);
}

static int place_of(int32_t owner)
{
	for (int i = 0; i < REGION_FAILURES; i++)
		if (failure_unpack_word(destination.failures[i], NOW).owner == owner)
			return i;
	return -1;
}

/* Threads that are refused side by side would else take each other's places. */
Test(failures, that_was_claimed_in_vain_stands_where_it_stood)
{
	struct unanswered claimed;
	int place;

	for (int i = 0; i < REGION_FAILURES / 2; i++)
		fail(getppid(), 0, NOW);
	fail(me(), 0, NOW);
	place = place_of(me());
	for (int i = 0; i < 3; i++) {
		cr_assert(claim(me(), NOW, &claimed));
		cr_expect_eq(place_of(me()), -1);
		destination.failures[0] = 0;
		failures_add(&destination, &claimed);
		cr_expect_eq(place_of(me()), place);
	}
	cr_assert(claim(me(), NOW, &claimed));
	fail(me() + 1, 0, NOW); /* another took it meanwhile */
	destination.failures[place] = destination.failures[place_of(me() + 1)];
	failures_add(&destination, &claimed);
	cr_expect_neq(place_of(me()), -1, "another place");
}

Test(failures, that_had_no_place_looks_for_one_nearby_alone)
{
	struct unanswered claimed;

	for (int i = 0; i < REGION_FAILURES + 1; i++)
		fail(getppid(), 0, NOW);
	cr_assert(claim(me(), NOW, &claimed));
	cr_expect_eq(claimed.seat, FAILURE_UNPLACED);
	claimed.owner = 3; /* begins at the fourth line */
	destination.failures[2 * 8] = 0;
	failures_add(&destination, &claimed);
	cr_expect_eq(destination.unclaimed, 1);
	cr_expect_eq(place_of(3), -1);
	cr_assert(claim(me(), NOW, &claimed));
	claimed.owner = 3;
	destination.failures[3 * 8 + 7] = 0;
	failures_add(&destination, &claimed);
	cr_expect_eq(destination.unclaimed, 0);
	cr_expect_eq(place_of(3), 3 * 8 + 7);
}

/* One that was passed over is kept for its request. */
Test(failures, that_had_no_place_takes_that_of_none)
{
	const struct unanswered passed = {
		.owner = getppid(), .at = NOW, .number = 1, .fingerprint = 5, .passed = true
	};
	struct unanswered unplaced = { .owner = 3, .at = NOW, .seat = FAILURE_UNPLACED };

	for (int i = 0; i < REGION_FAILURES; i++)
		failures_add(&destination, &passed);
	failures_add(&destination, &unplaced);
	cr_expect_eq(place_of(3), -1);
	cr_expect_eq(destination.unclaimed, 1);
	unplaced.seat = 0;
	failures_add(&destination, &unplaced);
	cr_expect_neq(place_of(3), -1, "a new one takes that of the oldest");
}

static void *answer_all(void *count)
{
	struct unanswered claimed;

	for (int i = 0; i < 4000; i++) {
		fail(FAILURE_ANYONE, 0, NOW);
		*(int *)count += claim(me(), NOW, &claimed);
	}
	while (claim(me(), NOW, &claimed))
		++*(int *)count;
	return NULL;
}

Test(failures, racing_threads_answer_each_failure_exactly_once)
{
	pthread_t threads[8];
	int counts[8] = { 0 }, sum = 0;
	struct unanswered claimed;

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, answer_all, &counts[i]);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		sum += counts[i];
	}
	while (claim(me(), NOW, &claimed))
		sum++;
	cr_assert_eq(sum, 8 * 4000);
}

Test(failures, hostile_words_claim_something_or_nothing_but_end)
{
	struct unanswered claimed;
	uint64_t random = 1;

	for (int round = 0; round < 2000; round++) {
		for (int i = 0; i < REGION_FAILURES; i++)
			destination.failures[i] = (int64_t)random_next(&random);
		destination.unclaimed = (int64_t)random_next(&random);
		destination.unclaimed_at = (int64_t)random_next(&random);
		claim(me(), NOW, &claimed);
		cr_assert(claimed.at <= NOW + NS_PER_MS * 5);
	}
}

/* A server that is well has nothing to answer for, whatever is written there. */
Test(failures, a_heap_of_the_future_is_thrown_away)
{
	struct unanswered claimed;

	destination.unclaimed = INT64_MAX;
	destination.unclaimed_at = INT64_MAX;
	cr_expect_not(claim(me(), NOW, &claimed));
	cr_expect_eq(destination.unclaimed, 0);
	destination.unclaimed = 1;
	destination.unclaimed_at = NOW + NS_PER_MS;
	cr_expect(claim(me(), NOW, &claimed), "noted by a thread that read the clock later");
}

Test(failures, each_goes_with_its_story)
{
	struct unanswered first = { me(), 1, NOW, 111, 2, false, true, false, false, false, 0 };
	struct unanswered second = { me(), 1, NOW, 222, 300, false, true, false, false, false, 0 };
	struct unanswered claimed;

	failures_add(&destination, &first);
	failures_add(&destination, &second);
	cr_assert_not(failures_claim_request(&destination, 333, 0, HORIZON, NOW, &claimed));
	cr_assert_not(failures_claim_request(&destination, 222, 0, HORIZON,
	                                     NOW + HORIZON + NS_PER_S, &claimed));
	cr_assert(failures_claim_request(&destination, 222, 0, HORIZON, NOW, &claimed));
	cr_expect_eq(claimed.number, 31);
	cr_assert_not(failures_claim_request(&destination, 222, 0, HORIZON, NOW, &claimed));
	cr_assert(claim(me(), NOW, &claimed));
	cr_expect_eq(claimed.fingerprint, 111);
	cr_expect_eq(claimed.number, 2);
}

/* Written after the failure itself, so for a moment it is what stood there before. */
Test(failures, the_story_of_another_is_not_believed)
{
	struct unanswered first = { me(), 1, NOW, 111, 2, false, true, false, false, false, 0 };
	struct unanswered second = { me(), 5, NOW, 222, 3, false, true, false, false, false, 0 };
	struct unanswered claimed;
	int64_t detail;

	failures_add(&destination, &first);
	detail = destination.details[0];
	cr_assert(claim(me(), NOW, &claimed));
	failures_add(&destination, &second);
	destination.details[0] = detail;
	cr_assert_not(failures_claim_request(&destination, 111, 0, HORIZON, NOW, &claimed));
	cr_assert(claim(me(), NOW, &claimed));
	cr_expect_eq(claimed.place, 5);
	cr_expect_eq(claimed.fingerprint, 0);
	cr_expect_eq(claimed.number, 1);
}

/* A poller makes the same request again and again, and it is answered to others meanwhile. */
Test(failures, of_a_request_end_with_its_answer)
{
	struct unanswered mine = { 1, 1, NOW, 222, 1, false, true, false, false, false, 0 };
	struct unanswered theirs = { 2, 1, NOW, 222, 1, false, true, false, false, false, 0 };
	struct unanswered another = { 1, 1, NOW, 333, 1, false, true, false, false, false, 0 };
	struct unanswered claimed;

	failures_add(&destination, &mine);
	failures_add(&destination, &theirs);
	failures_add(&destination, &another);
	cr_expect_not(failures_is_answered(&destination, 222, NOW));
	failures_answered(&destination, 222, NOW);
	cr_expect_not(failures_claim_request(&destination, 222, 1, HORIZON, NOW, &claimed));
	cr_expect(failures_claim_request(&destination, 333, 1, HORIZON, NOW, &claimed));
	cr_expect(failures_is_answered(&destination, 222, NOW + NS_PER_S / 2));
	cr_expect_not(failures_is_answered(&destination, 222, NOW + 2 * NS_PER_S));
	cr_expect_not(failures_is_answered(&destination, 333, NOW));
	cr_expect_not(failures_is_answered(&destination, 0, NOW), "not known");
}

/* Threads may ask for the same, each for the first time. */
Test(failures, of_a_request_are_claimed_by_their_own_thread_first)
{
	struct unanswered first = { 2, 1, NOW, 222, 1, false, true, false, false, false, 0 };
	struct unanswered own = { 1, 1, NOW, 222, 1, false, true, false, false, false, 0 };
	struct unanswered claimed;

	failures_add(&destination, &first);
	failures_add(&destination, &own);
	cr_assert(failures_claim_request(&destination, 222, 1, HORIZON, NOW, &claimed));
	cr_expect_eq(claimed.owner, 1);
	cr_assert(failures_claim_request(&destination, 222, 1, HORIZON, NOW, &claimed));
	cr_expect_eq(claimed.owner, 2);
}
