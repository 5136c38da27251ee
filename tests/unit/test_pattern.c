/* SPDX-License-Identifier: MIT */
/* Patterns: what they match, which one wins, and what is refused. */
#include "config/pattern.h"
#include "config/keys.h"
#include "config/match.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct config config;

static void add(int policy, const char *pattern)
{
	char said[256];
	struct text why;
	int twin;

	text_start(&why, said, sizeof(said));
	cr_assert(pattern_add(&config, policy, pattern, strlen(pattern), &twin, &why), "%s", said);
	cr_assert_eq(twin, -1);
}

static int find(const char *name, const char *address, int port)
{
	uint8_t bytes[16] = { [10] = 0xff, [11] = 0xff };
	struct target target = { .name = name, .port = (uint16_t)port };

	if (address) {
		if (inet_pton(AF_INET, address, bytes + 12) != 1)
			cr_assert_eq(inet_pton(AF_INET6, address, bytes), 1);
		target.address = bytes;
	}
	return config_match(&config, &target);
}

/* True if the pattern alone fits. */
static bool fits(const char *pattern, const char *name, const char *address, int port)
{
	config_defaults(&config);
	add(7, pattern);
	return find(name, address, port) == 7;
}

Test(pattern, names)
{
	cr_expect(fits("db.internal:5432", "db.internal", NULL, 5432));
	cr_expect(fits("DB.internal:5432", "db.Internal", NULL, 5432));
	cr_expect(fits("db.internal.:5432", "db.internal", NULL, 5432));
	cr_expect(fits("db.internal:5432", "db.internal.", NULL, 5432));
	cr_expect_not(fits("db.internal:5432", "db.internal", NULL, 5433));
	cr_expect_not(fits("db.internal:5432", "xdb.internal", NULL, 5432));
	cr_expect_not(fits("db.internal:5432", "db.internalx", NULL, 5432));
	cr_expect_not(fits("db.internal", "dbxinternal", NULL, 1));
	cr_expect(fits("*.internal", "a.b.internal", NULL, 1));
	cr_expect_not(fits("*.internal", "internal", NULL, 1));
	cr_expect(fits("db?.x", "db1.x", NULL, 1));
	cr_expect_not(fits("db?.x", "db.x", NULL, 1));
	cr_expect(fits("a*b*c", "aXbYbZc", NULL, 1));
	cr_expect_not(fits("a*b*c", "aXbYbZ", NULL, 1));
	cr_expect(fits("*", "anything", NULL, 1));
	cr_expect(fits("*", NULL, "10.0.0.1", 1));
	cr_expect(fits("*:80", "10.0.0.1", "10.0.0.1", 80));
	cr_expect(fits("*", "[::1]", "::1", 1));
	cr_expect_not(fits("*a*", "[fe80::a]", "fe80::a", 1));
	cr_expect_not(fits("*", "unix:/run/x", NULL, 0));
	cr_expect_not(fits("*", "dns:x", NULL, 0));
}

Test(pattern, ports)
{
	cr_expect(fits("x:*", "x", NULL, 65535));
	cr_expect(fits("x", "x", NULL, 1));
	cr_expect(fits("x:8000-8999", "x", NULL, 8000));
	cr_expect(fits("x:8000-8999", "x", NULL, 8999));
	cr_expect_not(fits("x:8000-8999", "x", NULL, 7999));
	cr_expect_not(fits("x:8000-8999", "x", NULL, 9000));
	cr_expect(fits("x:1-65535", "x", NULL, 65535));
	cr_expect(fits("x:443-443", "x", NULL, 443));
}

Test(pattern, addresses)
{
	cr_expect(fits("10.1.0.0/16:5432", NULL, "10.1.255.255", 5432));
	cr_expect_not(fits("10.1.0.0/16:5432", NULL, "10.2.0.0", 5432));
	cr_expect_not(fits("10.1.0.0/16:5432", NULL, "10.1.0.1", 1));
	cr_expect(fits("10.0.0.0/15", NULL, "10.1.0.1", 5));
	cr_expect_not(fits("10.0.0.0/15", NULL, "10.2.0.1", 5));
	cr_expect(fits("10.1.2.3", NULL, "10.1.2.3", 5));
	cr_expect_not(fits("10.1.2.3", NULL, "10.1.2.2", 5));
	cr_expect(fits("0.0.0.0/0", NULL, "192.0.2.1", 5));
	cr_expect_not(fits("0.0.0.0/0", NULL, "2001:db8::1", 5));
	cr_expect_not(fits("[::]/0", NULL, "192.0.2.1", 5));
	cr_expect(fits("[::]/0", NULL, "2001:db8::1", 5));
	cr_expect(fits("[2001:db8::]/32:443", NULL, "2001:db8:1::1", 443));
	cr_expect(fits("[2001:db8::/32]:443", NULL, "2001:db8:1::1", 443));
	cr_expect(fits("2001:db8::/32:443", NULL, "2001:db8:1::1", 443));
	cr_expect(fits("2001:db8::/32", NULL, "2001:db8:1::1", 443));
	cr_expect_not(fits("[2001:db8::]/32:443", NULL, "2001:db9::1", 443));
	cr_expect(fits("::1", NULL, "::1", 443));
	cr_expect(fits("[::1]:443", NULL, "::1", 443));
	cr_expect(fits("[::ffff:10.1.0.0]/112", NULL, "10.1.3.4", 443));
	cr_expect(fits("::ffff:10.1.3.4", NULL, "10.1.3.4", 443));
	cr_expect(fits("10.1.0.0/16", "db.internal", "10.1.0.9", 1), "the address of a named one");
	cr_expect_not(fits("10.1.0.0/16", "10.1.0.9", NULL, 1));
}

Test(pattern, paths_and_lookups)
{
	cr_expect(fits("unix:/run/cache/*.sock", "unix:/run/cache/a.sock", NULL, 0));
	cr_expect(fits("unix:*", "unix:/run/cache/a.sock", NULL, 0));
	cr_expect(fits("unix:@app?", "unix:@app1", NULL, 0));
	cr_expect(fits("unix:/a:b", "unix:/a:b", NULL, 0));
	cr_expect_not(fits("unix:/RUN/x", "unix:/run/x", NULL, 0));
	cr_expect_not(fits("unix:/run/x", "unix:/run/xy", NULL, 0));
	cr_expect(fits("dns:*.internal", "dns:DB.internal", NULL, 0));
	cr_expect(fits("dns:*.internal", "dns:db.internal.", NULL, 0));
	cr_expect(fits("DNS:*.internal", "dns:db.internal", NULL, 0));
	cr_expect_not(fits("dns:*.internal", "db.internal", NULL, 53));
	cr_expect_not(fits("*.internal", "dns:db.internal", NULL, 0));
}

/* From the most specific to the least: each beats all that come after it, in whatever order they
 * stand in the file. */
static const char *const order[] = {
	"db.internal:5432", "db.internal:5400-5500", "db.internal:5000-5999",
	"db.internal",      "10.1.2.3:5432",         "10.1.2.3:5000-5999",
	"10.1.2.3",         "d*.internal:5432",      "d*.internal:5000-5999",
	"d*.internal",      "*.internal:5432",       "*.internal",
	"10.1.2.0/24:5432", "10.1.2.0/24",           "10.1.0.0/16:5432",
	"10.0.0.0/8",       "0.0.0.0/0:5432",        "0.0.0.0/0",
	"*:5432",           "*:5000-5999",           "*",
};

#define RANKS ((int)(sizeof(order) / sizeof(*order)))

Test(pattern, the_most_specific_wins)
{
	for (int first = 0; first < RANKS; first++) {
		config_defaults(&config);
		for (int i = RANKS - 1; i >= first; i--)
			add(i + 1, order[i]);
		cr_expect_eq(find("db.internal", "10.1.2.3", 5432), first + 1, "%s lost",
		             order[first]);
		config_defaults(&config);
		for (int i = first; i < RANKS; i++)
			add(i + 1, order[i]);
		cr_expect_eq(find("db.internal", "10.1.2.3", 5432), first + 1, "%s lost",
		             order[first]);
	}
}

Test(pattern, then_the_first_in_the_file)
{
	config_defaults(&config);
	add(1, "d*.internal");
	add(2, "*d.internal");
	add(3, "a.x:1-10");
	add(4, "a.x:2-11");
	cr_expect_eq(find("dd.internal", NULL, 1), 1);
	cr_expect_eq(find("a.x", NULL, 5), 3);
	cr_expect_eq(find("other", NULL, 5), 0);
}

static const char *const refused[][2] = {
	{ "", "empty" },
	{ ":5432", "not an address" },
	{ "x:", "port" },
	{ "x:0", "port" },
	{ "x:65536", "port" },
	{ "x:99999999999999999999", "port" },
	{ "x:9-8", "port" },
	{ "x:http", "port" },
	{ "x:-5", "port" },
	{ "x:5-", "port" },
	{ "x y:5", "no ' '" },
	{ "x/y", "not an address" },
	{ "x/24", "not an address" },
	{ "10.1.*", "10.1.0.0/16" },
	{ "10.1:80", "not an address" },
	{ "010.1.0.0/16", "not an address" },
	{ "10.1.0.0/33", "/0 to /32" },
	{ "10.1.0.0/", "/0 to /32" },
	{ "10.1.0.0/-1", "/0 to /32" },
	{ "10.1.2.3/16", "beyond its length" },
	{ "[2001:db8::]/129", "/0 to /128" },
	{ "[2001:db8::1]/32", "beyond its length" },
	{ "[::1", "']' is missing" },
	{ "[::1]443", "after an address" },
	{ "[::1]/128x:443", "/0 to /128" },
	{ "[]:443", "not an address" },
	{ "[::g]:443", "not an address" },
	{ "fe80::1%eth0", "not an address" },
	{ "unix:", "path" },
	{ "unix:run/x", "path" },
	{ "dns:", "empty" },
	{ "dns:x:53", "no port" },
	{ "Dns:x:53", "no port" },
	{ "UNIX:5432", "small letters" },
};

Test(pattern, refused_with_a_remedy)
{
	config_defaults(&config);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		char said[256];
		struct text why;
		int twin;

		text_start(&why, said, sizeof(said));
		cr_expect_not(
		    pattern_add(&config, 1, refused[i][0], strlen(refused[i][0]), &twin, &why),
		    "took %s", refused[i][0]);
		cr_expect(strstr(said, refused[i][1]), "%s: %s", refused[i][0], said);
	}
	cr_expect_eq(config.pattern_count, 0);
	cr_expect_eq(config.text_used, 0);
}

Test(pattern, the_same_twice)
{
	char said[256];
	struct text why;
	int twin;

	config_defaults(&config);
	add(3, "Db.internal.:5432");
	text_start(&why, said, sizeof(said));
	cr_expect(pattern_add(&config, 4, "db.INTERNAL:5432", 16, &twin, &why));
	cr_expect_eq(twin, 3);
	cr_expect_eq(config.pattern_count, 1);
}

Test(pattern, no_room)
{
	char pattern[300], said[256] = "";
	struct text why;
	int twin, i;

	config_defaults(&config);
	for (i = 0; i < CONFIG_PATTERNS; i++) {
		snprintf(pattern, sizeof(pattern), "h%d", i);
		add(1, pattern);
	}
	text_start(&why, said, sizeof(said));
	cr_expect_not(pattern_add(&config, 1, "one-more", 8, &twin, &why));
	cr_expect(strstr(said, "no more than 256"), "%s", said);

	config_defaults(&config);
	memset(pattern, 'a', sizeof(pattern));
	for (i = 0; i < CONFIG_PATTERNS; i++) {
		snprintf(pattern, 4, "%03d", i);
		pattern[3] = 'a';
		text_start(&why, said, sizeof(said));
		if (!pattern_add(&config, 1, pattern, 250, &twin, &why))
			break;
	}
	cr_expect_lt(i, CONFIG_PATTERNS);
	cr_expect(strstr(said, "too long"), "%s", said);
	cr_expect_eq(config.text[CONFIG_TEXT - 1], '\0');
	cr_expect_eq(find("000", NULL, 1), 0);
}

Test(pattern, printed_as_written)
{
	static const char *const same[] = { "db.internal:5432", "*.x",
		                            "a:8000-8999",      "10.1.0.0/16:5432",
		                            "192.0.2.7",        "[2001:db8::]/32:443",
		                            "unix:/run/*.sock", "dns:*.internal",
		                            "[::]/0",           "0.0.0.0/0:1",
		                            "dns.:53",          "unix.:1-2" };

	config_defaults(&config);
	for (int i = 0; i < (int)(sizeof(same) / sizeof(*same)); i++) {
		char out[256];
		struct text text;

		add(1, same[i]);
		text_start(&text, out, sizeof(out));
		pattern_print(&config, i, &text);
		cr_expect_str_eq(out, same[i]);
	}
}

/* The worst glob for a matcher that goes back: bounded by the product of the lengths. */
Test(pattern, slow_globs_end, .timeout = 20)
{
	char pattern[200] = "", name[254];

	for (int i = 0; i < 60; i++)
		strcat(pattern, "*a");
	strcat(pattern, "b");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 100; i++)
		cr_assert_not(fits(pattern, name, NULL, 1));
}
