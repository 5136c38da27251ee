/* SPDX-License-Identifier: MIT */
/* That the records of a destination tell its outage: their rhythm, and sums that miss nothing. */
#include "told.h"

TestSuite(outage, .fini = discard_scratch);

/* Three tokens and then one every fifth of a second; any success fills the bucket by a third. */
#define POLICY                                                                                     \
	"capacity = 3\nfloor = 5/s\nearn = 100%\nbase = 1ms\ncap = 1ms\nmin = 1ms\n"               \
	"jitter = none\nprobe = 1h\nhold = 10ms\n"

static const char story[] = "up again: yes, then served always\n";

/* The sum of a field over the records of an event; NULL: of all that tell sums. */
static long sum_of(const struct result *result, const char *event, const char *field)
{
	const char *line = result->records;
	char name[32], mark[32];
	long sum = 0;

	snprintf(name, sizeof(name), " %s=", field);
	snprintf(mark, sizeof(mark), " event=%s ", event ? event : "");
	while (*line != '\0') {
		size_t length = strcspn(line, "\n");
		char record[2048];
		const char *at;

		snprintf(record, sizeof(record), "%.*s", (int)length, line);
		line += length + (line[length] == '\n');
		at = strstr(record, name);
		if (at != NULL && (event == NULL || strstr(record, mark) != NULL))
			sum += atol(at + strlen(name));
	}
	return sum;
}

static const struct result *play(enum how how, const char *loop, const char *interval)
{
	static struct result result;
	char log[64];

	snprintf(log, sizeof(log), "interval = %s\n", interval);
	run_probe(
	    &(struct probe) {
		.program = "outage", .arguments = { loop }, .policy = POLICY, .log = log },
	    how, &result);
	cr_assert(result.exited && result.code == 0, "%s%s", result.out, result.err);
	cr_expect_str_eq(plain(&result), story);
	cr_expect_str_eq(result.err, "");
	return &result;
}

/* What the records say in all is what was counted when the outage ended, to the attempt. */
static void sums_are_whole(const struct result *result)
{
	cr_expect_eq(sum_of(result, NULL, "attempts"), told(result, "port", "attempts"), "%s%s",
	             result->out, result->records);
	cr_expect_eq(sum_of(result, NULL, "refused") + sum_of(result, NULL, "parked"),
	             told(result, "port", "refused"), "%s%s", result->out, result->records);
	cr_expect_geq(sum_of(result, NULL, "held"), told(result, "port", "waited"), "%s%s",
	              result->out, result->records);
	cr_expect_eq(sum_of(result, NULL, "throttled"),
	             told(result, "port", "refused") + told(result, "port", "waited"), "%s%s",
	             result->out, result->records);
	cr_expect_gt(told(result, "port", "refused"), 20, "%s", result->out);
	cr_expect_eq(records_with(result, "event=recovered "), 1, "%s", result->records);
}

Test(outage, is_told_at_once_and_summed_up_at_its_end)
{
	const struct result *result = play(ENFORCE, "wait", "1h");

	sums_are_whole(result);
	cr_expect_eq(records_with(result, "event=throttled "), 1, "%s", result->records);
	cr_expect_eq(sum_of(result, "throttled", "throttled"), 1, "%s", result->records);
	cr_expect_gt(sum_of(result, "recovered", "throttled"), 20, "%s", result->records);
	/* Holds are at most as long as the outage, and never without one. */
	cr_expect_gt(sum_of(result, NULL, "waited_ms"), told(result, "port", "waited"));
	cr_expect_leq(sum_of(result, NULL, "waited_ms"), told(result, "outage", "ms"));
	cr_expect_leq(sum_of(result, "recovered", "since_ms"), told(result, "outage", "ms"));
	cr_expect_gt(sum_of(result, "recovered", "since_ms"), 0);
}

Test(outage, is_told_again_each_interval)
{
	const struct result *result = play(ENFORCE, "wait", "100ms");
	int records = records_with(result, "event=throttled ");

	sums_are_whole(result);
	cr_expect_gt(records, 2, "%s", result->records);
	cr_expect_leq(records, told(result, "outage", "ms") / 100 + 1, "%s", result->records);
}

Test(outage, is_told_of_each_attempt_without_an_interval)
{
	const struct result *result = play(ENFORCE, "wait", "0");

	sums_are_whole(result);
	cr_expect_eq(records_with(result, "event=throttled "), sum_of(result, NULL, "throttled"),
	             "%s", result->records);
	cr_expect_eq(records_with(result, " throttled=1 "),
	             records_with(result, "event=throttled "), "%s", result->records);
}

Test(outage, is_told_of_connects_that_do_not_block)
{
	const struct result *result = play(ENFORCE, "poll", "100ms");

	sums_are_whole(result);
	cr_expect_gt(sum_of(result, NULL, "parked"), 0, "%s", result->records);
	cr_expect_gt(sum_of(result, NULL, "refused"), 0, "%s", result->records);
}

Test(outage, is_told_in_observe_mode)
{
	const struct result *result = play(OBSERVE, "wait", "1h");

	sums_are_whole(result);
	cr_expect_eq(records_with(result, "event=would-throttle "), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "event=throttled "), 0, "%s", result->records);
}

Test(outage, ends_in_tokens_that_are_back)
{
	const struct result *result = play(ENFORCE, "wait", "1h");

	cr_expect_eq(records_with(result, "event=exhausted "), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "event=refilled "), 1, "%s", result->records);
	cr_expect_gt(strstr(result->records, "event=refilled ") - result->records,
	             strstr(result->records, "event=exhausted ") - result->records);
	cr_expect(strstr(result->records, " tokens=3.0/3 ") != NULL, "%s", result->records);
}

/* The other half of the probe: a healthy program has nothing to tell. */
Test(outage, is_told_by_none_who_is_not_throttled)
{
	static struct result bare;

	run_probe(&(struct probe) { .program = "outage", .arguments = { "wait" } }, BARE, &bare);
	cr_expect_str_eq(plain(&bare), "up again: yes, then served always\n");
	cr_expect_eq(bare.record_count, 0);
}
