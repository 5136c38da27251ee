/* SPDX-License-Identifier: MIT */
/* What is learned of a program: whether it tries its requests again, how often, and after which
 * pause. */
#include "feedback_fixture.h"

#include "dest/profile.h"

/* A success now and then. */
Test(feedback, who_works_through_a_list_is_soon_left_alone)
{
	struct server server = serve_after_failure();
	int64_t learned;

	work_through(&server, 0, 5, 1);
	works(&server, "get ready\r\n");
	learned = retries();
	cr_expect(learned >= 1 && learned <= 3, "%d", (int)learned);
	cr_expect_eq(mistaken(), learned);
	for (int i = 5; i < 60; i += 5) {
		work_through(&server, i, i + 5, 1);
		works(&server, "get ready\r\n");
	}
	cr_expect_eq(retries(), learned, "%d", (int)retries());
	cr_expect(destination_at_port(&server)->budget.streak <= 3);
}

Test(feedback, after_the_last_try_comes_new_work)
{
	struct server server = serve_after_failure();

	work_through(&server, 0, 4, 3);
	cr_expect_eq(retries() - mistaken(), 4 * 2);
	for (int i = 4; i < 24; i += 4) {
		works(&server, "get ready\r\n");
		work_through(&server, i, i + 4, 3);
	}
	cr_expect(mistaken() <= 3, "%d", (int)mistaken());
	cr_expect_eq(retries() - mistaken(), 24 * 2, "%d", (int)(retries() - mistaken()));
}

/* A program that is known to go on, and then does not. */
Test(feedback, a_profile_can_be_unlearned)
{
	struct server server = serve_after_failure();
	int64_t before;

	work_through(&server, 0, 6, 1);
	before = retries();
	work_through(&server, 6, 7, 40);
	cr_expect(retries() - before >= 40 - 20, "%d", (int)(retries() - before));
	before = retries();
	work_through(&server, 7, 8, 10);
	cr_expect(retries() - before >= 9, "%d", (int)(retries() - before));
}

/* One try for each so far, two from now on. */
Test(feedback, a_profile_can_change)
{
	struct server server = serve_after_failure();
	int64_t before = 0;

	for (int i = 0; i < 30; i++) {
		if (i == 16)
			before = retries() - mistaken();
		work_through(&server, i, i + 1, i < 6 ? 1 : 2);
		works(&server, "get ready\r\n");
	}
	cr_expect_eq(retries() - mistaken() - before, 14, "%d",
	             (int)(retries() - mistaken() - before));
}

/* The first failure may be slow to be answered, where the next are not. */
Test(feedback, one_pause_is_no_profile)
{
	struct server server = serve(8);
	struct destination *destination;

	fails(&server, "get one\r\n");
	destination = destination_at_port(&server);
	profile_paused(destination, 40 * NS_PER_MS);
	cr_expect(profile_has_waited(destination, NS_PER_MS));
	cr_expect_not(profile_has_pause(destination));
	profile_paused(destination, 30 * NS_PER_MS);
	cr_expect(profile_has_waited(destination, NS_PER_MS), "nor are two that differ");
	profile_paused(destination, 33 * NS_PER_MS);
	cr_expect_not(profile_has_waited(destination, 25 * NS_PER_MS));
	cr_expect(profile_has_waited(destination, 30 * NS_PER_MS));
	cr_expect(profile_has_pause(destination));
	profile_paused(destination, NS_PER_MS);
	cr_expect(profile_has_waited(destination, NS_PER_MS));
}

/* So late does it try again the first time, and at once from then on. */
Test(feedback, who_is_slow_once_has_one_first_try)
{
	struct server server = serve(8);
	const struct timespec slow = { .tv_nsec = 300 * NS_PER_MS };

	fails(&server, "get one\r\n");
	nanosleep(&slow, NULL);
	for (int i = 0; i < 20; i++)
		fails(&server, "get one\r\n");
	cr_expect_eq(retries(), 20, "%d", (int)retries());
}
