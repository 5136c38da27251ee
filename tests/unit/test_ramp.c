/* SPDX-License-Identifier: MIT */
/* The ramp alone, and as the budget uses it: a server of a known rate finds its herd coming. */
#include "budget_fixture.h"
#include "budget/streak.h"

#define MS(n) ((int64_t)(n)*NS_PER_MS)

/* A herd of loops that ask every 125 ms or so, and a server that answers in the order in which they
 * came, `rate` a second, after `latency`. */
struct herd {
	struct ramp ramp;
	int64_t rate, latency;
	int waiting, queued, back, most; /* arrivals within a second */
	int longest;                     /* that waited in its queue */
	int arrivals[1000];              /* by the millisecond, the last second's */
	int replies[1000];               /* those that are on their way, by the millisecond */
	int came[2048], first, last;     /* when those came that are not answered yet, ms */
	int64_t served; /* thousandths of a connection that the server has time for */
};

#define PLACES (int)(sizeof(((struct herd *)NULL)->came) / sizeof(int))

static void herd_start(struct herd *herd, int size, int64_t rate, int64_t latency)
{
	memset(herd, 0, sizeof(*herd));
	*herd = (struct herd) { .waiting = size, .rate = rate, .latency = latency };
	ramp_throttled(&herd->ramp, START_OF_TIME);
	ramp_begin(&herd->ramp, true, START_OF_TIME);
}

/* One millisecond. fails: the server resets whom it has no time for, instead of letting him wait.
 */
static void herd_tick(struct herd *herd, int ms, bool fails)
{
	int64_t now = START_OF_TIME + MS(ms);
	int asking = (herd->waiting * (ms + 1) + 124) / 125 - (herd->waiting * ms + 124) / 125;
	int within = 0, place = ms % 1000;

	herd->arrivals[place] = 0;
	for (; asking > 0; asking--)
		if (ramp_take(&herd->ramp, now)) {
			herd->waiting--;
			herd->queued++;
			herd->arrivals[place]++;
			herd->came[herd->last++ % PLACES] = ms;
		}
	herd->longest = herd->queued > herd->longest ? herd->queued : herd->longest;
	for (int i = 0; i < 1000; i++)
		within += herd->arrivals[i];
	if (within > herd->most)
		herd->most = within;
	for (herd->served += herd->rate; herd->served >= 1000; herd->served -= 1000) {
		if (herd->queued == 0) {
			herd->served = 0;
			break;
		}
		herd->queued--;
		herd->replies[(ms + herd->latency) % 1000]++;
	}
	for (; fails && herd->queued > 2; herd->queued--) {
		ramp_failed(&herd->ramp);
		herd->waiting++;
		herd->last--;
	}
	for (; herd->replies[place] > 0; herd->replies[place]--) {
		ramp_answered(&herd->ramp, MS(ms - herd->came[herd->first++ % PLACES]));
		herd->back++;
	}
}

/* ms until all are back. */
static int herd_returns(struct herd *herd, int size, bool fails)
{
	int ms = 0;

	while (herd->back < size && ms < 600000)
		herd_tick(herd, ms++, fails);
	return ms;
}

Test(ramp, a_herd_comes_back_as_fast_as_the_server_can_take_it)
{
	static const int64_t latencies[] = { 0, 30, 120, 300 };
	static struct herd herd;

	for (int size = 50; size <= 2000; size *= 2)
		for (int64_t rate = 20; rate <= 1000; rate *= 2)
			for (size_t i = 0; i < sizeof(latencies) / sizeof(*latencies); i++) {
				int64_t least = size * 1000 / rate, doublings = 0;
				int ms;

				for (int64_t n = 8; n < rate; n *= 2)
					doublings++;
				herd_start(&herd, size, rate, latencies[i]);
				ms = herd_returns(&herd, size, false);
				cr_expect_leq(
				    ms, least * 12 / 10 + (doublings + 1) * (latencies[i] + 130),
				    "%d at %ld/s, %ld ms: %d ms, not %ld", size, (long)rate,
				    (long)latencies[i], ms, (long)least);
				cr_expect_lt(herd.most, 3 * rate, "%d at %ld/s: %d in a second",
				             size, (long)rate, herd.most);
			}
}

/* A server that takes in whatever comes has no failure to tell: only that its answers are late. */
Test(ramp, nobody_waits_long_in_a_queue)
{
	static const int64_t latencies[] = { 0, 30, 120 };
	static struct herd herd;

	for (int64_t rate = 20; rate <= 1280; rate *= 2)
		for (size_t i = 0; i < sizeof(latencies) / sizeof(*latencies); i++) {
			int ms;

			herd_start(&herd, 2000, rate, latencies[i]);
			ms = herd_returns(&herd, 2000, false);
			cr_expect_lt(herd.longest, rate, "%d ms at %ld/s: %d wait", ms, (long)rate,
			             herd.longest);
			cr_expect_lt(ms, 2000 * 1000 / rate * 12 / 10 + 2500, "%d at %ld/s", ms,
			             (long)rate);
		}
}

/* What an answer needs anyway is no queue. */
Test(ramp, a_slow_server_is_not_taken_for_a_full_one)
{
	static struct herd herd;

	for (int64_t latency = 400; latency <= 3200; latency *= 2) {
		int ms;

		herd_start(&herd, 2000, 1000, latency);
		ms = herd_returns(&herd, 2000, false);
		cr_expect_lt(ms, 20 * latency + 5000, "%ld ms: %d", (long)latency, ms);
	}
}

Test(ramp, a_server_that_rejects_what_is_too_much_is_not_pushed_over)
{
	static struct herd herd;

	for (int64_t rate = 50; rate <= 800; rate *= 2) {
		int ms;

		herd_start(&herd, 1000, rate, 5);
		ms = herd_returns(&herd, 1000, true);
		cr_expect_leq(ms, 1000 * 1000 / rate * 2 + 1500, "%ld/s: %d ms", (long)rate, ms);
		cr_expect_lt(herd.most, 3 * rate, "%ld/s: %d", (long)rate, herd.most);
	}
}

Test(ramp, a_server_that_is_gone_again_is_left_alone)
{
	struct ramp ramp = { 0 };
	int64_t now = START_OF_TIME;
	int went = 0;

	ramp_throttled(&ramp, now);
	ramp_begin(&ramp, true, now);
	for (int ms = 0; ms < 1000; ms++) /* up to 128 in a step */
		for (int i = 0; i < 10; i++)
			if (ramp_take(&ramp, now + MS(ms)))
				ramp_answered(&ramp, MS(1));
	for (int ms = 1000; ms < 4000; ms++)
		for (int i = 0; i < 10; i++)
			if (ramp_take(&ramp, now + MS(ms))) {
				ramp_failed(&ramp);
				went += ms >= 3000;
			}
	cr_expect_leq(went, 8);
	cr_expect_gt(went, 0);
}

Test(ramp, the_next_goes_when_all_are_answered)
{
	struct ramp ramp = { 0 };
	int64_t now = START_OF_TIME;

	ramp_throttled(&ramp, now);
	ramp_begin(&ramp, true, now);
	for (int i = 0; i < 100; i++) {
		cr_assert(ramp_take(&ramp, now + MS(i)));
		cr_assert_not(ramp_take(&ramp, now + MS(i)), "one is under way");
		ramp_answered(&ramp, MS(1));
	}
	cr_expect(ramp_take(&ramp, now + MS(100)));
	ramp_failed(&ramp);
	cr_expect_not(ramp_take(&ramp, now + MS(100)), "for a failure nobody goes");
}

Test(ramp, nothing_is_throttled_unless_somebody_was)
{
	struct ramp ramp = { 0 };

	ramp_begin(&ramp, true, START_OF_TIME);
	cr_expect_not(ramp_is_on(&ramp, START_OF_TIME));
	for (int i = 0; i < 100; i++)
		cr_expect(ramp_take(&ramp, START_OF_TIME));

	/* A blip is no outage. */
	ramp_throttled(&ramp, START_OF_TIME);
	ramp_begin(&ramp, false, START_OF_TIME);
	cr_expect_not(ramp_is_on(&ramp, START_OF_TIME));
	cr_expect_eq(ramp.step, 0);
}

Test(ramp, it_ends_when_nobody_was_refused_for_a_second)
{
	struct ramp ramp = { 0 };
	int64_t now = START_OF_TIME;

	ramp_throttled(&ramp, now);
	ramp_begin(&ramp, true, now);
	cr_expect(ramp_take(&ramp, now));
	cr_expect_not(ramp_take(&ramp, now));
	cr_expect(ramp_is_on(&ramp, now + MS(900)));
	cr_expect_not(ramp_is_on(&ramp, now + MS(1100)), "nobody came");

	for (int ms = 130; ms < 3000; ms += 130) { /* one a step, answered */
		cr_expect(ramp_take(&ramp, now + MS(ms)));
		ramp_answered(&ramp, MS(1));
	}
	cr_expect_not(ramp_is_on(&ramp, now + MS(3000)));
	ramp_throttled(&ramp, now + MS(3000));
	ramp_begin(&ramp, true, now + MS(3000));
	cr_expect(ramp_is_on(&ramp, now + MS(3000)), "it can begin again");
}

Test(ramp, one_that_broke_off_begins_anew_with_one)
{
	struct ramp ramp = { 0 };
	int64_t now = START_OF_TIME;
	int went = 0;

	ramp_throttled(&ramp, now);
	ramp_begin(&ramp, true, now);
	for (int ms = 0; ms < 500; ms++)
		if (ramp_take(&ramp, now + MS(ms)))
			ramp_answered(&ramp, MS(1));
	ramp_stop(&ramp, now + MS(500));
	cr_expect_not(ramp_is_on(&ramp, now + MS(500)));
	ramp_begin(&ramp, false, now + MS(600)); /* however short it was */
	for (int i = 0; i < 100; i++)
		went += ramp_take(&ramp, now + MS(600));
	cr_expect_eq(went, RAMP_FIRST);
}

Test(ramp, whatever_stands_in_its_words_somebody_goes_within_a_second)
{
	uint64_t random = 7;

	for (int i = 0; i < 100000; i++) {
		struct ramp ramp;
		int64_t now = START_OF_TIME;
		int went = 0;

		ramp.step = (int64_t)random_next(&random);
		ramp.counts = (int64_t)random_next(&random);
		if (i % 2) /* a young one */
			ramp.step = (now >> 20 << 24) + (ramp.step & 0xffffff);
		for (int ms = 0; ms < 1000; ms += 10)
			went += ramp_take(&ramp, now + MS(ms));
		cr_assert_gt(went, 0, "schedule %d", i);
		ramp_throttled(&ramp, now + SECONDS(1));
		ramp_answered(&ramp, MS(1));
		ramp_failed(&ramp);
		ramp_begin(&ramp, true, now + SECONDS(1));
	}
}

static void fail_for(struct world *world, int64_t seconds)
{
	for (int64_t at = 0; at <= SECONDS(seconds); at += SECONDS(1))
		budget_failure(&world->account, true, START_OF_TIME + at, START_OF_TIME + at,
		               &world->random);
}

/* Those of 200 that go at a moment. */
static int go(struct world *world, int64_t now)
{
	int went = 0;

	for (int i = 0; i < 200; i++)
		went += budget_verdict(&world->account, 1000, now) != REFUSED;
	return went;
}

Test(ramp, after_an_outage_it_alone_says_who_goes)
{
	struct world world;
	int64_t back = START_OF_TIME + SECONDS(31), tokens;
	int went = 0;

	world_start(&world, 1);
	fail_for(&world, 30);
	cr_expect_leq(go(&world, START_OF_TIME + SECONDS(30)), 1, "the probe");
	budget_success(&world.account, back);
	tokens = bucket_peek(&world.budget.bucket, &world.policy.bucket);
	cr_expect_eq(go(&world, back + MS(1)), 1);
	for (int ms = 2; ms < 1000; ms++)
		for (int gone = go(&world, back + MS(ms)); gone > 0; gone--) {
			budget_retry_answered(&world.account, MS(1));
			budget_success(&world.account, back + MS(ms));
			went++;
		}
	cr_expect_gt(went, 200, "%d", went);
	cr_expect_geq(bucket_peek(&world.budget.bucket, &world.policy.bucket), tokens,
	              "nobody paid");
}

Test(ramp, after_a_blip_tokens_say_it)
{
	struct world world;
	int64_t now = START_OF_TIME + MS(500);

	world_start(&world, 1);
	budget_failure(&world.account, true, START_OF_TIME, START_OF_TIME, &world.random);
	budget_failure(&world.account, true, START_OF_TIME, START_OF_TIME, &world.random);
	cr_expect_leq(go(&world, START_OF_TIME), 1);
	budget_success(&world.account, now);
	cr_expect_geq(go(&world, now + MS(1)), 9);
}

Test(ramp, usual_traffic_is_not_made_to_climb)
{
	struct world world;
	int64_t now = START_OF_TIME;

	world_start(&world, 1);
	for (int i = 0; i < 1000; i++) /* a hundred a second */
		budget_first_try(&world.account, now - SECONDS(10) + MS(10 * i));
	fail_for(&world, 30);
	cr_expect_leq(go(&world, now + SECONDS(30)), 1);
	budget_success(&world.account, now + SECONDS(31));
	cr_expect_geq(go(&world, now + SECONDS(31) + MS(1)), 100);
}

Test(ramp, breaks_off_when_the_destination_does_not_answer)
{
	struct world world;
	int64_t now = START_OF_TIME + SECONDS(31);

	world_start(&world, 1);
	fail_for(&world, 30);
	go(&world, START_OF_TIME + SECONDS(30));
	budget_success(&world.account, now);
	for (int i = 0; i < 10; i++)
		budget_failure(&world.account, true, now + MS(i), now + MS(i), &world.random);
	cr_expect_leq(go(&world, now + MS(20)), 1, "the gate holds");
	cr_expect_leq(go(&world, now + MS(300)), 1);
	budget_success(&world.account, now + MS(400));
	cr_expect_eq(go(&world, now + MS(400)), 1);
}

/* The last failure before the end of a long outage is that of a probe, and may be older than what
 * is forgotten: those who were throttled are on their way back all the same. */
Test(ramp, is_no_quiet_time)
{
	struct world world;
	int64_t back = START_OF_TIME + SECONDS(45);

	world_start(&world, 1);
	fail_for(&world, 30);
	cr_expect_leq(go(&world, START_OF_TIME + SECONDS(30)), 1);
	cr_expect_not(budget_is_quiet(&world.account, back), "nothing has been answered");
	budget_success(&world.account, back);
	cr_expect_not(budget_is_quiet(&world.account, back + MS(1)));
	cr_expect(budget_is_quiet(&world.account, back + SECONDS(2)), "all have gone");
}
