/* SPDX-License-Identifier: MIT */
/* Keys without effect are noted, wherever they stand, and nothing else is. */
#include "config_fixture.h"
#include "config/effect.h"

static struct origins origins;

static int notes_on(const char *text)
{
	read_well(text, &origins);
	return effect_check(&config, &origins, path, note);
}

TestSuite(effect, .init = make_folder, .fini = remove_folder);

Test(effect, a_key_of_another_strategy_is_noted_with_its_line)
{
	cr_expect_eq(notes_on("[destination default]\nstrategy = window\ncapacity = 20\n"), 1);
	expect_said("3: note: capacity has no effect here: it takes strategy = bucket or adaptive");
	cr_expect_eq(notes_on("[destination default]\ncapacity = 20\n"), 0);
	cr_expect_eq(notes_on("[destination default]\nstrategy = adaptive\ncapacity = 20\n"), 0);
}

Test(effect, breaker_keys_need_the_breaker)
{
	cr_expect_eq(notes_on("[destination default]\nbreaker_open = 7s\nbreaker_volume = 3\n"), 2);
	cr_expect_eq(notes_on("[destination default]\nbreaker_open = 7s\nbreaker = on\n"), 0);
	cr_expect_eq(notes_on("[destination default]\nbreaker = on\nbreaker_rate = 0\n"
	                      "breaker_window = 7s\n"),
	             1);
	expect_said("4: note: breaker_window has no effect here: it takes breaker = on and a "
	            "breaker_rate above 0");
}

Test(effect, keys_of_http_need_a_status_that_is_read)
{
	cr_expect_eq(notes_on("[destination default]\nhttp = off\nhttp_status = 502\n"
	                      "http_deny = reset\nretry_after_cap = 5s\n"),
	             3);
	expect_said("3: note: http_status has no effect here: it takes http = on");
	expect_said("4: note: http_deny has no effect here: it takes http = on and an "
	            "http_status other than none");
	expect_said("5: note: retry_after_cap has no effect here");
	cr_expect_eq(notes_on("[destination default]\nhttp = on\nhttp_status = none\n"
	                      "http_deny = reset\nretry_after_cap = 5s\n"),
	             2);
	for (int i = 0; i < 2; i++)
		cr_expect_eq(notes_on(i == 0 ? "[destination default]\nhttp = on\n"
		                               "http_status = 502\nhttp_deny = reset\n"
		                               "retry_after_cap = 5s\n"
		                             : "[destination default]\nhttp_status = 502\n"
		                               "http_deny = reset\nretry_after_cap = 5s\n"),
		             0);
	cr_expect_eq(notes_on("[destination default]\nhttp = off\nhttp_status = none\n"), 0);
	cr_expect_eq(notes_on("[destination default]\nhttp = off\nhttp_deny = reset\n"
	                      "[destination a]\nmatch = a.example:80\nhttp = on\n"),
	             0);
}

Test(effect, a_lease_takes_a_fleet_and_stands_for_the_strategy)
{
	static const char fleet[] =
	    "[fleet]\nredis = unix:/run/redis.sock\n[destination default]\n";
	char text[256];

	cr_expect_eq(notes_on("[destination default]\nfleet = on\n"), 1);
	expect_said("2: note: fleet has no effect here: it takes a [fleet] section that names its "
	            "redis");
	cr_expect_eq(notes_on("[destination default]\nfleet_reserve = 5/s\nfleet_n_max = 9\n"), 2);
	(void)snprintf(text, sizeof(text), "%sfleet = on\nfleet_reserve = 5/s\nfleet_n_max = 9\n",
	               fleet);
	cr_expect_eq(notes_on(text), 0);
	(void)snprintf(text, sizeof(text), "%sfleet = on\ncapacity = 20\nstrategy = window\n",
	               fleet);
	cr_expect_eq(notes_on(text), 2);
	expect_said("5: note: capacity has no effect here: it takes fleet = off");
	expect_said("6: note: strategy has no effect here: it takes fleet = off");
}

Test(effect, burst_needs_a_rate)
{
	cr_expect_eq(notes_on("[destination default]\nburst = 20\n"), 1);
	expect_said("2: note: burst has no effect here: it takes a rate above 0");
	cr_expect_eq(notes_on("[destination default]\nburst = 20\nrate = 5/s\n"), 0);
}

Test(effect, start_burst_needs_a_spread)
{
	cr_expect_eq(notes_on("[destination default]\nstart_burst = 20\n"), 1);
	cr_expect_eq(notes_on("[destination default]\nstart_burst = 20\nstart_spread = 5s\n"), 0);
}

Test(effect, reply_errno_needs_a_reply_timeout)
{
	cr_expect_eq(notes_on("[destination default]\nreply_errno = ECONNRESET\n"), 1);
	expect_said("2: note: reply_errno has no effect here: it takes a reply_timeout above 0");
	cr_expect_eq(notes_on("[destination default]\nreply_errno = ECONNRESET\n"
	                      "reply_timeout = 9s\n"),
	             0);
	cr_expect_eq(notes_on("[destination default]\nconnect_timeout = 9s\nhold = 0\n"), 0);
}

Test(effect, what_a_section_inherits_may_have_its_effect_there)
{
	cr_expect_eq(notes_on("[destination default]\nbreaker_open = 7s\n"
	                      "[destination a]\nmatch = a.example\nbreaker = on\n"),
	             0);
	cr_expect_eq(notes_on("[destination default]\nbreaker_open = 7s\n"
	                      "[destination a]\nmatch = a.example\nbreaker = on\n"
	                      "breaker_open = 9s\n"),
	             1);
	expect_said("2: note: breaker_open");
	cr_expect_eq(notes_on("[destination default]\nbreaker = on\n"
	                      "[destination a]\nmatch = a.example\nbreaker = off\n"
	                      "breaker_open = 9s\n"),
	             1);
	expect_said("6: note: breaker_open");
}

/* A preset is one system's rule, whole; and a file may say what holds anyway, as the sample does.
 */
Test(effect, presets_and_defaults_are_not_noted)
{
	cr_expect_eq(notes_on("[destination default]\npreset = aws\nstrategy = throttle\n"), 0);
	cr_expect_eq(notes_on("[destination default]\nratio = 20%\nbreaker_open = 30s\n"), 0);
	cr_expect_eq(notes_on("[destination default]\nratio = 21%\n"), 1);
}

/* Every strategy has keys, and every key of one is noted under the others that lack it. */
Test(effect, each_strategy_has_its_own)
{
	static const char *const own[] = {
		"bucket capacity=20", "window reserve=extra",     "adaptive capacity=20",
		"throttle k=3",       "probabilistic target=20%", "concurrency min_concurrency=4",
	};
	char text[128], name[16];

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		const char *key = strchr(own[i], ' ') + 1;

		for (size_t j = 0; j < sizeof(own) / sizeof(*own); j++) {
			bool both = strcmp(key, strchr(own[j], ' ') + 1) == 0;

			snprintf(name, sizeof(name), "%.*s", (int)strcspn(own[j], " "), own[j]);
			snprintf(text, sizeof(text), "[destination default]\nstrategy = %s\n%s\n",
			         name, key);
			cr_expect_eq(notes_on(text), !both, "%s", text);
		}
	}
}
