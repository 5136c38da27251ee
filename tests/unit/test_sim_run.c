/* SPDX-License-Identifier: MIT */
/* The simulator: its events, its servers, and what it makes of whole scenarios. */
#include "config_fixture.h"
#include "sys/random.h"
#include "tool/sim_cells.h"
#include "tool/sim_events.h"
#include "tool/sim_server.h"

TestSuite(sim_run, .init = make_folder, .fini = remove_folder);

static struct sim_file file;
static struct sim_cell cells[4];

/* Plays the text's scenario as cells[0], with up to two settings more. */
static const double *play(const char *text, const char *name, const char *value)
{
	struct sim_settings more = { 0 };
	char unused[64];
	struct text why;

	text_start(&why, unused, sizeof(unused));
	write_bytes(text, strlen(text));
	cr_assert(sim_file_read(&file, path, stderr));
	if (name)
		cr_assert(sim_settings_put(&more, name, value, &why));
	cr_assert(sim_cell_make(&cells[0], &file, NULL, &more, NULL, "default", stderr));
	sim_cells_play(cells, 1, 1);
	cr_assert_not(cells[0].result.is_void);
	return cells[0].result.metric;
}

Test(sim_run, events_come_in_order)
{
	struct sim_events events = { 0 };
	struct sim_event event;
	uint64_t random = 3;
	int64_t last = 0;
	int left = 0, puts = 0;

	for (int i = 0; i < 20000; i++) {
		if (left == 0 || (puts < 12000 && random_upto(&random, 99) < 60)) {
			event = (struct sim_event) {
				.at = last +
				      random_upto(&random, INT64_C(1) << random_upto(&random, 40)),
				.who = (uint32_t)puts++,
			};
			sim_events_put(&events, &event);
			left++;
			continue;
		}
		cr_assert(sim_events_take(&events, &event));
		cr_assert_geq(event.at, last);
		last = event.at;
		left--;
	}
	while (left-- > 0) {
		cr_assert(sim_events_take(&events, &event));
		cr_assert_geq(event.at, last);
		last = event.at;
	}
	cr_expect_not(sim_events_take(&events, &event));
	sim_events_free(&events);
}

#define SERVER "[scenario]\nduration = 100s\n[clients]\nrate = 100/s\n[server]\ncapacity = 10/s\n"

static bool served(struct sim_server_state *state, int64_t ms, int64_t timeout_ms)
{
	uint64_t random = 1;

	return sim_server_take(state, &file.scenario, 0, timeout_ms * NS_PER_MS, ms * NS_PER_MS,
	                       &random)
	           .failure == FAILURE_NONE;
}

Test(sim_run, a_server_answers_what_it_can)
{
	struct sim_server_state state = { 0 };
	int good = 0;

	write_bytes(SERVER "queue = 5\n", strlen(SERVER "queue = 5\n"));
	cr_assert(sim_file_read(&file, path, stderr));
	for (int i = 0; i < 100; i++) /* all at once: five wait, and one is worked on */
		good += served(&state, 0, 10000);
	cr_expect_eq(good, 5, "%d", good);
	cr_expect_not(served(&state, 0, 10000));
	cr_expect(served(&state, 110, 10000), "one has gone");
	cr_expect_not(served(&state, 210, 100), "too late for its client");
}

Test(sim_run, more_than_it_bears)
{
	struct sim_server_state state = { 0 };
	int good = 0;

	write_bytes(SERVER "collapse = 3\n", strlen(SERVER "collapse = 3\n"));
	cr_assert(sim_file_read(&file, path, stderr));
	for (int i = 0; i < 100; i++)
		good += served(&state, i * 10, 100000);
	cr_expect_eq(good, 30, "%d", good);
	cr_expect(served(&state, 2500, 100000), "when the load has gone it is as before");
}

static void read_server(const char *text)
{
	write_bytes(text, strlen(text));
	cr_assert(sim_file_read(&file, path, stderr));
}

/* A thousand times a thousand seconds each: more than time has room for after 9224 of them. */
Test(sim_run, what_is_never_done_is_never_answered)
{
	struct sim_server_state state = { 0 };

	read_server("[clients]\n[server]\ncapacity = 0.001/s\nqueue = 10000000\nrefusal = 100%\n"
	            "[outage]\nfrom = 0\nuntil = 24h\nfails = 0%\nslows = 1000\n");
	for (int i = 0; i < 30000; i++) {
		int64_t before = state.busy_until;

		cr_assert_not(served(&state, i, 3600000), "%d", i);
		cr_assert_geq(state.busy_until, before, "%d", i);
	}
}

/* One in two seconds, and no more than one a second: it is there. */
Test(sim_run, a_slow_server_bears_its_part)
{
	struct sim_server_state state = { 0 };

	read_server("[clients]\n[server]\ncapacity = 0.5/s\ncollapse = 2\n");
	cr_expect(served(&state, 0, 100000));
	cr_expect(served(&state, 2000, 100000));
	cr_expect_not(served(&state, 2100, 100000), "two in a second");
}

/* Answers in the second half of twenty seconds of a load, in hundredths of the capacity. */
static int answered_at(const char *text, int load)
{
	struct sim_server_state state = { 0 };
	int good = 0;

	read_server(text);
	for (int i = 0; i < load * 20; i++)
		good += served(&state, i * INT64_C(1000) / load, 100000) && i >= load * 10;
	return good / 10;
}

/* What it answers in a second of a hundred that it could. */
Test(sim_run, a_curve_falls_from_the_capacity_to_the_collapse)
{
#define CURVE "[clients]\n[server]\ncapacity = 100/s\nqueue = 10\ncollapse = 3\n"
	static const char linear[] = CURVE "collapse_curve = linear\n";
	static const char step[] = CURVE "collapse_curve = step\n";

	cr_expect_eq(answered_at(step, 290), answered_at(CURVE, 290), "the default");
	cr_expect_geq(answered_at(step, 290), 95);
	cr_expect_geq(answered_at(linear, 90), 85);
	cr_expect_geq(answered_at(linear, 100), 95);
	cr_expect_float_eq(answered_at(linear, 150), 75, 8, "%d", answered_at(linear, 150));
	cr_expect_float_eq(answered_at(linear, 200), 50, 8, "%d", answered_at(linear, 200));
	cr_expect_float_eq(answered_at(linear, 250), 25, 8, "%d", answered_at(linear, 250));
	cr_expect_leq(answered_at(linear, 290), 12, "%d", answered_at(linear, 290));
	cr_expect_eq(answered_at(linear, 400), answered_at(step, 400), "beyond it");
	cr_expect_eq(answered_at(linear, 400), 0, "%d", answered_at(linear, 400));
}

/* Who has answered little answers all when the load has gone. */
Test(sim_run, a_curve_leads_back)
{
	struct sim_server_state state = { 0 };
	int good = 0;

	read_server(CURVE "collapse_curve = linear\n");
	for (int i = 0; i < 2990; i++)
		(void)served(&state, i * 1000 / 299, 100000);
	for (int i = 0; i < 100; i++)
		good += served(&state, 20000 + i * 20, 1000);
	cr_expect_eq(good, 100, "%d", good);
}

#define BLIP                                                                                       \
	"[scenario]\nduration = 60s\n[clients]\nrate = 95/s\nprocesses = 4\n"                      \
	"[server]\ncapacity = 100/s\n[outage]\nfrom = 10s\nuntil = 20s\nhangs = 100%\n"

Test(sim_run, retries_keep_a_server_down_and_a_budget_does_not)
{
	const double *metric = play(BLIP, "clients.library", "off");

	cr_expect_lt(metric[SIM_RECOVERY], 0, "%g", metric[SIM_RECOVERY]);
	cr_expect_gt(metric[SIM_AMPLIFICATION], 2);
	metric = play(BLIP, NULL, NULL);
	cr_expect_geq(metric[SIM_RECOVERY], 0);
	cr_expect_lt(metric[SIM_RECOVERY], 5);
	cr_expect_lt(metric[SIM_AMPLIFICATION], 1.1);
}

Test(sim_run, observe_changes_nothing)
{
	const double *metric = play(BLIP, "clients.library", "off");
	double bare = metric[SIM_ATTEMPTS];

	metric = play(BLIP, "mode", "observe");
	cr_expect_eq(metric[SIM_REFUSED], 0);
	cr_expect_float_eq(metric[SIM_ATTEMPTS], bare, bare / 20);
}

#define CHAIN                                                                                      \
	"[scenario]\nduration = 30s\n[clients]\nrate = 2/s\nlibrary = off\n"                       \
	"[server a]\ncalls = b\nlibrary = off\n[server b]\ncalls = c\nlibrary = off\n"             \
	"[server c]\n[outage]\nserver = c\nfrom = 0\nuntil = 30s\n"

/* Three tries at each of three hops. */
Test(sim_run, a_chain_multiplies)
{
	const double *metric = play(CHAIN, NULL, NULL);

	cr_expect_float_eq(metric[SIM_AMPLIFICATION], 27, 0.5, "%g", metric[SIM_AMPLIFICATION]);
	cr_expect_eq(metric[SIM_SERVED], 0);
	metric = play(CHAIN, "server.tries", "1");
	cr_expect_float_eq(metric[SIM_AMPLIFICATION], 3, 0.1);
}

#define LOOPS                                                                                      \
	"[scenario]\nduration = 90s\n[clients]\nloop = on\nprocesses = 50\npause = 10ms\n"         \
	"[server]\ncapacity = 50/s\ncollapse = 3\n[outage]\nfrom = 10s\nuntil = 40s\n"

Test(sim_run, loops_are_cut_off_and_come_back)
{
	const double *metric = play(LOOPS, "clients.library", "off");

	cr_expect_eq(metric[SIM_REQUESTS], 100, "each connects, and again after the outage");
	cr_expect_lt(metric[SIM_RECOVERY], 0);
	metric = play(LOOPS, NULL, NULL);
	cr_expect_eq(metric[SIM_SERVED], 1);
	cr_expect_geq(metric[SIM_RECOVERY], 0);
}

#define MANY                                                                                       \
	"[scenario]\nduration = 10s\n[clients]\nloop = on\nprocesses = 50\nlibrary = "             \
	"off\n[server]\n"

Test(sim_run, loops_may_begin_one_after_the_other)
{
	const double *metric = play(MANY, NULL, NULL);

	cr_expect_eq(metric[SIM_PEAK], 50, "%g", metric[SIM_PEAK]);
	metric = play(MANY, "clients.spread", "5s");
	cr_expect_eq(metric[SIM_PEAK], 10, "%g", metric[SIM_PEAK]);
	cr_expect_eq(metric[SIM_SERVED], 1);
}

#define TWO                                                                                        \
	"[scenario]\nduration = 60s\n[clients a]\nloop = on\nprocesses = 5\npause = 100ms\n"       \
	"[clients b]\nloop = on\nprocesses = 7\npause = 100ms\n[server]\n"                         \
	"[outage]\nfrom = 10s\nuntil = 20s\n"

/* They neither want anything nor stand for what never came back. */
Test(sim_run, loops_that_begin_after_the_end_are_none)
{
	const double *metric = play(TWO, "clients.b.from", "200s");

	cr_expect_eq(metric[SIM_REQUESTS], 10, "%g", metric[SIM_REQUESTS]);
	cr_expect_eq(metric[SIM_SERVED], 1);
	cr_expect_geq(metric[SIM_RECOVERY], 0);
	metric = play(TWO, "clients.b.spread", "140s");
	cr_expect_eq(metric[SIM_REQUESTS], 10 + 3 + 1, "three begin, one before the outage: %g",
	             metric[SIM_REQUESTS]);
}

/* Processes that have ended: what was connected is not cut off, what waits tries no more. */
Test(sim_run, loops_end)
{
	const double *metric = play(TWO, "clients.b.until", "5s");

	cr_expect_eq(metric[SIM_REQUESTS], 10 + 7, "%g", metric[SIM_REQUESTS]);
	cr_expect_eq(metric[SIM_SERVED], 1);
	metric = play(TWO, "clients.until", "15s");
	cr_expect_eq(metric[SIM_REQUESTS], 24, "%g", metric[SIM_REQUESTS]);
	cr_expect_float_eq(metric[SIM_SERVED], 0.5, 1e-9, "%g", metric[SIM_SERVED]);
	cr_expect_eq(cells[0].tally.given_up, 12);
	cr_expect_geq(metric[SIM_RECOVERY], 0, "nobody is left who waits");
	cr_expect_eq(metric[SIM_PEAK_AFTER], 0, "nor is anybody who tries");
}

/* Whose last try is under way, or whose refusals are told in a moment, at their end. */
Test(sim_run, loops_end_in_the_middle_of_a_try)
{
	const double *metric = play(TWO "hangs = 100%\n", "clients.until", "10500ms");

	cr_expect_eq(cells[0].tally.given_up, 12);
	cr_expect_eq(metric[SIM_ATTEMPTS], 24, "%g", metric[SIM_ATTEMPTS]);
}

#define FORTH                                                                                      \
	"[scenario]\nduration = 40s\n[clients]\nrate = 10/s\neven = on\nlibrary = off\n"           \
	"[server front]\ncalls = tail\nlibrary = off\n[server tail]\n[server aside]\n"             \
	"[outage]\nserver = tail\nfails = 0%\nslows = 2\nfrom = 10s\nuntil = 30s\n"

/* In which nothing fails, so that what comes in it is ten in each second. */
Test(sim_run, the_last_server_fails_in_its_own_outages)
{
	cr_expect_float_eq(play(FORTH, NULL, NULL)[SIM_ATTEMPTS_FAILING], 200, 2);
	cr_expect_float_eq(play(FORTH, "outage.flap", "5s")[SIM_ATTEMPTS_FAILING], 100, 2);
	cr_expect_float_eq(play(FORTH, "outage.flap", "8s")[SIM_ATTEMPTS_FAILING], 120, 2);
	cr_expect_eq(play(FORTH, "outage.server", "aside")[SIM_ATTEMPTS_FAILING], 0);
	cr_expect_eq(play(FORTH, "outage.server", "front")[SIM_ATTEMPTS_FAILING], 0);
}

/* One connects each second, and the end of another server's outage is nothing to the rest. */
Test(sim_run, delays_of_loops_know_whose_outage_it_was)
{
	static const char text[] = "[scenario]\nduration = 40s\n[clients]\nloop = on\n"
				   "processes = 10\ntimeout = 30s\nlibrary = off\nfrom = 2s\n"
				   "[server here]\ncapacity = 1/s\n[server aside]\n"
				   "[outage]\nserver = aside\nfrom = 1s\nuntil = 8s\n";

	cr_expect_gt(play(text, NULL, NULL)[SIM_P99], 9, "%g", cells[0].result.metric[SIM_P99]);
}

/* c is asked by b, under the library: b's retries are no new demand. */
Test(sim_run, a_request_that_is_asked_again_is_no_new_demand)
{
	const double *metric = play(CHAIN, "server.b.library", "on");

	cr_expect_lt(metric[SIM_AMPLIFICATION], 1.5, "%g", metric[SIM_AMPLIFICATION]);
}

Test(sim_run, equal_seeds_equal_results)
{
	double first[3][SIM_METRICS];

	for (int threads = 1; threads <= 4; threads += 3) {
		write_bytes(BLIP, strlen(BLIP));
		cr_assert(sim_file_read(&file, path, stderr));
		for (int i = 0; i < 3; i++) {
			cr_assert(
			    sim_cell_make(&cells[i], &file, NULL, NULL, NULL, "default", stderr));
			cells[i].scenario.seed += i % 2;
		}
		sim_cells_play(cells, 3, threads);
		for (int i = 0; i < 3; i++) {
			if (threads == 1)
				memcpy(first[i], cells[i].result.metric, sizeof(first[i]));
			cr_expect_eq(memcmp(cells[i].result.metric, first[i], sizeof(first[i])), 0);
		}
	}
	cr_expect_eq(memcmp(first[0], first[2], sizeof(first[0])), 0);
	cr_expect_neq(first[0][SIM_ATTEMPTS], first[1][SIM_ATTEMPTS], "another seed");
}

/* Every request ends, or is under way; every try reaches the server, or is refused. */
Test(sim_run, nothing_is_lost)
{
	static const char *const policies[] = { "none", "grpc", "finagle", "sre", "envoy" };

	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		const double *metric = play(BLIP, "preset", policies[i]);

		cr_expect_eq(metric[SIM_ATTEMPTS] + metric[SIM_REFUSED], metric[SIM_TRIES], "%s",
		             policies[i]);
		cr_expect_geq(cells[0].tally.served + cells[0].tally.given_up,
		              cells[0].tally.requests - 300, "%s", policies[i]);
	}
}
