/* SPDX-License-Identifier: MIT */
/* What those who share a region count, and which lines of a cache they wait for. */
#include "pace/result.h"
#include "region/counters.h"
#include "track_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

/* A refusal writes what is unanswered, in two; the budget; what no record has told; the counters of
 * the destination, and that of the rule; now and then the bucket of all. An answer writes less. */
#define LINES_MOST 7

static void start_share(void)
{
	start_shim();
	STORE(shim_region->nonce, 1);
	STORE(shim_region->identity.scope, SCOPE_USER);
	shim_use(shim_region, 7);
}

Test(tallies, each_who_shares_a_region_has_a_place_of_its_own)
{
	static struct region region;
	struct tally sum;

	for (int process = 0; process < REGION_TALLIES; process++) {
		struct tally *mine = region_tally(&region, 1000 + process);

		cr_expect_eq((uintptr_t)mine % REGION_LINE, 0);
		cr_expect_eq(LOAD(mine->attempts), 0, "%d has another's", process);
		count(&mine->attempts);
	}
	count(&region_tally(&region, INT64_MAX)->recoveries.counts[REGION_TIMES - 1]);
	count(&region_tally(&region, -1)->recoveries.counts[REGION_TIMES - 1]);
	region_sum(&region, &sum);
	cr_expect_eq(LOAD(sum.attempts), REGION_TALLIES);
	cr_expect_eq(LOAD(sum.recoveries.counts[REGION_TIMES - 1]), 2);
}

/* Two children at once, and a child of the first. */
Test(tallies, a_forked_child_has_another_place_than_its_parent)
{
	static struct region region;
	const struct tally *mine, *parents;
	int status;

	shim_use(&region, 7);
	cr_expect_eq(shim_tally, &region.tally, "nobody else is there");
	STORE(region.nonce, 1);
	shim_use(&region, 7);
	cr_expect_eq(shim_tally, region_tally(&region, 7));
	shim_place_children();
	parents = shim_tally;
	for (int child = 1; child < 3; child++) {
		if (fork() == 0) {
			mine = shim_tally;
			if (mine != region_tally(&region, 7 + child))
				_exit(1);
			if (fork() == 0)
				_exit(shim_tally == mine || shim_tally == parents);
			_exit(wait(&status) < 0 || status != 0);
		}
		cr_assert_gt(wait(&status), 0);
		cr_expect_eq(status, 0, "child %d", child);
		cr_expect_eq(shim_tally, parents);
	}
}

/* What more than one process writes, but for slots that are not tried here: copying all of it would
 * take longer than a refusal stays known. */
static struct {
	char head[offsetof(struct region, first)], tail[REGION_LINE];
	struct destination of;
} before;

static void copy(const struct destination *of)
{
	memcpy(before.head, (void *)shim_region, sizeof(before.head));
	memcpy(before.tail, (void *)shim_region->served, REGION_LINE);
	if (of)
		memcpy((void *)&before.of, (const void *)of, sizeof(before.of));
}

static int differ(const void *now, const void *then, size_t size)
{
	int lines = 0;

	for (size_t at = 0; at < size; at += REGION_LINE)
		lines += memcmp((const char *)now + at, (const char *)then + at, REGION_LINE) != 0;
	return lines;
}

static bool many_differ(const struct destination *of)
{
	return differ(shim_region, before.head, sizeof(before.head)) +
	           differ(shim_region->served, before.tail, REGION_LINE) +
	           differ(of, &before.of, sizeof(before.of)) >
	       LINES_MOST;
}

static bool lookup(const char *name, struct attempt *try)
{
	cr_assert(attempt_begin_query(try, name, 1));
	return !try->trial.retry ||
	       budget_verdict(&try->account, try->account.policy->cost, try->began) != REFUSED;
}

Test(tallies, an_attempt_writes_few_lines_that_others_write, .init = start_share)
{
	const struct destination *of = NULL;
	int refused = 0, answered = 0;
	struct attempt try;

	for (int i = 0; i < 200; i++) {
		copy(of);
		if (lookup("dead.example", &try)) {
			outcome_failure(&try.trial, FAILURE_LOOKUP, 0, EAI_AGAIN);
			of = try.trial.destination;
		} else {
			result_refused_now(&try, 0, try.began);
			/* The first ones write a record, and others come in a new second. */
			refused += i >= 100 && many_differ(of);
		}
	}
	cr_expect_leq(refused, 10, "%d refusals wrote more lines", refused);
	cr_expect_gt(LOAD(region_tally(shim_region, 7)->refused), 100);
	of = NULL;
	for (int i = 0; i < 100; i++) {
		copy(of);
		cr_assert(lookup("well.example", &try));
		outcome_success(&try.trial);
		count_answered(shim_tally, try.trial.destination, false);
		answered += of && many_differ(of);
		of = try.trial.destination;
	}
	cr_expect_leq(answered, 10, "%d answers wrote more lines", answered);
}
