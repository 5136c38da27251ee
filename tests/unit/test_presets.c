/* SPDX-License-Identifier: MIT */
/*
 * What each preset fills in. That it answers as the system it is named after is held against traces
 * of the published rules in test_simulate.c.
 */
#include "budget_fixture.h"
#include "config_fixture.h"

#include "budget/budget_wait.h"
#include "budget/strategy.h"
#include "budget/streak.h"
#include "config/presets.h"
#include "config/value.h"

static struct world world;

/* The section of a preset as the parser reads it, without floor and probe. */
static void take_preset(const char *preset)
{
	char text[128];

	world_start(&world, 7);
	snprintf(text, sizeof(text), "[destination default]\npreset = %s\nfloor = 0\n", preset);
	cr_assert_eq(read_text(text), 0, "%s", said);
	world.policy = config.policies[0];
	world.policy.probe = INT64_MAX / 2;
	world.process_rule = (struct bucket_rule) { .capacity = BUCKET_CAPACITY_MAX,
		                                    .floor = BUCKET_FLOOR_MAX,
		                                    .start = PPM_WHOLE };
}

/* As the trace of `sre` counts chances (tests/unit/vectors). */
Test(presets, chances_are_in_thousandths, .init = make_folder, .fini = remove_folder)
{
	int64_t limit;

	take_preset("sre");
	budget_level(&world.account, START_OF_TIME, &limit);
	cr_expect_eq(limit, MT_PER_TOKEN);
}

/* What the systems call the longest first delay, and their cap. */
Test(presets, the_delays_are_the_published_ones, .init = make_folder, .fini = remove_folder)
{
	static const struct {
		const char *name;
		int64_t first, cap;
	} known[] = {
		{ "grpc", 100 * NS_PER_MS, SECONDS(1) },
		{ "aws", SECONDS(1), SECONDS(20) },
		{ "aws-2026", 50 * NS_PER_MS, SECONDS(20) },
		{ "envoy", 25 * NS_PER_MS, SECONDS(0.25) },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		take_preset(known[i].name);
		cr_expect_eq(backoff_ceiling(&world.policy.backoff, 1), known[i].first, "%s",
		             known[i].name);
		cr_expect_eq(backoff_ceiling(&world.policy.backoff, 2), 2 * known[i].first, "%s",
		             known[i].name);
		cr_expect_eq(backoff_ceiling(&world.policy.backoff, 60), known[i].cap, "%s",
		             known[i].name);
	}
}

Test(presets, a_key_of_the_section_wins_wherever_it_stands, .init = make_folder,
     .fini = remove_folder)
{
	cr_assert_eq(read_text("[destination default]\ncapacity = 33\npreset = grpc\n"
	                       "threshold = 20%\n"),
	             0, "%s", said);
	cr_expect_eq(config.policies[0].bucket.capacity, 33000);
	cr_expect_eq(config.policies[0].bucket.threshold, 200000);
	cr_expect_eq(config.policies[0].charge, CHARGE_FAILURE);
	cr_expect_eq(config.policies[0].backoff.cap, NS_PER_S);
}

Test(presets, what_is_not_listed_stays_as_it_was, .init = make_folder, .fini = remove_folder)
{
	static struct config plain;

	config_defaults(&plain);
	for (enum preset preset = PRESET_NONE + 1; preset < PRESET_COUNT; preset++) {
		cr_expect_null(preset_value(preset, KEY_DESTINATION_floor));
		cr_expect_null(preset_value(preset, KEY_DESTINATION_probe));
		cr_expect_not_null(preset_value(preset, KEY_DESTINATION_strategy));
	}
	cr_assert_eq(read_text("[destination a]\nmatch = a.example\npreset = finagle\n"
	                       "[destination default]\nprobe = 7s\nfloor = 3/s\nwindow = 40s\n"),
	             0, "%s", said);
	cr_expect_eq(config.policies[1].probe, SECONDS(7));
	cr_expect_eq(config.policies[1].bucket.floor, 3000);
	cr_expect_eq(config.policies[1].window, SECONDS(10), "the preset's, not the default's");
	cr_expect_eq(config.policies[0].window, SECONDS(40));
	cr_expect_eq(config.policies[0].strategy, STRATEGY_BUCKET);
}

Test(presets, a_section_inherits_what_the_default_ones_filled_in, .init = make_folder,
     .fini = remove_folder)
{
	cr_assert_eq(read_text("[destination a]\nmatch = a.example\ncost = 7\n"
	                       "[destination default]\npreset = aws\ncost = 6\n"
	                       "[destination b]\nmatch = b.example\n"),
	             0, "%s", said);
	cr_expect_eq(config.policies[1].cost, 7000);
	cr_expect_eq(config.policies[1].cost_timeout, 10000);
	cr_expect_eq(config.policies[2].cost, 6000);
	cr_expect_eq(config.policies[2].bucket.capacity, 500000);
}

/* Every value in the table is one that the key takes. */
Test(presets, every_value_is_good)
{
	static struct policy policy;
	int values = 0;

	for (int preset = 0; preset < PRESET_COUNT; preset++) {
		for (int i = 0; i < KEY_COUNT; i++) {
			const char *value = preset_value((enum preset)preset, (enum key_index)i);
			char buffer[128];
			struct text why;

			if (!value)
				continue;
			text_start(&why, buffer, sizeof(buffer));
			cr_expect(value_store(&config_keys[i], &policy, value, &why), "%s", buffer);
			values++;
		}
	}
	cr_expect_gt(values, 50);
}

/* With the file's own floor and probe, as every destination has them, none locks anything out. */
Test(presets, none_locks_out, .init = make_folder, .fini = remove_folder)
{
	for (int preset = 1; preset < PRESET_COUNT; preset++) {
		struct policy defaults;
		char text[128];
		int64_t now = START_OF_TIME, last = now;
		struct text name;

		text_start(&name, text, sizeof(text));
		text_string(&name, "[destination default]\npreset = ");
		world_start(&world, 7);
		world.policy.preset = preset;
		value_print(&config_keys[KEY_DESTINATION_preset], &world.policy, &name);
		text_string(&name, "\n");
		cr_assert_eq(read_text(text), 0, "%s", said);
		defaults = config.policies[0];
		world.policy = defaults;
		budget_failure(&world.account, false, now, now, &world.random);
		for (int i = 0; i < 60000; i++, now += 10 * NS_PER_MS) {
			if (budget_admit(&world.account, world.policy.cost, now) != REFUSED) {
				cr_assert_leq(now - last, world.policy.probe + SECONDS(1), "%s",
				              text);
				last = now;
				budget_failure(&world.account, true, now, now, &world.random);
			}
		}
		cr_assert_leq(now - last, world.policy.probe + SECONDS(1), "%s", text);
	}
}
