/* SPDX-License-Identifier: MIT */
/* A region says who made it, and goes on saying it whoever else maps it. */
#include "config/current.h"
#include "region/identity.h"
#include "region/steering.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct region region;
static struct config config;

TestSuite(identity);

Test(identity, start_time_behind_any_name)
{
	static const char tail[] = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 19 20\n";
	char text[256];

	snprintf(text, sizeof(text), "12 (legacyd)%s", tail);
	cr_expect_eq(identity_start_time(text), 4711);
	snprintf(text, sizeof(text), "12 (a) R 9 (b c)%s", tail);
	cr_expect_eq(identity_start_time(text), 4711);
	cr_expect_eq(identity_start_time("12 (cut) S 1 2 3"), 0);
	cr_expect_eq(identity_start_time("no name"), 0);
	cr_expect_eq(identity_start_time(""), 0);
	cr_expect_eq(
	    identity_start_time(
		"1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99999999999999999999 1"),
	    0);
	cr_expect_eq(
	    identity_start_time("1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 -5 1"), 0);
}

Test(identity, says_who)
{
	char text[1024] = { 0 };
	FILE *stat = fopen("/proc/self/stat", "re");

	cr_assert_not_null(stat);
	cr_assert(fread(text, 1, sizeof(text) - 1, stat) > 0);
	fclose(stat);
	config.general.mode = MODE_OBSERVE;
	config.fingerprint = 77;
	errno = 0;
	identity_write(&region, SCOPE_PROCESS, &config);
	cr_expect_eq(region.identity.is_whole, 1);
	cr_expect_eq(region.identity.pid, getpid());
	cr_expect_eq(region.identity.started, identity_start_time(text));
	cr_expect_neq(region.identity.started, 0);
	cr_expect_eq(region.identity.mode, MODE_OBSERVE);
	cr_expect_eq(region.identity.scope, SCOPE_PROCESS);
	cr_expect_eq(region.identity.config_hash, 77);
	cr_expect_str_eq(region.identity.version, VERSION);
	cr_expect_str_eq(region.identity.program, program_invocation_short_name);
}

Test(identity, stays_that_of_the_first)
{
	struct region_identity before;

	region.identity.pid = 1;
	before = region.identity;
	identity_write(&region, SCOPE_USER, &config);
	cr_expect_eq(memcmp(&before, &region.identity, sizeof(before)), 0);
}

Test(identity, follows_a_reload_of_its_own)
{
	region.identity.pid = 1;
	region.identity.scope = SCOPE_USER;
	config.general.mode = MODE_ENFORCE;
	config.fingerprint = 5;
	identity_refresh(&region, &config);
	cr_expect_eq(region.identity.config_hash, 0, "another program's");
	region.identity.scope = SCOPE_PROCESS;
	identity_refresh(&region, &config);
	cr_expect_eq(region.identity.config_hash, 5);
	cr_expect_eq(region.identity.mode, MODE_ENFORCE);
}

/* A loop that starts a process for each try: the one that made the share has ended long ago. */
Test(identity, a_share_follows_the_file_of_its_maker)
{
	struct steering_request request = { .mode = MODE_OFF, .number = 1 };

	setenv("RETRYBUDGET_CONFIG", "/nonexistent/a.ini", 1);
	config_start(false);
	config.general.mode = MODE_ENFORCE;
	config.fingerprint = 5;
	identity_write(&region, SCOPE_USER, &config);
	region.identity.pid = 1;
	config.fingerprint = 6;
	config.general.mode = MODE_OBSERVE;
	identity_write(&region, SCOPE_USER, &config);
	cr_expect_eq(region.identity.config_hash, 6);
	cr_expect_eq(region.identity.mode, MODE_OBSERVE);
	config.fingerprint = 7;
	config.general.mode = MODE_ENFORCE;
	STORE(region.steering.request, steering_word(&request));
	identity_refresh(&region, &config);
	cr_expect_eq(region.identity.config_hash, 7);
	cr_expect_eq(region.identity.mode, MODE_OBSERVE, "an operator has asked for another");
	STORE(region.steering.request, 0);
	setenv("RETRYBUDGET", "off", 1);
	config_start(false);
	config.fingerprint = 8;
	identity_refresh(&region, &config);
	cr_expect_eq(region.identity.config_hash, 8);
	cr_expect_eq(region.identity.mode, MODE_OBSERVE, "this process alone is off");
	setenv("RETRYBUDGET_CONFIG", "/nonexistent/b.ini", 1);
	config_start(false);
	config.fingerprint = 9;
	identity_refresh(&region, &config);
	cr_expect_eq(region.identity.config_hash, 8, "another file");
}

/* A program may have a name of any length. */
Test(identity, long_names_are_cut)
{
	static char name[300];
	char *saved = program_invocation_short_name;

	memset(name, 'x', sizeof(name) - 1);
	program_invocation_short_name = name;
	identity_write(&region, SCOPE_PROCESS, &config);
	program_invocation_short_name = saved;
	cr_expect_eq(strlen(region.identity.program), REGION_PROGRAM - 1);
}

/* A header of more than a page would cost every process a second one. */
Test(identity, header_is_within_a_page)
{
	cr_expect_leq(offsetof(struct region, first), 4096);
}
