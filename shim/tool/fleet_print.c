/* SPDX-License-Identifier: MIT */
/* Rules in the keys of retrybudget(5), sums in words, hosts in rows. */
#ifndef WITHOUT_HIREDIS
#include "tool/fleet_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

/* Of what a ledger shows, behind the rule. */
enum {
	EPOCH = 7,
	TIME,
	LEARNING,
	SUCCESS_AGE,
	GOOD,
	BAD,
	TOKENS_FREE,
	TOKENS_HELD,
	TOKENS_WANTED,
	PROBES_FREE,
	PROBES_HELD,
	PROBES_WANTED,
};

static double thousandth(int64_t value)
{
	return (double)value / 1000;
}

void fleet_print_rule(const struct fleet_rule *rule, FILE *out)
{
	fprintf(
	    out,
	    "capacity=%.15g floor=%.15g/s fleet_reserve=%.15g/s probe=%.15gs fleet_n_max=%" PRId64
	    " lease=%.15gs",
	    thousandth(rule->capacity), thousandth(rule->floor), thousandth(fleet_reserve(rule)),
	    thousandth(rule->probe), rule->hosts, thousandth(rule->lifetime));
}

static void print_news(const int64_t *numbers)
{
	const int64_t sum = numbers[GOOD] + numbers[BAD];

	printf("  news    ");
	if (numbers[SUCCESS_AGE] < 0)
		printf("nobody was answered yet");
	else
		printf("last answered %.1f s ago", thousandth(numbers[SUCCESS_AGE]));
	if (sum > 0)
		printf(", %.1f %% of the attempts lately failed",
		       100 * (double)numbers[BAD] / (double)sum);
	putchar('\n');
}

void fleet_print_ledger(const char *label, const struct fleet_server *server,
                        const int64_t *numbers, int count)
{
	const struct fleet_rule rule = { numbers[0], numbers[1], numbers[2], numbers[3],
		                         numbers[4], numbers[5], numbers[6] };
	int64_t wanted;

	printf("%s at %s\n", label, server->name);
	if (count != FLEET_SHOWN || !fleet_rule_is_valid(&rule)) {
		printf("  no rule: each host has its part of the reserve alone; 'retrybudget fleet "
		       "set %s capacity=N floor=N/s' gives one\n",
		       label);
		return;
	}
	wanted = greater(numbers[TOKENS_WANTED], numbers[PROBES_WANTED]);
	printf("  bound   %.15g retries of all hosts in a second, at most\n",
	       thousandth(fleet_bound(&rule, 1000)));
	printf("  rule    %" PRId64 ": ", rule.generation);
	fleet_print_rule(&rule, stdout);
	printf("\n  ledger  %.1f tokens free, %.1f leased; %" PRId64 " of %" PRId64
	       " probes leased; %" PRId64 " hosts want some\n",
	       thousandth(numbers[TOKENS_FREE]), thousandth(numbers[TOKENS_HELD]),
	       numbers[PROBES_HELD], numbers[PROBES_HELD] + numbers[PROBES_FREE], wanted);
	if (numbers[LEARNING] > 0)
		printf("  state   learning what hosts hold: nobody gets more for %.1f s\n",
		       thousandth(numbers[LEARNING]));
	print_news(numbers);
}

struct hosts {
	char (*names)[WIRE_KEY];
	size_t count, room;
	bool failed;
};

static void add_host(void *arg, const char *host)
{
	struct hosts *hosts = arg;

	if (hosts->count == hosts->room) {
		size_t room = hosts->room ? 2 * hosts->room : 256;
		char(*names)[WIRE_KEY] = reallocarray(hosts->names, room, sizeof(*names));

		if (!names) {
			hosts->failed = true;
			return;
		}
		hosts->names = names;
		hosts->room = room;
	}
	snprintf(hosts->names[hosts->count++], WIRE_KEY, "%s", host);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool fleet_print_hosts(struct fleet_server *server, const char *prefix, const char *label,
                       int64_t time)
{
	struct hosts hosts = { 0 };
	int64_t numbers[FLEET_HOST_SHOWN], held = 0;
	struct wire_call call;
	bool good = fleet_ask_hosts(server, prefix, add_host, &hosts) && !hosts.failed;

	if (good && hosts.count > 0) {
		qsort(hosts.names, hosts.count, sizeof(*hosts.names), by_name);
		printf("  %-40s %9s %7s %9s\n", "HOST", "LEASED", "PROBES", "ASKED");
	}
	for (size_t i = 0; good && i < hosts.count; i++) {
		const char *name = hosts.names[i];

		if (!wire_begin(&call, "retrybudget_1_show_host", prefix, name, label))
			continue;
		good = fleet_ask(server, &call, numbers, FLEET_HOST_SHOWN) == FLEET_HOST_SHOWN;
		/* A name out of the server, not of ours. */
		for (char *at = hosts.names[i]; *at; at++)
			if (*at < ' ' || *at > '~')
				*at = '?';
		if (!good || numbers[0] == 0)
			continue;
		held += numbers[3];
		printf("  %-40s %9.1f %7" PRId64 " %7.1f s\n", name, thousandth(numbers[3]),
		       numbers[4], thousandth(greater(time - numbers[2], 0)));
	}
	if (good)
		printf("  %zu hosts, to which %.1f tokens were leased when they asked last\n",
		       hosts.count, thousandth(held));
	free(hosts.names);
	return good;
}
#else
typedef int fleet_is_not_printed;
#endif
