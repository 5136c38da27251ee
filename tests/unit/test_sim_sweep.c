/* SPDX-License-Identifier: MIT */
/* Sweeps and regions of the simulator. */
#include "config_fixture.h"
#include "tool/sim_plot_region.h"
#include "tool/sim_region.h"
#include "tool/sim_sweep.h"

static struct sim_sweep sweep;

static const char *joined(const char *text)
{
	static char all[512], told[256];
	FILE *err = fmemopen(told, sizeof(told), "w");
	bool good = sim_sweep_read(&sweep, text, err);

	fclose(err);
	all[0] = '\0';
	for (int i = 0; good && i < sweep.count; i++) {
		strcat(all, i ? " " : "");
		strcat(all, sweep.values[i]);
	}
	return good ? all : "none";
}

Test(sim_sweep, values)
{
	cr_expect_str_eq(joined("floor=1/s,20,300/min"), "1/s 20/s 300/min");
	cr_expect_str_eq(joined("earn=5%,10%"), "5% 10%");
	cr_expect_str_eq(joined("clients.rate=50"), "50/s");
	cr_expect_str_eq(joined("clients.tries=1,3"), "1 3");
	cr_expect_str_eq(joined("server.capacity=50"), "50/s");
	cr_expect_str_eq(joined("server.db.capacity=50"), "50/s");
	cr_expect_str_eq(joined("fleet.floor=10,20"), "10/s 20/s");
	cr_expect_str_eq(joined("fleet.capacity=50"), "50", "tokens");
	cr_expect_str_eq(joined("policy.capacity=50"), "50", "tokens");
	cr_expect_str_eq(joined("strategy=bucket,window"), "bucket window");
	cr_expect_str_eq(sweep.name, "strategy");
}

Test(sim_sweep, ranges)
{
	cr_expect_str_eq(joined("floor=1..6"), "1/s 2/s 3/s 4/s 5/s 6/s");
	cr_expect_str_eq(joined("floor=0.1..10:3"), "0.1/s 1/s 10/s", "by equal factors");
	cr_expect_str_eq(joined("earn=10%..30%:3"), "10% 20% 30%");
	cr_expect_str_eq(joined("outage.until=10..30s:3"), "10s 20s 30s");
}

Test(sim_sweep, none)
{
	static const char *const bad[] = { "floor",      "=1",         "floor=",   "floor=1,,2",
		                           "floor=5..1", "floor=..5",  "a=1..2:1", "a=1..2:99",
		                           "a=1..2:x",   "a=1..2s:3s", "floor=1," };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect_str_eq(joined(bad[i]), "none", "%s", bad[i]);
}

#define SMALL                                                                                      \
	"[clients]\nrate = 40/s\n[server]\ncapacity = 50/s\n[outage]\nfrom = 5s\nhangs = 100%\n"   \
	"[variant bare]\nclients.library = off\n[variant library]\nclients.library = on\n"

/* Points of its map that are dark. */
static int drawn_as_never(const struct sim_region *region)
{
	const char *name = "one", *at;
	char *script;
	size_t size;
	FILE *to = open_memstream(&script, &size);
	int count = 0;

	sim_plot_region_script(region, &name, 1, "unused.svg", to);
	fclose(to);
	for (at = script; (at = strstr(at, " 62\n")); at++)
		count++;
	cr_expect(strstr(script, "with image"));
	free(script);
	return count;
}

Test(sim_sweep, the_region_is_where_retries_keep_it_down, .init = make_folder,
     .fini = remove_folder)
{
	static struct sim_region bare, library;
	static struct sim_file file;
	int down = 0;

	write_bytes(SMALL, strlen(SMALL));
	cr_assert(sim_file_read(&file, path, stderr));
	cr_assert(
	    sim_region_play(&bare, &file, &file.variants[0], NULL, NULL, "default", 0, stderr));
	cr_assert(
	    sim_region_play(&library, &file, &file.variants[1], NULL, NULL, "default", 0, stderr));
	for (int load = 0; load < SIM_LOADS - 1; load++) /* at 100 % nothing is left to catch up */
		for (int i = 0; i < SIM_LENGTHS; i++) {
			down += bare.recovery[load][i] < 0;
			cr_expect_geq(library.recovery[load][i], 0, "load %g, %d",
			              library.loads[load], i);
		}
	cr_expect_gt(down, SIM_LENGTHS * 2, "%d", down);
	cr_expect_geq(bare.recovery[0][0], 0, "half a load and one second");
	cr_expect_geq(drawn_as_never(&bare), down);
	cr_expect_leq(drawn_as_never(&library), SIM_LENGTHS, "of 100 %% alone");
}
