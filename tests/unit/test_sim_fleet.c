/* SPDX-License-Identifier: MIT */
/*
 * A simulated fleet: whatever becomes of its ledger, no more retries go in any second than its rule
 * says, and by news all are soon back.
 */
#include "config_fixture.h"
#include "tool/sim_cells.h"
#include "tool/sim_fleet.h"

TestSuite(sim_fleet, .init = make_folder, .fini = remove_folder);

/* Twenty machines of four loops; the ledger may save up 40 tokens, and adds 8 a second. */
#define FLEET                                                                                      \
	"[scenario]\nduration = 90s\nstep = 100ms\n"                                               \
	"[clients]\nloop = on\nprocesses = 80\nhosts = 20\npause = 10ms\nspread = 10s\n"           \
	"[server]\ncapacity = 100/s\ncollapse = 3\n[outage]\nfrom = 20s\nuntil = 60s\n"            \
	"[fleet]\ncapacity = 40\nfloor = 8/s\n"                                                    \
	"[policy]\nfleet = on\nfleet_n_max = 20\nfleet_reserve = 1/s\n"                            \
	"[budget]\nfloor = 100/s\n"

static struct sim_file file;
static struct sim_cell cells[6];

/* As cells[at], with settings over the text's: name, value, ..., NULL. */
static void make(int at, const char *const *settings)
{
	struct sim_settings more = { 0 };
	char unused[64];
	struct text why;

	text_start(&why, unused, sizeof(unused));
	for (; *settings; settings += 2)
		cr_assert(sim_settings_put(&more, settings[0], settings[1], &why));
	cr_assert(sim_cell_make(&cells[at], &file, NULL, &more, NULL, "default", stderr));
}

static void read_file(const char *text)
{
	write_bytes(text, strlen(text));
	cr_assert(sim_file_read(&file, path, stderr));
}

static double bound_of(const struct sim_cell *cell)
{
	struct fleet_rule rule;

	sim_fleet_rule(&cell->scenario, &cell->policy, &rule);
	return (double)fleet_bound(&rule, 1000) / FLEET_TOKEN;
}

static const char *const kinds[][9] = {
	{ "retrybudget.scope", "host" },
	{ "retrybudget.scope", "process" },
	{ "retrybudget.scope", "host", "fleet.down", "0" },
	{ "retrybudget.scope", "host", "fleet.down", "25s" },
	{ "retrybudget.scope", "host", "fleet.down", "25s", "fleet.back", "35s", "fleet.forgets",
	  "on" },
	{ "retrybudget.scope", "process", "fleet.lost", "20%", "fleet.way", "80ms" },
};

#define KINDS ((int)(sizeof(kinds) / sizeof(*kinds)))

Test(sim_fleet, no_second_sees_more_than_the_bound)
{
	read_file(FLEET);
	for (int seed = 1; seed <= 3; seed++) {
		for (int i = 0; i < KINDS; i++) {
			make(i, kinds[i]);
			cells[i].scenario.seed = seed;
		}
		sim_cells_play(cells, KINDS, 2);
		for (int i = 0; i < KINDS; i++) {
			const double *metric = cells[i].result.metric;

			cr_assert_not(cells[i].result.is_void);
			cr_expect_leq(metric[SIM_RETRY_PEAK], bound_of(&cells[i]), "%d: %g", i,
			              metric[SIM_RETRY_PEAK]);
			cr_expect_gt(metric[SIM_RETRY_PEAK], 0, "%d: nothing is lent", i);
			cr_expect_eq(metric[SIM_SERVED], 1, "%d: %g", i, metric[SIM_SERVED]);
		}
	}
}

/* Over long it is what time adds, first tries apart: of 160 connections each had one. */
Test(sim_fleet, an_outage_sees_no_more_than_the_ledger_lends)
{
	struct fleet_rule rule;

	read_file(FLEET);
	make(0, kinds[0]);
	sim_cells_play(cells, 1, 1);
	sim_fleet_rule(&cells[0].scenario, &cells[0].policy, &rule);
	cr_expect_leq(cells[0].result.metric[SIM_ATTEMPTS_FAILING],
	              80 + (double)fleet_bound(&rule, 40000) / FLEET_TOKEN);
}

Test(sim_fleet, by_news_all_are_back_soon)
{
	static const char *const slow[] = { "retrybudget.scope", "host", "fleet.sync", "10s",
		                            NULL };
	double back;

	read_file(FLEET);
	make(0, kinds[0]);
	make(1, kinds[2]); /* no ledger, no news */
	make(2, slow);
	sim_cells_play(cells, 3, 1);
	back = cells[0].result.metric[SIM_RECOVERY];
	cr_expect_geq(back, 0);
	cr_expect_lt(back, 5, "%g", back);
	cr_expect_gt(cells[1].result.metric[SIM_RECOVERY], back + 5);
	cr_expect_gt(cells[2].result.metric[SIM_RECOVERY], back);
}

Test(sim_fleet, threads_change_nothing)
{
	static struct sim_result alone[KINDS];

	read_file(FLEET);
	for (int threads = 1; threads <= 5; threads += 2) {
		for (int i = 0; i < KINDS; i++)
			make(i, kinds[i]);
		sim_cells_play(cells, KINDS, threads);
		for (int i = 0; i < KINDS; i++)
			if (threads == 1)
				alone[i] = cells[i].result;
			else
				cr_expect(memcmp(cells[i].result.metric, alone[i].metric,
				                 sizeof(alone[i].metric)) == 0);
	}
}

/* A machine without programs, and a server that calls another under leases of its own. */
Test(sim_fleet, hosts_and_hops_of_all_kinds)
{
	read_file("[scenario]\nduration = 60s\n[clients]\nprocesses = 3\nhosts = 5\nrate = 50/s\n"
	          "[server a]\ncalls = b\nprocesses = 4\nhosts = 2\n[server b]\ncapacity = 100/s\n"
	          "[outage]\nserver = b\nfrom = 10s\nuntil = 20s\n[policy]\nfleet = on\n");
	make(0, (const char *const[]) { NULL });
	sim_cells_play(cells, 1, 1);
	cr_assert_not(cells[0].result.is_void);
	cr_expect_geq(cells[0].result.metric[SIM_RECOVERY], 0);
	cr_expect_lt(cells[0].result.metric[SIM_AMPLIFICATION], 1.3);
}

Test(sim_fleet, a_reserve_that_is_more_than_all_is_told)
{
	struct sim_settings more = { 0 };
	char told[256] = "";
	FILE *err = fmemopen(told, sizeof(told), "w");

	read_file("[clients]\n[server]\n[fleet]\nfloor = 1/s\n"
	          "[policy]\nfleet = on\nfleet_reserve = 2/s\n");
	cr_expect_not(sim_cell_make(&cells[0], &file, NULL, &more, NULL, "default", err));
	fclose(err);
	cr_expect(strstr(told, "fleet_reserve") && strstr(told, "lower"), "%s", told);
}
