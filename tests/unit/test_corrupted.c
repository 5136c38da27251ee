/* SPDX-License-Identifier: MIT */
/* Attempts over a region that another thread writes anything to, at any moment: between two looks
 * at the same word too. Best under the sanitizers (make check-sanitize). */
#include <criterion/criterion.h>

#ifndef __SANITIZE_THREAD__ /* the race is the test */

#include "../fuzz/drive.h"
#include "budget/budget_wait.h"
#include "conn/settle.h"
#include "config/current.h"

#include <pthread.h>

#define SECONDS 2

static atomic_bool over;
static atomic_long corruptions;

static void *corrupt(void *arg)
{
	uint64_t dice = ~*(const uint64_t *)arg;

	while (!over) {
		uint64_t where = random_next(&dice), kind = random_next(&dice);

		drive_corrupt(where, kind, random_next(&dice));
		corruptions++;
	}
	return NULL;
}

/* Destinations to which nothing may go now. */
static int throttled(void)
{
	int held = 0;

	for (int i = 0; i < REGION_CHUNK; i++) {
		struct destination *one = &shim_region->first.destinations[i];
		struct account account;

		if (shim_region->first.keys[i] == 0)
			continue;
		destination_account(one, config_current(), &account);
		held += budget_due(&account, account.policy->cost, monotonic()) > 0;
	}
	return held;
}

Test(corrupted, nothing_crashes_hangs_or_leaves_its_range)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int64_t end;
	uint64_t seed = (uint64_t)monotonic(), dice = seed;
	uint8_t bytes[512];
	pthread_t thread;
	long runs = 0;

	drive_start();
	cr_assert(pthread_create(&thread, NULL, corrupt, &seed) == 0);
	for (end = monotonic() + SECONDS * NS_PER_S; monotonic() < end; runs++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			/* Attempts only: the writing of garbage is done for us. */
			bytes[i] = (uint8_t)(random_next(&dice) & (i % 4 ? 0xff : 0xf1));
		drive_run(bytes, sizeof(bytes), fd);
	}
	over = true;
	pthread_join(thread, NULL);
	cr_log_info("%ld runs beside %ld corruptions, seed %lx", runs, (long)corruptions,
	            (long)seed);
	cr_expect_gt(runs, 20);
	cr_expect_gt(corruptions, 10000);

	/* And it heals: once nobody writes garbage, everything goes after a probe at the latest, or
	 * what a server may ask for. */
	struct attempt try;
	int64_t until = monotonic() + 10 * NS_PER_S;
	bool goes = false;
	int held;

	while ((held = throttled()) > 0 && monotonic() < until)
		usleep(10000);
	cr_expect_eq(held, 0, "%d destinations are still throttled", held);

	while (!goes && monotonic() < until) {
		cr_assert(attempt_begin_query(&try, drive_names[0], AF_INET));
		goes = pace(&try);
		attempt_settle_lookup(&try, goes ? 0 : EAI_AGAIN);
	}
	cr_expect(goes);
	close(fd);
}

#endif
