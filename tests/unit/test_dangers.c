/* SPDX-License-Identifier: MIT */
/* Values that are legal and risky are told, with the reason and the usual number; others are not.
 */
#define RMID_FORCED rmid_forced
static const char *rmid_forced = "/nowhere";

#include "tool/dangers.c"

#include "config_fixture.h"

static struct origins origins;

static int told_of(const char *text)
{
	read_well(text, &origins);
	return dangers_check(&config, &origins, path, note);
}

TestSuite(dangers, .init = make_folder, .fini = remove_folder);

Test(dangers, each_has_its_line_its_reason_and_what_is_usual)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "strategy = window\nratio = 51%\n",
		  "3: risky: ratio = 51%: retries alone may add that much to the load of a server "
		  "that is failing; usual: 10% to 20%" },
		{ "strategy = concurrency\nratio = 0.9\n", "3: risky: ratio = 90%" },
		{ "strategy = probabilistic\ntarget = 60%\n", "3: risky: target = 60%" },
		{ "earn = 100%\n", "2: risky: earn = 100%" },
		{ "capacity = 101\n",
		  "2: risky: capacity = 101: that is above the capacity of [budget], which all "
		  "destinations share, and so never comes; usual: 10 here, and 100 in [budget]" },
		{ "capacity = 1000\n[budget]\ncapacity = 1000\n",
		  "2: risky: capacity = 1000: a full bucket may go at once" },
		{ "probe = 1h\n", "2: risky: probe = 1h" },
		{ "hold = 2s\n", "2: risky: hold = 2s: a thread that retries does nothing else for "
		                 "that long, in each call; usual: 250ms" },
		{ "start_spread = 11s\n",
		  "2: risky: start_spread = 11s: no call waits longer than 10s, and meanwhile" },
		{ "jitter = none\n", "2: risky: jitter = none: all who failed at the same moment "
		                     "come back at the same moment; usual: full or equal" },
		{ "breaker = on\nbreaker_failures = 1\n", "3: risky: breaker_failures = 1" },
		{ "breaker = on\nbreaker_volume = 1\n", "3: risky: breaker_volume = 1" },
		{ "breaker = on\nbreaker_open = 1h\n", "3: risky: breaker_open = 1h" },
		{ "floor = 3/s\n", "2: risky: floor = 3/s: that is above the floor of [budget]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[256];

		(void)snprintf(text, sizeof(text), "[destination default]\n%s", cases[i].text);
		cr_expect_eq(told_of(text), 1, "%s: %s", cases[i].text, said);
		expect_said(cases[i].said);
	}
}

Test(dangers, a_fleet_has_its_own)
{
	static const char on[] = "redis = a:1\n[destination default]\nfleet = on\n";
	char text[256];

	(void)snprintf(text, sizeof(text), "[fleet]\n%sfleet_reserve = 101/s\nfleet_n_max = 1\n",
	               on);
	cr_expect_eq(told_of(text), 2);
	expect_said("5: risky: fleet_reserve = 101/s");
	expect_said(
	    "6: risky: fleet_n_max = 1: each host without a lease then uses the whole reserve");
	(void)snprintf(text, sizeof(text), "[fleet]\nsync = 5s\nlease = 14s\n%s", on);
	cr_expect_eq(told_of(text), 1);
	expect_said("3: risky: lease = 14s: one answer that is late ends it");
	(void)snprintf(text, sizeof(text), "[fleet]\nsync = 6s\n%s", on);
	cr_expect_eq(told_of(text), 1);
	expect_said("2: risky: lease = 15s");
	(void)snprintf(text, sizeof(text), "[fleet]\nsync = 5s\nlease = 15s\n%s", on);
	cr_expect_eq(told_of(text), 0);
	cr_expect_eq(told_of("[fleet]\nsync = 6s\n"), 0, "there is no fleet");
}

Test(dangers, what_is_usual_or_has_no_effect_is_not_told)
{
	static const char *const texts[] = {
		"strategy = window\nratio = 50%\n",
		"ratio = 100%\n", /* not of this strategy: effect_check() says so */
		"breaker_failures = 1\nbreaker_volume = 1\n", /* no breaker */
		"breaker = on\nbreaker_failures = 0\n",       /* it does not open by these */
		"breaker = on\nbreaker_rate = 0\nbreaker_volume = 1\n",
		"jitter = decorrelated\nhold = 1s\nprobe = 5m\ncapacity = 100\n",
		"capacity = 500\n[budget]\ncapacity = 500\n",
		"floor = 2/s\n",
		"preset = aws\n",
		"preset = linkerd\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char text[256];

		(void)snprintf(text, sizeof(text), "[destination default]\n%s", texts[i]);
		cr_expect_eq(told_of(text), 0, "%s: %s", texts[i], said);
	}
	cr_expect_eq(told_of(""), 0);
}

Test(dangers, what_all_destinations_share_has_its_own)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "earn = 60%\n",
		  "2: risky: earn = 60%: each success pays for that much of a "
		  "retry, and servers that half fail get it all; usual: 10% to 20%\n" },
		{ "earn = 1000%\n", "2: risky: earn = 1000%" },
		{ "capacity = 5001\n", "2: risky: capacity = 5001: a full bucket may go at once" },
		{ "capacity = 1\n", "2: risky: capacity = 1: all destinations share it, and each "
		                    "one's own capacity is above it; usual: 100" },
		{ "floor = 100/s\n", "2: risky: floor = 100/s: time alone lets so many retries go "
		                     "while nothing answers; usual: 2/s" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[256];

		(void)snprintf(text, sizeof(text), "[budget]\n%s", cases[i].text);
		cr_expect_eq(told_of(text), 1, "%s: %s", cases[i].text, said);
		expect_said(cases[i].said);
	}
	cr_expect_eq(told_of("[budget]\nearn = 50%\ncapacity = 5000\nfloor = 20/s\n"), 0, "%s",
	             said);
	cr_expect_eq(told_of("[budget]\ncapacity = 10\n"), 0, "%s", said);
}

/* 10 is legal for a share, and is 1000 %. */
Test(dangers, a_missing_percent_sign_is_asked_for)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "[budget]\nearn = 10\n", "usual: 10% to 20%; did you mean 10%?\n" },
		{ "[destination default]\nearn = 10\n", "usual: 10% to 20%; did you mean 10%?\n" },
		{ "[destination default]\nearn = 2.5\n", "did you mean 2.5%?\n" },
		{ "[destination default]\nstrategy = probabilistic\ntarget = 1\n",
		  "usual: 10%; did you mean 1%?\n" },
		{ "[destination default]\nearn = 1000%\n", "usual: 10% to 20%\n" },
		{ "[destination default]\nearn = 0.6\n", "usual: 10% to 20%\n" },
		{ "[destination default]\nfloor = 3/s\n", "and 2/s in [budget]\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(told_of(cases[i].text), 1, "%s: %s", cases[i].text, said);
		expect_said(cases[i].said);
	}
}

/* Whichever of the two lines makes it so. */
Test(dangers, a_floor_is_held_against_that_of_the_process)
{
	cr_expect_eq(told_of("[budget]\nfloor = 0.1/s\n"), 1);
	expect_said("2: risky: floor = 0.1/s: all destinations share it");
	cr_expect_eq(told_of("[budget]\nfloor = 20/s\n[destination default]\nfloor = 3/s\n"), 0);
	cr_expect_eq(told_of("[destination a]\nmatch = a:1\nfloor = 3/s\n"
	                     "[destination b]\nmatch = b:1\nfloor = 4/s\n"),
	             2);
	expect_said("6: risky: floor = 4/s");
	cr_expect_eq(told_of("[destination default]\nfloor = 3/s\n[destination a]\nmatch = a:1\n"),
	             1);
}

/* Memory that nobody has mapped is then gone, and with it what a loop of short programs shares. */
Test(dangers, a_kernel_that_removes_what_nobody_has_mapped)
{
	static const char scope_user[] = "[retrybudget]\nscope = user\n";
	char setting[] = "/tmp/rmid-forced-XXXXXX";
	int fd = mkstemp(setting);

	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, "1\n", 2), 2);
	rmid_forced = setting;
	cr_expect_eq(told_of(scope_user), 1);
	expect_said("2: risky: scope = user: kernel.shm_rmid_forced = 1 takes a share away");
	cr_expect_eq(told_of("[retrybudget]\nscope = process\n"), 0);
	cr_assert_eq(pwrite(fd, "0\n", 2, 0), 2);
	cr_expect_eq(told_of(scope_user), 0);
	close(fd);
	unlink(setting);
}
