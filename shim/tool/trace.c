/* SPDX-License-Identifier: MIT */
/*
 * retrybudget simulate FILE: what a policy says to a trace of attempts, with the shim's own
 * arithmetic and the trace's clock, so that a rule can be tried, or held against another system's,
 * before it is put in force. Only whether retries may go: when they would (backoff, breaker,
 * Retry-After) is not played.
 */
#include "budget/budget_wait.h"
#include "budget/concurrency.h"
#include "budget/strategy.h"
#include "budget/streak.h"
#include "config/read.h"
#include "tool/tell.h"
#include "tool/tool.h"
#include "tool/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Moments of a trace begin at any number; windows reach back from there. */
#define BEGINNING (INT64_C(1000000) * NS_PER_S)

#define MS_MOST INT64_C(1000000000000) /* 30 years */

struct simulation {
	struct account account;
	struct budget budget;
	struct policy policy;
	struct bucket process;
	struct bucket_rule process_rule;
	uint64_t random;
	enum failure failure; /* the last one */
	bool retry;           /* the try under way is one */
	int asked, gone;
};

static void begin(struct simulation *simulation, const struct policy *policy,
                  const struct bucket_rule *process)
{
	*simulation = (struct simulation) {
		.policy = *policy,
		.process_rule = *process,
		.random = 1,
		.failure = FAILURE_REFUSED,
	};
	simulation->account = (struct account) {
		.budget = &simulation->budget,
		.policy = &simulation->policy,
		.process = &simulation->process,
		.process_rule = &simulation->process_rule,
	};
}

static void start(struct simulation *simulation, const struct config *config, int policy,
                  bool original)
{
	begin(simulation, &config->policies[policy], &config->process);
	if (!original)
		return;
	simulation->policy.bucket.floor = 0;
	simulation->policy.probe = INT64_MAX / 2;
	simulation->process_rule = (struct bucket_rule) { .capacity = BUCKET_CAPACITY_MAX,
		                                          .floor = BUCKET_FLOOR_MAX,
		                                          .start = PPM_WHOLE };
}

static int64_t answer_retry(struct simulation *simulation, int64_t now)
{
	int64_t cost = budget_cost(&simulation->policy, simulation->failure);

	simulation->retry = budget_admit(&simulation->account, cost, now) != REFUSED;
	simulation->asked++;
	simulation->gone += simulation->retry;
	return simulation->retry;
}

/* False: there is no such event. */
static bool happen(struct simulation *simulation, int64_t ms, char event, int64_t value, FILE *out)
{
	const struct account *account = &simulation->account;
	int64_t now = BEGINNING + ms * NS_PER_MS, limit;

	switch (event) {
	case 'n':
		simulation->retry = false;
		budget_first_try(account, now);
		return true;
	case 's':
		budget_success(account, now);
		return true;
	case 'f':
	case 't':
		simulation->failure = event == 't' ? FAILURE_TIMEOUT : FAILURE_REFUSED;
		budget_failure(account, simulation->retry, now, now, &simulation->random);
		return true;
	case 'e':
	case 'x':
		concurrency_end(account, event == 'x', BEGINNING + value * NS_PER_MS);
		return true;
	case 'p':
		value = budget_level(account, now, &limit);
		break;
	case 'r':
		value = answer_retry(simulation, now);
		break;
	default:
		return false;
	}
	if (out)
		fprintf(out, "%lld %c %lld\n", (long long)ms, event, (long long)value);
	return true;
}

/* A number of the trace, 0..MS_MOST; -1: there is none. */
static int64_t number_at(char **at)
{
	char *end;
	long long number = strtoll(*at, &end, 10);
	bool good = end != *at && number >= 0 && number <= MS_MOST;

	*at = end;
	return good ? number : -1;
}

/* False if it is none. value: 0 where there is none. */
static bool read_line(char *line, int64_t *ms, char *event, int64_t *value)
{
	*ms = number_at(&line);
	line += strspn(line, " \t");
	*event = *line;
	if (*ms < 0 || !*event || !strchr(" \t\n", line[1]))
		return false;
	line += 1 + strspn(line + 1, " \t\n");
	*value = *line ? number_at(&line) : 0;
	return *value >= 0;
}

/* False if the trace cannot be read, or a line of it not be understood, which is told. out: NULL
 * prints nothing. */
static bool simulate(struct simulation *simulation, FILE *in, FILE *out)
{
	char line[128], event;
	int64_t ms, value;

	for (int number = 1; fgets(line, sizeof(line), in); number++) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (!read_line(line, &ms, &event, &value) ||
		    !happen(simulation, ms, event, value, out)) {
			line[strcspn(line, "\n")] = '\0';
			fprintf(stderr, "trace:%d: no event: '%s'\n", number, line);
			return false;
		}
	}
	if (ferror(in)) { /* a directory opens as a file does, and then has no lines */
		fprintf(stderr,
		        "trace: cannot be read: %s; give a file of lines as simulate --help says\n",
		        strerror(errno));
		return false;
	}
	if (out)
		fprintf(out, "# %d of %d retries went\n", simulation->gone, simulation->asked);
	return true;
}

/* -1: none of that label. */
static int policy_labelled(const struct config *config, const char *label)
{
	for (int i = 0; i < config->policy_count; i++)
		if (strcmp(config->labels[i], label) == 0)
			return i;
	return -1;
}

int trace_play(const char *file, const char *label, bool original)
{
	static struct simulation simulation;
	static struct config config;
	int policy;

	if (config_read(&config, file, false, tell, NULL) < 0)
		return 1;
	policy = policy_labelled(&config, label);
	if (policy < 0) {
		fprintf(stderr, "retrybudget: simulate: no section [destination %s]\n", label);
		return EXIT_USAGE;
	}
	start(&simulation, &config, policy, original);
	return simulate(&simulation, stdin, stdout) && fflush(stdout) == 0 ? 0 : 1;
}

bool trace_count(const struct policy *policy, const struct bucket_rule *process, FILE *trace,
                 int *asked, int *went)
{
	static struct simulation simulation;
	bool good;

	begin(&simulation, policy, process);
	rewind(trace);
	good = simulate(&simulation, trace, NULL);
	*asked = simulation.asked;
	*went = simulation.gone;
	return good;
}
