/* SPDX-License-Identifier: MIT */
/* Who makes room in a full table, and what becomes of attempts whose destination had to. */
#include "track_fixture.h"
#include "addresses.h"
#include "conn/attempt_end.h"
#include "conn/settle.h"

#include <sys/wait.h>

TestSuite(eviction, .init = start_shim);

static int64_t now = NS_PER_S;

/* One attempt, and how it ended. */
static struct destination *attempt_at(int n, bool works)
{
	struct address address = numbered(n);
	struct name_hit hit;
	struct destination *found = destination_of(&address, &hit, now += NS_PER_MS / 50);

	count(&found->tally.attempts);
	if (works)
		count(&found->tally.successes);
	found->budget.streak = works ? 0 : found->budget.streak + 1;
	return found;
}

/* 50,000 a second, each once. */
static void scan(int from, int count, bool works)
{
	for (int i = 0; i < count; i++)
		attempt_at(from + i, works);
}

static void expect_kept(bool works, bool scan_works)
{
	struct destination *hot = NULL;

	for (int i = 0; i < 3; i++)
		hot = attempt_at(1, works);
	scan(1000, 500000, scan_works); /* ten seconds: as long as a wait may be */
	cr_expect_eq(attempt_at(1, works), hot);
	cr_expect_eq(hot->tally.attempts, 4);
	cr_expect_eq(hot->budget.streak, works ? 0 : 4);
}

Test(eviction, a_storm_outlives_a_scan_of_dead_hosts)
{
	expect_kept(false, false);
}

Test(eviction, a_storm_outlives_a_scan_of_living_hosts)
{
	expect_kept(false, true);
}

Test(eviction, a_busy_healthy_destination_outlives_a_scan)
{
	expect_kept(true, false);
}

/* What was once busy is not kept for ever: a crawler's hosts must not fill the table for good. */
Test(eviction, what_is_left_alone_for_a_horizon_makes_room)
{
	struct destination *old = NULL;

	for (int i = 0; i < 1000; i++)
		old = attempt_at(1, false);
	now += 61 * NS_PER_S;
	scan(1000, 50000, false);
	cr_expect_neq(old->budget.streak, 1000);
	cr_expect_eq(attempt_at(1, false)->tally.attempts, 1);
}

/* Of those tried once, one under way or failing outlives one that is well. */
Test(eviction, the_well_make_room_first)
{
	struct destination *failing = attempt_at(1, false);
	uint32_t generation = (uint32_t)failing->generation;

	scan(1000, 20000, true);
	cr_expect_eq(attempt_at(1, false), failing);
	cr_expect_eq((uint32_t)failing->generation, generation);
	cr_expect_eq(failing->tally.attempts, 2);
}

/* Slots that another process has corrupted go first. */
Test(eviction, wild_counters_do_no_harm)
{
	for (int i = 0; i < REGION_CHUNK; i++) {
		struct destination *one = &shim_region->first.destinations[i];

		shim_region->first.keys[i] = i + 1;
		one->tally.attempts = i & 1 ? INT64_MIN : INT64_MAX;
		one->budget.streak = i & 2 ? INT64_MAX : -1;
		one->used_at = i & 4 ? INT64_MAX : INT64_MIN;
	}
	scan(1000, 20000, false);
	cr_expect_eq(attempt_at(1, false)->tally.attempts, 1);
	for (int i = 0; i < REGION_CHUNK; i++) {
		int64_t used = shim_region->first.destinations[i].used_at;

		cr_expect(used > 0 && used <= now, "%ld", (long)used);
	}
}

/* --- attempts that outlast their destination --- */

/* Long after, others drive it out. */
static void evict(const struct attempt *try, bool works)
{
	uint32_t slot = destination_slot(try->trial.destination);

	now = monotonic() + 120 * NS_PER_S;
	for (int i = 0; destination_at(slot, try->trial.generation); i++) {
		cr_assert_lt(i, 100000);
		attempt_at(i, works);
	}
}

static struct attempt evicted_while_trying(int fd, const struct server *server,
                                           struct destination **slot)
{
	const struct sockaddr *to = (const struct sockaddr *)&server->address;
	struct attempt try;

	cr_assert(attempt_begin_connect(&try, fd, to, sizeof(server->address)));
	attempt_start(&try);
	*slot = try.trial.destination;
	evict(&try, false);
	(*slot)->budget.streak = 0;
	(*slot)->budget.failed_at = 0;
	return try;
}

static void expect_untouched(const struct destination *slot)
{
	cr_expect_eq(failures_in(&slot->tally), 0);
	cr_expect_eq(slot->budget.streak, 0);
	cr_expect_eq(slot->budget.failed_at, 0);
	cr_expect_eq(slot->last_errno, 0);
	cr_expect_eq(slot->unclaimed, 0);
	for (int i = 0; i < REGION_FAILURES; i++)
		cr_expect_eq(slot->failures[i], 0);
}

Test(eviction, a_failure_of_an_evicted_destination_is_not_another_s)
{
	struct server server = serve(-1);
	struct destination *slot;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct attempt try = evicted_while_trying(fd, &server, &slot);

	errno = ECONNREFUSED;
	cr_expect_eq(attempt_settle(&try, -1), -1);
	cr_expect_eq(errno, ECONNREFUSED);
	expect_untouched(slot);
	attempt_unanswered(&try, true, now);
	expect_untouched(slot);
}

Test(eviction, a_failure_seen_later_is_not_another_s)
{
	struct server server = serve(-1);
	struct destination *slot;
	int fd = nonblocking_socket();

	evicted_while_trying(fd, &server, &slot);
	attempt_observed(fd, ECONNREFUSED);
	expect_untouched(slot);
}

Test(eviction, an_account_is_not_opened_on_another_s_budget)
{
	struct server server = serve(-1);
	struct destination *slot;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct attempt try = evicted_while_trying(fd, &server, &slot);

	cr_expect_not(attempt_open_account(&try));
}

Test(eviction, a_lookup_that_outlasts_its_name_counts_nowhere)
{
	struct attempt try;
	struct destination *slot;

	cr_assert(attempt_begin_lookup(&try, "slow.example", NULL));
	slot = try.trial.destination;
	evict(&try, true);
	slot->budget.streak = slot->budget.failed_at = 0;
	slot->tally.successes = 0;
	cr_expect_eq(attempt_settle_lookup(&try, EAI_AGAIN), EAI_AGAIN);
	expect_untouched(slot);
	cr_expect_eq(attempt_settle_lookup(&try, 0), 0);
	cr_expect_eq(slot->tally.successes, 0);
}

/* --- many at once --- */

#define NAMES   3000
#define THREADS 4
#define TURNS   30000

static void *evict_each_other(void *seed)
{
	uint64_t random = (uintptr_t)seed;

	for (int i = 0; i < TURNS; i++) {
		int n = (int)(random_next(&random) % NAMES);
		struct address address = numbered(n);
		struct name_hit hit;
		struct trial trial = { .owner = FAILURE_ANYONE };

		trial.destination = destination_of(&address, &hit, monotonic());
		trial.generation = (uint32_t)atomic_load(&trial.destination->generation);
		count(&trial.destination->tally.attempts);
		outcome_failure(&trial, FAILURE_REFUSED, ECONNREFUSED, 0);
	}
	return NULL;
}

/* Threads, and processes that share the region, drive each other out of slots; whatever they have
 * left, each slot bears the name that its key stands for. */
Test(eviction, racing_threads_and_processes_leave_every_slot_with_its_own_name, .timeout = 60)
{
	pthread_t threads[THREADS];
	pid_t child = fork();

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, evict_each_other,
		               (void *)(i + (child == 0 ? 100 : 1)));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (child == 0)
		_exit(0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	for (int n = 0; n < NAMES; n++) {
		struct address address = numbered(n);
		struct name_hit hit;
		char name[32];

		snprintf(name, sizeof(name), "10.0.%d.%d:80", n >> 8, n & 255);
		cr_assert_str_eq(destination_of(&address, &hit, monotonic())->name, name);
	}
	cr_expect_eq(shim_region->tally.failures[FAILURE_REFUSED] > 0, 1);
}
