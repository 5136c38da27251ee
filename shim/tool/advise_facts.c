/* SPDX-License-Identifier: MIT */
/* What `retrybudget advise` knows: from the regions of processes, or from a trace. */
#include "tool/advise_facts.h"

#include "config/modes.h"
#include "tool/advise_rules.h"
#include "tool/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FACTS_MOST 4096

struct start {
	size_t fact;
	int64_t second;
};

struct gathering {
	const char *wanted;
	struct facts *list;
	struct start *starts;
	size_t count, start_count, start_room, left_out;
	bool failed;
};

static struct facts *fact_named(struct gathering *gathering, const char *name)
{
	for (size_t i = 0; gathering->list && i < gathering->count; i++)
		if (strcmp(gathering->list[i].name, name) == 0)
			return &gathering->list[i];
	if (gathering->count == FACTS_MOST) {
		gathering->left_out++;
		return NULL;
	}
	(void)snprintf(gathering->list[gathering->count].name, REGION_NAME, "%s", name);
	return &gathering->list[gathering->count++];
}

static void note_start(struct gathering *gathering, size_t fact, int64_t second)
{
	if (gathering->start_count == gathering->start_room) {
		size_t room = gathering->start_room ? 2 * gathering->start_room : 256;
		struct start *more = reallocarray(gathering->starts, room, sizeof(*more));

		if (!more) {
			gathering->failed = true;
			return;
		}
		gathering->starts = more;
		gathering->start_room = room;
	}
	gathering->starts[gathering->start_count++] = (struct start) { fact, second };
}

static double age_of(const struct process *process)
{
	struct timespec now;
	double age;

	clock_gettime(CLOCK_BOOTTIME, &now);
	age = (double)now.tv_sec - (double)process->started / (double)sysconf(_SC_CLK_TCK);
	return age < 1 ? 1 : age;
}

static void gather(struct gathering *gathering, const struct family *family,
                   const struct destination *of)
{
	const struct region_identity *identity = &family->snapshot->region->identity;
	struct facts *facts = fact_named(gathering, of->name);
	int64_t retries = LOAD(of->tally.retries), attempts = LOAD(of->tally.attempts);

	if (!facts)
		return;
	if (facts->regions++ == 0)
		(void)snprintf(facts->label, REGION_LABEL, "%s", of->policy);
	facts->seconds += age_of(&family->members[0]);
	add_to(&facts->first, attempts > retries ? attempts - retries : 0);
	add_to(&facts->first_failed, LOAD(of->tally.failed[0]));
	add_to(&facts->retries, retries);
	add_to(&facts->retries_answered, LOAD(of->tally.answered[1]));
	add_to(&facts->refused, LOAD(of->tally.refused));
	for (int i = 0; i < REGION_TIMES; i++)
		add_to(&facts->recoveries[i], LOAD(of->tally.recoveries.counts[i]));
	facts->observed |= LOAD(identity->mode) == MODE_OBSERVE;
	facts->is_shared |= LOAD(identity->scope) != SCOPE_PROCESS;
	for (size_t i = 0; i < family->count; i++)
		note_start(gathering, (size_t)(facts - gathering->list),
		           family->members[i].started / sysconf(_SC_CLK_TCK));
}

static void visit(struct family *family, struct snapshot *snapshot, void *arg)
{
	struct gathering *gathering = arg;

	if (snapshot->state != SNAPSHOT_GOOD ||
	    (gathering->wanted && !stat_choose(gathering->wanted, family, snapshot)))
		return;
	for (int i = 0; i < snapshot->slot_count; i++)
		gather(gathering, family, &snapshot->destinations[i]);
}

static int by_fact_and_second(const void *a, const void *b)
{
	const struct start *one = a, *other = b;

	if (one->fact != other->fact)
		return one->fact < other->fact ? -1 : 1;
	return (one->second > other->second) - (one->second < other->second);
}

static void count_herds(struct gathering *gathering)
{
	int64_t run = 0;

	if (gathering->start_count == 0)
		return;
	qsort(gathering->starts, gathering->start_count, sizeof(*gathering->starts),
	      by_fact_and_second);
	for (size_t i = 0; i < gathering->start_count; i++) {
		struct facts *facts = &gathering->list[gathering->starts[i].fact];
		bool same = i > 0 && by_fact_and_second(&gathering->starts[i - 1],
		                                        &gathering->starts[i]) == 0;

		run = same ? run + 1 : 1;
		if (run > facts->herd)
			facts->herd = run;
	}
}

struct facts *facts_of_processes(const char *wanted, size_t *count, size_t *left_out)
{
	struct gathering gathering = { .wanted = wanted };
	size_t unreadable;
	bool good;

	gathering.list = calloc(FACTS_MOST, sizeof(*gathering.list));
	if (!gathering.list)
		return NULL;
	good = families_visit(0, visit, &gathering, &unreadable);
	if (good && gathering.failed) {
		errno = ENOMEM;
		good = false;
	}
	if (good)
		count_herds(&gathering);
	free(gathering.starts);
	if (!good) {
		free(gathering.list);
		return NULL;
	}
	*count = gathering.count;
	*left_out = gathering.left_out;
	return gathering.list;
}

void facts_of_trace(FILE *trace, struct facts *facts)
{
	long long ms, begin = -1, end = 0, failing_since = -1;
	char line[128], event, *rest;
	bool retry = false;
	int place;

	*facts = (struct facts) { .regions = 1 };
	while (fgets(line, sizeof(line), trace)) {
		ms = strtoll(line, &rest, 10);
		event = rest[strspn(rest, " \t")];
		if (rest == line || event == '\0')
			continue;
		begin = begin < 0 ? ms : begin;
		end = ms;
		if (event == 'n') {
			facts->first++;
			retry = false;
		} else if (event == 'r') {
			facts->retries++;
			retry = true;
		} else if (event == 'f' || event == 't') {
			facts->first_failed += !retry;
			failing_since = failing_since < 0 ? ms : failing_since;
		} else if (event == 's') {
			facts->retries_answered += retry;
			if (failing_since < 0)
				continue;
			for (place = 0;
			     place < REGION_TIMES - 1 && ms - failing_since >= INT64_C(1) << place;)
				place++;
			facts->recoveries[place]++;
			failing_since = -1;
		}
	}
	facts->seconds = end - begin > 1000 ? (double)(end - begin) / 1000 : 1;
}

#define TRACE_REQUESTS 2000
#define TRACE_RETRIES  20 /* of one request */

FILE *facts_trace(const struct facts *facts)
{
	int64_t requests = facts->first < TRACE_REQUESTS ? facts->first : TRACE_REQUESTS;
	double scale = facts->first > 0 ? (double)requests / (double)facts->first : 0;
	double rate = (double)facts->first / facts->seconds, outcome = 0, owed = 0;
	int64_t failed = (int64_t)((double)facts->first_failed * scale + 0.5);
	int64_t block = (int64_t)(rate * facts_outage(facts)), period;
	double each =
	    facts->first_failed > 0 ? (double)facts->retries / (double)facts->first_failed : 0;
	double answered =
	    facts->retries > 0 ? (double)facts->retries_answered / (double)facts->retries : 0;
	FILE *trace = tmpfile();

	if (!trace)
		return NULL;
	failed = lesser(failed, requests);
	block = lesser(greater(block, 1), failed);
	period = failed > 0 ? requests * block / failed : requests + 1;
	period = greater(period, 1);
	for (int64_t i = 0; i < requests; i++) {
		long long ms = (long long)((double)i * 1000 / rate);
		bool fails = failed > 0 && i % period >= period - block;

		(void)fprintf(trace, "%lld n\n%lld %c\n", ms, ms, fails ? 'f' : 's');
		if (!fails)
			continue;
		owed += each > TRACE_RETRIES ? TRACE_RETRIES : each;
		while (owed >= 1) {
			owed--;
			outcome += answered;
			(void)fprintf(trace, "%lld r\n%lld %c\n", ms, ms, outcome >= 1 ? 's' : 'f');
			outcome -= outcome >= 1;
		}
	}
	rewind(trace);
	return trace;
}
