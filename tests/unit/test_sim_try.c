/* SPDX-License-Identifier: MIT */
/* The tries of simulated programs: whose failure the next one answers, and that time goes on. */
#include "config_fixture.h"
#include "sys/arithmetic.h"
#include "sys/thread.h"
#include "tool/sim_cells.h"
#include "tool/sim_try.h"
#include "tool/sim_world.h"

static struct sim_file file;
static struct sim_cell cell;
static struct sim_world world;

static void tear_down(void)
{
	if (world.scenario) {
		sim_world_free(&world);
		sim_tally_free(&cell.tally);
	}
	remove_folder();
}

TestSuite(sim_try, .init = make_folder, .fini = tear_down, .timeout = 60);

static void read_cell(const char *text)
{
	write_bytes(text, strlen(text));
	cr_assert(sim_file_read(&file, path, stderr));
	cr_assert(sim_cell_make(&cell, &file, NULL, NULL, NULL, "default", stderr));
}

static const double *play(const char *text)
{
	read_cell(text);
	sim_cells_play(&cell, 1, 1);
	cr_assert_not(cell.result.is_void);
	return cell.result.metric;
}

static void begin(const char *text)
{
	read_cell(text);
	cr_assert(sim_tally_start(&cell.tally, &cell.scenario));
	cr_assert(sim_world_start(&world, &cell.scenario, &cell.policy, &cell.tally));
}

/* A request of the one process there is; which call it is. */
static uint32_t ask(int64_t now)
{
	uint32_t call = sim_call_new(&world, 0, 0, now);

	cr_assert_neq(call, SIM_NOBODY);
	sim_try_now(&world, call, now);
	return call;
}

/* All that is to happen before that moment. */
static void go_on(int64_t until)
{
	struct sim_event event;

	while (sim_events_take(&world.events, &event)) {
		if (event.at >= until) {
			sim_events_put(&world.events, &event);
			return;
		}
		sim_try_happens(&world, &event);
	}
}

#define DOWN "[server]\n[outage]\nfrom = 0\nuntil = 1h\n"

/* Without a pause, and from a server that takes no time, tries would fill one moment for ever. */
Test(sim_try, time_goes_on_between_tries_without_a_pause)
{
	const double *metric;

	metric = play("[scenario]\nduration = 2s\n[clients]\nloop = on\nlibrary = off\n"
	              "[server]\nlatency = 0\n[outage]\nfrom = 0\n");
	cr_expect_gt(metric[SIM_TRIES], 2000, "%g", metric[SIM_TRIES]);
	metric = play("[scenario]\nduration = 2s\n[clients]\nrate = 1/s\ntries = 0\n"
	              "library = off\n[server]\nlatency = 0\n[outage]\nfrom = 0\n");
	cr_expect_gt(metric[SIM_TRIES], 2000, "%g", metric[SIM_TRIES]);
}

/* Fifty requests at most, each held for a quarter of a second, against 20,000 a second. */
Test(sim_try, requests_that_spin_are_held_as_loops_are)
{
	const double *metric = play("[scenario]\nduration = 5s\n[clients]\nrate = 10/s\n"
	                            "tries = 0\nasked = off\n" DOWN);

	cr_expect_lt(metric[SIM_TRIES], 5000, "%g", metric[SIM_TRIES]);
}

/* As dest/tries.c: a hold is one more failure, and no refusal that the program was told of. */
Test(sim_try, a_hold_begins_the_count_of_refusals_anew)
{
	uint32_t call;

	begin("[scenario]\nduration = 1h\n[clients]\ntries = 0\nasked = off\n" DOWN);
	call = ask(0);
	go_on(NS_PER_S / 10);
	cr_assert_gt(world.calls[call].hold.row, THREAD_ROW, "it is held");
	cr_expect_eq(world.calls[call].try.denials, 0);
}

/* As pace/hold.c: a hold is no pause, whatever comes of it. What goes after one, and fails, is one
 * more of the row. */
Test(sim_try, a_hold_ends_no_row_when_it_lets_go)
{
	struct sim_event event;
	int64_t reached;
	uint32_t call;

	begin("[scenario]\nduration = 20s\n[clients]\ntries = 0\nasked = off\n" DOWN
	      "[policy]\nprobe = 1s\n");
	call = ask(0);
	go_on(NS_PER_S);
	reached = world.tally->reached;
	while (sim_events_take(&world.events, &event)) {
		sim_try_happens(&world, &event);
		cr_assert_gt(world.calls[call].hold.row, THREAD_ROW, "%lld", (long long)event.at);
	}
	cr_expect_gt(world.tally->reached, reached + 5, "it goes now and then");
}

/* What fails in no time is known to: thirty seconds of a hundred tries in each. */
Test(sim_try, a_failure_that_takes_no_time_is_known)
{
	const double *metric = play("[scenario]\nduration = 30s\n[clients]\nloop = on\n"
	                            "pause = 10ms\n[server]\nlatency = 0\n"
	                            "[outage]\nfrom = 0\nuntil = 30s\n");

	cr_expect_gt(metric[SIM_TRIES], 2400, "%g", metric[SIM_TRIES]);
}

/* Requests come at 30 a second at random, and 40 may go: some come too soon after another. */
Test(sim_try, who_is_over_the_rate_waits_for_its_turn)
{
	double held = play("[scenario]\nduration = 60s\n[clients]\nrate = 30/s\ntries = 1\n"
	                   "[server]\n[policy]\nrate = 40/s\nburst = 1\n")[SIM_SERVED];
	double refused = play("[scenario]\nduration = 60s\n[clients]\nrate = 30/s\ntries = 1\n"
	                      "[server]\n[policy]\nrate = 40/s\nburst = 1\nhold = 0\n")[SIM_SERVED];

	cr_expect_gt(held, refused + 0.1, "%g and %g", held, refused);
}

/* A service that asks a dead backend for each request. */
static const double *play_front(const char *more)
{
	char text[512];

	snprintf(text, sizeof(text),
	         "[scenario]\nduration = 20s\n[clients]\nserver = front\nrate = 5/s\n"
	         "library = off\n[server front]\ncalls = backend\ntries = 30\n%s"
	         "[server backend]\n[outage]\nserver = backend\nfrom = 0\nuntil = 1h\n",
	         more);
	return play(text);
}

Test(sim_try, a_server_may_do_without_the_one_that_it_calls)
{
	cr_expect_eq(play_front("")[SIM_SERVED], 0);
	cr_expect_gt(play_front("needs = off\n")[SIM_SERVED], 0.97);
}

Test(sim_try, who_is_waited_for_answers_in_time)
{
	double late = play_front("needs = off\n")[SIM_P99];

	cr_expect_lt(late, 0.1, "%g", late);
	late = play_front("needs = off\nasked = off\n")[SIM_P99];
	cr_expect_gt(late, 0.9, "it is held again and again: %g", late);
}

/* Each goes on at a moment of its own. */
Test(sim_try, a_long_hold_ends_when_the_server_is_back)
{
	int64_t until;
	uint32_t call;

	begin("[scenario]\nduration = 1h\n[clients]\ntries = 0\nasked = off\n[server]\n"
	      "[outage]\nfrom = 0\nuntil = 5s\n[policy]\nhold = 10s\n");
	call = ask(0);
	go_on(5 * NS_PER_S);
	until = world.calls[call].hold.row_at;
	cr_assert_gt(until, 8 * NS_PER_S, "it is held");
	ask(5 * NS_PER_S); /* which is answered */
	go_on(6 * NS_PER_S);
	cr_expect_eq(world.callers[0].units->budget.streak, 0);
	go_on(until - NS_PER_MS);
	cr_expect_eq(world.tally->served, 2, "%lld", (long long)world.tally->served);
}

#define SPINS                                                                                      \
	"[scenario]\nduration = 10s\n[clients]\nloop = on\nprocesses = 4\nblocks = off\n%s"        \
	"[server]\n[outage]\nfrom = 0\nuntil = 1h\n[policy]\n%s"

static double tries_of(const char *clients, const char *policy)
{
	char text[512];

	snprintf(text, sizeof(text), SPINS, clients, policy);
	return play(text)[SIM_TRIES];
}

/* A thread that is redirected tries 20,000 times a second; one that is parked, a dozen times. */
Test(sim_try, who_must_not_block_is_parked_or_redirected)
{
	double parked = tries_of("", ""), impatient = tries_of("timeout = 100ms\n", "");

	cr_expect_lt(parked, 4 * 10 * 25, "%g", parked);
	cr_expect_gt(impatient, 4 * parked, "it gives up: %g and %g", parked, impatient);
	cr_expect_gt(tries_of("", "nonblocking = redirect\n"), 100000);
}

Test(sim_try, who_must_not_block_may_be_left_alone)
{
	tries_of("", "nonblocking = pass\n");
	cr_expect_eq(cell.result.metric[SIM_REFUSED], 0);
	cr_expect_eq(cell.result.metric[SIM_ATTEMPTS], cell.result.metric[SIM_TRIES]);
}

Test(sim_try, the_next_request_answers_the_one_that_was_given_up)
{
	begin("[scenario]\nduration = 1h\n[clients]\ntries = 1\nasked = off\n" DOWN);
	for (int i = 0; i < 100; i++) {
		ask(i * NS_PER_S / 10);
		go_on((i + 1) * NS_PER_S / 10);
		cr_expect_leq(world.callers[0].units->placed, 1);
		cr_expect_eq(world.callers[0].units->unplaced, 0, "%d", i);
	}
}

Test(sim_try, threads_that_are_gone_leave_theirs_to_whoever_comes)
{
	begin("[scenario]\nduration = 1h\n[clients]\ntries = 1\nasked = off\n" DOWN);
	ask(0);
	ask(0);
	ask(0);
	go_on(NS_PER_S / 10);
	cr_expect_eq(world.callers[0].units->placed, 1, "of the thread that goes on");
	cr_expect_eq(world.callers[0].units->unplaced, 2, "of those that are gone");
}

/* New work of a process: a thread of its own as long as another one is still at it. */
Test(sim_try, who_follows_a_failure)
{
	uint32_t other;

	begin("[scenario]\nduration = 1h\n[clients]\ntries = 2\npause = 1s\nasked = off\n" DOWN);
	ask(0);
	go_on(NS_PER_S / 2);
	other = ask(NS_PER_S / 2);
	cr_expect_not(world.calls[other].try.follows, "the first one waits for its second try");
	go_on(3 * NS_PER_S);
	other = ask(3 * NS_PER_S);
	cr_expect(world.calls[other].try.follows, "both were given up");
}

Test(sim_try, what_was_asked_for_follows_nothing)
{
	uint32_t other;

	begin("[scenario]\nduration = 1h\n[clients]\ntries = 1\n" DOWN);
	ask(0);
	go_on(NS_PER_S / 2);
	other = ask(NS_PER_S / 2);
	cr_expect_not(world.calls[other].try.follows);
}
