/* SPDX-License-Identifier: MIT */
/* Scenario files: what they say, and what is told of mistakes. */
#include "config_fixture.h"
#include "tool/sim_cells.h"

TestSuite(sim_file, .init = make_folder, .fini = remove_folder);

static struct sim_file file;
static struct sim_cell cell;

#define LEAST "[clients]\nrate = 10/s\n[server]\n"

/* What was told is in `said`. */
static bool read_scenario(const char *text)
{
	FILE *err = fmemopen(said, sizeof(said), "w");
	bool good;

	said[0] = '\0';
	write_bytes(text, strlen(text));
	good = sim_file_read(&file, path, err);
	fclose(err);
	return good;
}

Test(sim_file, sections_labels_and_defaults)
{
	cr_assert(read_scenario("[scenario]\nabout = two of them\nduration = 20s\n"
	                        "  [clients web]\n  rate = 10/s\n\ttries = 5\n"
	                        "[clients cron]\nserver = db\npause = 2s\n"
	                        "[server front]\ncalls = db\n[server db]\ncapacity = 50/s\n"
	                        "[outage]\nserver = db\nfails = 10% ; a part\n"),
	          "%s", said);
	cr_expect_str_eq(file.about, "two of them");
	cr_expect_eq(file.scenario.duration, 20 * NS_PER_S);
	cr_expect_eq(file.scenario.clients_count, 2);
	cr_expect_eq(file.scenario.clients[0].profile.tries, 5);
	cr_expect_eq(file.scenario.clients[1].profile.tries, 3, "the default");
	cr_expect_eq(file.scenario.clients[1].profile.pause.base, 2 * NS_PER_S);
	cr_expect_eq(sim_server_named(&file.scenario, "db"), 1);
	cr_expect_eq(sim_server_named(&file.scenario, ""), 0, "the first");
	cr_expect_eq(file.scenario.outages[0].fails, PPM_WHOLE / 10);
}

/* Each is told with file, line and remedy. */
Test(sim_file, mistakes)
{
	static const struct {
		const char *text, *told;
	} bad[] = {
		{ LEAST "capcity = 5/s\n",
		  ":4: no key 'capcity' in [server]; did you mean 'capacity'?" },
		{ LEAST "capacity = fast\n", ":4: capacity: " },
		{ LEAST "\n\n[servers]\nqueue = 1\n", ":7: no section [servers]; there are " },
		{ LEAST "[server]\nqueue = 1\n", ":4: this section stands already" },
		{ LEAST "[server a.b]\n", ":4: a label has no '.'" },
		{ LEAST "what\n", ":4: expected 'key = value'" },
		{ LEAST "[outage]\nserver = other\n",
		  ":4: [outage] names the server 'other', and there is no section [server other]; "
		  "add it" },
		{ "[server]\n[clients]\nserver = x\n", ":2: [clients] names the server 'x'" },
		{ LEAST "[server b]\ncalls = x\n", ":4: [server] names the server 'x'" },
		{ LEAST "[expect bare]\npeak = much\n", ":5: expected a number and a tolerance" },
		{ LEAST "[variant a]\nfloor = 1/s\nclients.rte = 1/s\n",
		  ":6: [variant a]: no key 'rte'" },
		{ LEAST "[variant a]\nclients.tries = 2\nclients.rate = 1\n",
		  ":6: [variant a]: rate: rate = '1' is not a rate" },
		{ LEAST "[variant a]\nclients.x.rate = 1/s\n",
		  ":5: [variant a]: there is no section [clients x]" },
		{ LEAST "[variant a]\nfloor = 1/s\noutage.until = 1s\n[outage]\nfrom = 2s\n",
		  ":5: [variant a]: an [outage] ends before it begins; make " },
		{ LEAST "\n[outage]\nfrom = 5s\nuntil = 1s\n", ":5: an [outage] ends before" },
		{ "[server]\n[clients]\nfrom = 5s\nuntil = 1s\n",
		  ":2: [clients] end before they begin; make until later" },
		{ "[server]\n[clients]\nspread = 5s\n",
		  ":2: spread of [clients] is of loops; add loop = on" },
		{ "[server]\n[clients]\npause = 5s\npause_cap = 1s\n",
		  ":2: the pause of [clients] is longer than their longest one; make pause_cap" },
		{ "[clients]\n[server]\npause = 5s\npause_cap = 1s\n",
		  ":2: the pause of [server] is longer" },
		{ LEAST "[fleet]\ndown = 5s\nback = 1s\n",
		  ":4: the ledger of [fleet] is back before it is down; make back later" },
		{ LEAST "[variant a]\nclients.until = 0\nclients.from = 1s\n",
		  ":5: [variant a]: [clients] end before" },
		{ "[server]\n", ": there must be at least one section [clients]" },
		{ "", ": there must be at least one section [clients] and one [server]; add" },
		{ LEAST "[variant a]\nfloor = 1/s\n[expect b]\npeak = < 1\n",
		  ":7: no [variant b]; add it, or correct the name" },
		{ LEAST "[expect b]\npeak = < 1\n", ":5: no [variant b], and without any " },
		{ LEAST "[expect bare]\npek = < 1\n", ":5: no number 'pek' comes out; " },
		{ LEAST "[fleet]\nflor = 1/s\n", ":5: no key 'flor' in [fleet]; did you mean" },
		{ LEAST "[fleet]\nlost = 200%\n", ":5: lost: " },
		{ "[clients]\nrate = 1/s\n", "at least one section [clients] and one [server]" },
		{ "[clients]\n[server a]\ncalls = b\n[server b]\ncalls = a\n",
		  ":2: servers call each other in a circle; leave one" },
		{ "[scenario]\nduration = 24h\nstep = 10ms\n" LEAST,
		  ":1: duration is more than 100000 steps; "
		  "make step longer" },
		{ LEAST "[policy a]\nfloor = 1/s\n[policy b]\nfloor = 2/s\n",
		  ":6: [policy] has no name, for there is one of it; leave 'b' out, or set what "
		  "differs in a [variant]" },
		{ LEAST "[budget a]\n", ":4: [budget] has no name" },
		{ LEAST "[scenario a]\n", ":4: [scenario] has no name" },
		{ LEAST "[fleet a]\n", ":4: [fleet] has no name" },
		{ LEAST "[polcy]\n", ":4: no section [polcy]; there are scenario, " },
		{ LEAST "[variant]\nfloor = 1/s\n", ":4: [variant] names no variant; write one" },
		{ LEAST "[expect]\n", ":4: [expect] names no variant; write one, as in [expect l" },
		{ LEAST "[variant a]\nfloor = 1/s\n[variant b]\n[variant a]\n",
		  ":7: this section stands already in line 4; join both, or give it another" },
		{ LEAST "[policy]\nfloor = 1/s\n[policy]\n",
		  ":6: this section stands already in line 4; join both" },
		{ LEAST "queue = 1\nqueue = 2\n",
		  ":5: 'queue' stands already in line 4; keep one of them" },
		{ LEAST "[variant a]\nfloor = 1/s\npolicy.floor = 2/s\n",
		  ":6: 'policy.floor' stands already in line 5; keep" },
		{ LEAST "collapse_curve = round\n",
		  ":4: collapse_curve: collapse_curve = 'round' is not one of: step | linear" },
		{ "[clients]\n[server]\ncollapse = 1\ncollapse_curve = linear\n",
		  ":2: collapse_curve = linear falls between the capacity of [server] and its "
		  "collapse; make collapse more than 1" },
		{ "[clients]\n[server]\nneeds = off\n",
		  ":2: [server] calls nobody whom it could need; add calls, or leave needs out" },
		{ LEAST "[outage] from = 5s\n",
		  ":4: what stands behind the name of a section is not read; give it a line of" },
		{ LEAST "[variant \x1b[2J]\n", ":4: a line has no control characters but tabs" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_expect_not(read_scenario(bad[i].text), "%s", bad[i].text);
		cr_expect(strstr(said, bad[i].told), "'%s' is not in: %s", bad[i].told, said);
		cr_expect(strstr(said, path), "%s", said);
		cr_expect_null(strstr(said, ":0:"), "what is missing is in no line: %s", said);
	}
	cr_expect_not(sim_file_read(&file, "/nonexistent/file", stderr));
}

/* What inih does not tell of, having no key. */
Test(sim_file, a_variant_without_a_line_is_one)
{
	cr_assert(read_scenario(LEAST "[variant bare]\nclients.library = off\n"
	                              "[variant library] ; as it comes\n[expect library]\n"
	                              "peak = > 1\npeak = < 100\n"),
	          "%s", said);
	cr_assert_eq(file.variant_count, 2);
	cr_expect_str_eq(file.variants[1].name, "library");
	cr_expect_eq(file.variants[1].settings.count, 0);
	cr_expect_eq(file.variants[1].line, 6);
	cr_expect_eq(file.expectation_count, 2, "a number may have two bounds");
}

Test(sim_file, there_are_so_many_variants)
{
	static char many[4096];
	size_t used = (size_t)snprintf(many, sizeof(many), "%s", LEAST);

	for (int i = 0; i < SIM_VARIANTS; i++)
		used += (size_t)snprintf(many + used, sizeof(many) - used, "[variant %d]\n", i);
	cr_assert(read_scenario(many), "%s", said);
	cr_expect_eq(file.variant_count, SIM_VARIANTS);
	strcat(many, "[variant more]\nfloor = 1/s\n");
	cr_expect_not(read_scenario(many));
	cr_expect(strstr(said, ":28: more than 24 variants; leave some out\n"), "%s", said);
}

/* What comes after it has its own number. */
Test(sim_file, a_line_without_end_is_one)
{
	static char text[2048];

	memset(text, 'x', 1200);
	strcpy(text + 1200, "\n[server]\nqueu = 1\n");
	cr_expect_not(read_scenario(text));
	cr_expect(strstr(said, ":1: a line has at most 198 characters; shorten it\n"), "%s", said);
	cr_expect(strstr(said, ":3: no key 'queu'"), "%s", said);
	cr_expect_null(strstr(said, ":2: "), "%s", said);
}

/* Of the scenario's line, the variant's and the command line's the last one holds. */
Test(sim_file, settings_over_settings)
{
	struct sim_settings more = { 0 };
	char message[64];
	struct text why;

	text_start(&why, message, sizeof(message));
	cr_assert(read_scenario(LEAST "[policy]\nfloor = 1/s\nbase = 1s\n[budget]\nfloor = 3/s\n"
	                              "[variant a]\nfloor = 2/s\nclients.rate = 20/s\n"
	                              "retrybudget.scope = host\n"),
	          "%s", said);
	cr_assert(sim_cell_make(&cell, &file, &file.variants[0], NULL, NULL, "default", stderr));
	cr_expect_eq(cell.policy.policy.bucket.floor, 2000);
	cr_expect_eq(cell.policy.policy.backoff.base, NS_PER_S);
	cr_expect_eq(cell.policy.process_rule.floor, 3000);
	cr_expect_eq(cell.policy.scope, SCOPE_HOST);
	cr_expect_eq(cell.scenario.clients[0].rate, 20000);
	cr_assert(sim_settings_put(&more, "floor", "5/s", &why));
	cr_assert(sim_cell_make(&cell, &file, &file.variants[0], &more, NULL, "default", stderr));
	cr_expect_eq(cell.policy.policy.bucket.floor, 5000);
	cr_assert(sim_settings_put(&more, "policy.original", "on", &why));
	cr_assert(sim_cell_make(&cell, &file, &file.variants[0], &more, NULL, "default", stderr));
	cr_expect_eq(cell.policy.policy.bucket.floor, 0);
}

/* What only the policy's own reader, or the fleet's rule, can find wrong. */
Test(sim_file, mistakes_of_the_policy_and_the_fleet)
{
	static const struct {
		const char *text, *told;
		bool is_of_variant;
	} bad[] = {
		{ LEAST "[policy]\nbase = 1s\nfloor = x\n", ":6: floor = 'x' is not a rate",
		  false },
		{ LEAST "[budget]\nfloor = -3/s\n", ":5: floor = '-3/s' is not a rate", false },
		{ LEAST "[variant a]\nearn = 1%\nfloor = 1\n", ":6: floor = '1' is not", true },
		{ LEAST "[fleet]\nfloor = 1/s\n[policy]\nfleet = on\nfleet_reserve = 2/s\n",
		  ":8: fleet_reserve of the policy (2/s) is a part of floor in [fleet] (1/s), "
		  "which",
		  false },
		{ LEAST
		  "[policy]\nfleet = on\nfleet_reserve = 2/s\n[variant a]\nfleet.floor = 1/s\n",
		  ":8: fleet_reserve of the policy (2/s) is a part of floor in [fleet] (1/s), "
		  "which",
		  true },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		FILE *err;

		cr_assert(read_scenario(bad[i].text), "%s: %s", bad[i].text, said);
		err = fmemopen(said, sizeof(said), "w");
		cr_expect_not(sim_cell_make(&cell, &file,
		                            bad[i].is_of_variant ? file.variants : NULL, NULL, NULL,
		                            "default", err));
		fclose(err);
		cr_expect(strstr(said, bad[i].told), "'%s' is not in: %s", bad[i].told, said);
		cr_expect_eq(strncmp(said, path, strlen(path)), 0, "%s", said);
	}
}

Test(sim_file, a_policy_that_is_none)
{
	struct sim_settings more = { 0 };
	char told[512] = "", unused[8];
	FILE *err = fmemopen(told, sizeof(told), "w");
	struct text why;

	text_start(&why, unused, sizeof(unused));
	cr_assert(read_scenario(LEAST), "%s", said);
	cr_assert(sim_settings_put(&more, "flor", "5/s", &why));
	cr_expect_not(sim_cell_make(&cell, &file, NULL, &more, NULL, "default", err));
	cr_expect_not(sim_cell_make(&cell, &file, NULL, NULL, path, "other", err));
	fclose(err);
	cr_expect(strstr(told, "'policy.flor = 5/s': "), "%s", told);
	cr_expect(strstr(told, "no section [destination other]") || strstr(told, path), "%s", told);
}
