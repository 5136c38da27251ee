/* SPDX-License-Identifier: MIT */
/* Values: what each unit means, what is refused, and that a printed value reads back the same. */
#include "config/keys.h"
#include "config/value.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <syslog.h>

struct good {
	enum key_index key;
	const char *text;
	int64_t value;
	const char *printed;
};

static const struct good goods[] = {
	{ KEY_DESTINATION_base, "250ms", 250 * NS_PER_MS, "250ms" },
	{ KEY_DESTINATION_base, "1500us", 1500000, "1500us" },
	{ KEY_DESTINATION_base, "1.5s", 1500 * NS_PER_MS, "1500ms" },
	{ KEY_DESTINATION_base, "0.001s", NS_PER_MS, "1ms" },
	{ KEY_DESTINATION_base, "0", 0, "0" },
	{ KEY_DESTINATION_base, "1h", 3600 * NS_PER_S, "1h" },
	{ KEY_DESTINATION_horizon, "1m", 60 * NS_PER_S, "60s" },
	{ KEY_DESTINATION_horizon, "120s", 120 * NS_PER_S, "2m" },
	{ KEY_DESTINATION_horizon, "24h", 86400 * NS_PER_S, "24h" },
	{ KEY_DESTINATION_min, "0", 0, "0" },
	{ KEY_DESTINATION_min, "0ms", 0, "0" },
	{ KEY_DESTINATION_min, "0.5us", 500, "0.5us" },
	{ KEY_DESTINATION_min, "0.000001h", 3600000, "3600us" },
	{ KEY_GENERAL_reload, "5m", 300 * NS_PER_S, "5m" },
	{ KEY_DESTINATION_earn, "10%", 100, "10%" },
	{ KEY_DESTINATION_earn, "0.1", 100, "10%" },
	{ KEY_DESTINATION_earn, "12.5%", 125, "12.5%" },
	{ KEY_DESTINATION_earn, "1", 1000, "100%" },
	{ KEY_DESTINATION_earn, "1000%", 10000, "1000%" },
	{ KEY_DESTINATION_start, "100%", PPM_WHOLE, "100%" },
	{ KEY_DESTINATION_start, "1", PPM_WHOLE, "100%" },
	{ KEY_DESTINATION_start, "0.001%", 10, "0.001%" },
	{ KEY_DESTINATION_threshold, "0.5", 500000, "50%" },
	{ KEY_DESTINATION_floor, "2/s", 2000, "2/s" },
	{ KEY_DESTINATION_floor, "0.2/s", 200, "0.2/s" },
	{ KEY_DESTINATION_floor, "12/min", 200, "0.2/s" },
	{ KEY_DESTINATION_floor, "1/min", 17, "0.017/s" },
	{ KEY_DESTINATION_floor, "36/h", 10, "0.01/s" },
	{ KEY_DESTINATION_floor, "0/s", 0, "0/s" },
	{ KEY_DESTINATION_floor, "0", 0, "0/s" },
	{ KEY_DESTINATION_capacity, "10", 10000, "10" },
	{ KEY_DESTINATION_capacity, "1.005", 1005, "1.005" },
	{ KEY_DESTINATION_capacity, "1000000", 1000000000, "1000000" },
	{ KEY_DESTINATION_cost, "0.5", 500, "0.5" },
	{ KEY_DESTINATION_factor, "1.5", 1500, "1.5" },
	{ KEY_DESTINATION_factor, "2", 2000, "2" },
};

static int64_t field_of(const struct key *key, const void *fields)
{
	const char *field = (const char *)fields + key->offset;
	int64_t wide;
	int32_t narrow;

	if (key->size == sizeof(wide)) {
		memcpy(&wide, field, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, field, sizeof(narrow));
	return narrow;
}

static struct config config;

static bool put(enum key_index index, const char *text, char *said, size_t size)
{
	const struct key *key = &config_keys[index];
	struct text why;

	text_start(&why, said, size);
	return value_store(key, section_fields(&config, key->section, 0), text, &why);
}

static const char *shown(enum key_index index)
{
	static char buffer[256];
	const struct key *key = &config_keys[index];
	struct text text;

	text_start(&text, buffer, sizeof(buffer));
	value_print(key, section_fields(&config, key->section, 0), &text);
	return buffer;
}

Test(config_value, units)
{
	char said[256];

	for (size_t i = 0; i < sizeof(goods) / sizeof(*goods); i++) {
		const struct good *good = &goods[i];
		const struct key *key = &config_keys[good->key];
		void *fields = section_fields(&config, key->section, 0);

		cr_expect(put(good->key, good->text, said, sizeof(said)), "%s: %s", good->text,
		          said);
		cr_expect_eq(field_of(key, fields), good->value, "%s %s is %lld", key->name,
		             good->text, (long long)field_of(key, fields));
		cr_expect_str_eq(shown(good->key), good->printed);
		cr_expect(put(good->key, good->printed, said, sizeof(said)), "%s", said);
		cr_expect_eq(field_of(key, fields), good->value, "%s again", good->printed);
	}
}

struct bad {
	enum key_index key;
	const char *text, *why;
};

static const struct bad bads[] = {
	{ KEY_DESTINATION_base, "", "not a time" },
	{ KEY_DESTINATION_base, "10", "not a time with its unit" },
	{ KEY_DESTINATION_base, "ms", "not a time" },
	{ KEY_DESTINATION_base, "10 ms", "not a time" },
	{ KEY_DESTINATION_base, "10sec", "not a time" },
	{ KEY_DESTINATION_base, "-1s", "not a time" },
	{ KEY_DESTINATION_base, "+1s", "not a time" },
	{ KEY_DESTINATION_base, "1,5s", "not a time" },
	{ KEY_DESTINATION_base, "1.s", "not a time" },
	{ KEY_DESTINATION_base, ".5s", "not a time" },
	{ KEY_DESTINATION_base, "1e3s", "not a time" },
	{ KEY_DESTINATION_base, "0x10s", "not a time" },
	{ KEY_DESTINATION_base, "nan", "not a time" },
	{ KEY_DESTINATION_base, "inf", "not a time" },
	{ KEY_DESTINATION_base, "1.0000000s", "not a time" },
	{ KEY_DESTINATION_min, "0.0000001us", "not a time" },
	{ KEY_DESTINATION_min, "0.0001us", "not a time" },
	{ KEY_DESTINATION_cap, "0", "out of range: 1ms to 1h" },
	{ KEY_DESTINATION_base, "2h", "out of range: 0 to 1h" },
	{ KEY_DESTINATION_base, "9223372036854775807h", "out of range: 0 to 1h" },
	{ KEY_DESTINATION_base, "9223372036854775808us", "out of range" },
	{ KEY_DESTINATION_base, "99999999999999999999999999999999s", "out of range" },
	{ KEY_DESTINATION_probe, "0", "out of range: 100ms to 1h" },
	{ KEY_DESTINATION_probe, "99ms", "out of range: 100ms to 1h" },
	{ KEY_DESTINATION_earn, "10 %", "not a share such as 10% or 0.1" },
	{ KEY_DESTINATION_earn, "10%%", "not a share" },
	{ KEY_DESTINATION_earn, "0.0001", "not a share" },
	{ KEY_DESTINATION_start, "50", "out of range: 0% to 100%; did you mean 50%?" },
	{ KEY_DESTINATION_ratio, "80", "out of range: 0% to 1000%; did you mean 80%?" },
	{ KEY_DESTINATION_earn, "12.5", "; did you mean 12.5%?" },
	{ KEY_BUDGET_earn, "20", "; did you mean 20%?" },
	{ KEY_DESTINATION_sample, "25", "; did you mean 25%?" },
	{ KEY_DESTINATION_breaker_rate, "50", "; did you mean 50%?" },
	{ KEY_DESTINATION_start, "101%", "out of range: 0% to 100%" },
	{ KEY_DESTINATION_threshold, "95%", "out of range: 0% to 90%" },
	{ KEY_DESTINATION_floor, "2", "not a rate such as 2/s, 12/min or 30/h" },
	{ KEY_DESTINATION_floor, "2/d", "not a rate" },
	{ KEY_DESTINATION_floor, "1/h", "not a rate" },
	{ KEY_DESTINATION_floor, "10001/s", "out of range: 0/s to 10000/s" },
	{ KEY_DESTINATION_floor, "9223372036854775807/h", "out of range" },
	{ KEY_DESTINATION_capacity, "0", "out of range: 1 to 1000000" },
	{ KEY_DESTINATION_capacity, "0.5", "out of range: 1 to 1000000" },
	{ KEY_DESTINATION_capacity, "9223372036854775807", "out of range: 1 to 1000000" },
	{ KEY_DESTINATION_capacity, "ten", "not a number" },
	{ KEY_DESTINATION_factor, "0.9", "out of range: 1 to 100" },
	{ KEY_LOG_trace, "1.0", "not a whole number" },
	{ KEY_LOG_trace, "17", "out of range: 0 to 16" },
	{ KEY_LOG_trace, "4294967296", "out of range: 0 to 16" },
	{ KEY_GENERAL_mode, "Enforce", "not one of: enforce | observe | off" },
	{ KEY_DESTINATION_deny_errno, "EPERM",
	  "not one of: last | ECONNREFUSED | ETIMEDOUT | EHOSTUNREACH" },
	{ KEY_GENERAL_share, "", "not a name" },
	{ KEY_GENERAL_share, "../x", "not a name" },
	{ KEY_GENERAL_share, "..", "not a name" },
	{ KEY_GENERAL_share, "a/b", "not a name" },
	{ KEY_LOG_socket, "dev/log", "not an absolute path" },
	{ KEY_FLEET_redis, "", "not none, or at most eight servers such as unix:/run/redis.sock" },
	{ KEY_FLEET_redis, "10.0.0.5", "not none, or at most eight servers" },
	{ KEY_FLEET_password_file, "secret", "not none, or an absolute path" },
	{ KEY_FLEET_sync, "10ms", "out of range: 100ms to 60s" },
	{ KEY_DESTINATION_fleet_n_max, "0", "out of range: 1 to 1000000" },
	{ KEY_BUDGET_earn, "10% # ten", "begins with a blank and ';'" },
};

Test(config_value, refused)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(*bads); i++) {
		char said[256], before[sizeof(config)];

		config_defaults(&config);
		memcpy(before, &config, sizeof(config));
		cr_expect_not(put(bads[i].key, bads[i].text, said, sizeof(said)), "took %s",
		              bads[i].text);
		cr_expect(strstr(said, bads[i].why), "%s: %s", bads[i].text, said);
		cr_expect(strncmp(said, config_keys[bads[i].key].name,
		                  strlen(config_keys[bads[i].key].name)) == 0);
		cr_expect_eq(memcmp(before, &config, sizeof(config)), 0, "%s left a mark",
		             bads[i].text);
	}
}

Test(config_value, names_and_paths_have_room_for_their_end)
{
	char text[200], said[256];

	memset(text, 'a', sizeof(text));
	text[63] = '\0';
	cr_expect(put(KEY_GENERAL_share, text, said, sizeof(said)));
	cr_expect_str_eq(config.general.share, text);
	text[63] = 'a';
	text[64] = '\0';
	cr_expect_not(put(KEY_GENERAL_share, text, said, sizeof(said)));
	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[107] = '\0';
	cr_expect(put(KEY_LOG_socket, text, said, sizeof(said)));
	cr_expect_str_eq(config.log.socket, text);
	text[107] = 'a';
	text[108] = '\0';
	cr_expect_not(put(KEY_LOG_socket, text, said, sizeof(said)));
}

/* Every bound of the table can be written down as it is printed. */
Test(config_value, bounds_of_the_table)
{
	for (int i = 0; i < KEY_COUNT; i++) {
		const struct key *key = &config_keys[i];
		char bounds[256], said[256], *high;
		struct text text;

		if (key->type >= TYPE_NAME)
			continue;
		text_start(&text, bounds, sizeof(bounds));
		value_describe(key, &text);
		high = strstr(bounds, " to ");
		cr_assert_not_null(high);
		*high = '\0';
		cr_expect(put(i, bounds, said, sizeof(said)), "%s", said);
		cr_expect(put(i, high + 4, said, sizeof(said)), "%s", said);
		cr_expect_eq(field_of(key, section_fields(&config, key->section, 0)), key->max);
	}
}

Test(config_value, lists_of_codes)
{
	static const char *const good[] = { "none", "503", "429, 500, 503",
		                            "400, 401, 402, 403, 404, 599" };
	static const char *const bad[] = {
		"",    "503,", "503 429",  "5xx", "399",
		"600", "-503", "503,,429", "all", "400,401,402,403,404,405,406"
	};
	const struct policy *policy = &config.policies[0];
	char said[256];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_expect(put(KEY_DESTINATION_http_status, good[i], said, sizeof(said)), "%s",
		          said);
		cr_expect_str_eq(shown(KEY_DESTINATION_http_status), good[i]);
	}
	cr_expect(policy_fails_status(policy, 599));
	cr_expect(policy_fails_status(policy, 400));
	cr_expect_not(policy_fails_status(policy, 503));
	cr_expect_not(policy_fails_status(policy, 0));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(put(KEY_DESTINATION_http_status, bad[i], said, sizeof(said)), "%s",
		              bad[i]);
	cr_expect_str_eq(shown(KEY_DESTINATION_http_status), good[3]);
	cr_expect(put(KEY_DESTINATION_http_status, "503,429 , 500", said, sizeof(said)), "%s",
	          said);
	cr_expect_str_eq(shown(KEY_DESTINATION_http_status), "503, 429, 500");
}

Test(config_value, words_of_the_table)
{
	char said[256];

	cr_expect(put(KEY_LOG_facility, "local7", said, sizeof(said)));
	cr_expect_eq(config.log.facility, LOG_LOCAL7);
	cr_expect(put(KEY_DESTINATION_deny_errno, "ETIMEDOUT", said, sizeof(said)));
	cr_expect_eq(config.policies[0].deny_errno, ETIMEDOUT);
	cr_expect_str_eq(shown(KEY_DESTINATION_deny_errno), "ETIMEDOUT");
	cr_expect(put(KEY_DESTINATION_deny_errno, "last", said, sizeof(said)));
	cr_expect_eq(config.policies[0].deny_errno, 0);
	cr_expect(put(KEY_LOG_attempts, "on", said, sizeof(said)));
	cr_expect_eq(config.log.attempts, 1);
}

Test(config_value, nearest_names)
{
	cr_expect_eq(edit_distance("", "abc"), 3);
	cr_expect_eq(edit_distance("kitten", "sitting"), 3);
	cr_expect_eq(edit_distance("floor", "floor"), 0);
	cr_expect_str_eq(nearest_key(SECTION_DESTINATION, "flor")->name, "floor");
	cr_expect_str_eq(nearest_key(SECTION_DESTINATION, "holds")->name, "hold");
	cr_expect_str_eq(nearest_key(SECTION_LOG, "traces")->name, "trace");
	cr_expect_str_eq(nearest_section("budgets"), "budget");
	cr_expect_str_eq(nearest_section("dest"), "destination");
	cr_expect_str_eq(nearest_section("lgo"), "log");
	cr_expect_null(nearest_section("default"));
	cr_expect_null(nearest_section("orders-db"));
}
