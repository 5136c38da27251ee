/* SPDX-License-Identifier: MIT */
/* Rules in the keys of retrybudget(5), sums in words, hosts in rows. */
#ifndef WITHOUT_HIREDIS
#include "tool/fleet_print.h"

#include "tool/fleet_hosts.h"

#include <inttypes.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

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
	const int64_t sum = later(greater(numbers[SHOWN_GOOD], 0), greater(numbers[SHOWN_BAD], 0));

	printf("  news    ");
	if (numbers[SHOWN_SUCCESS_AGE] < 0)
		printf("nobody was answered yet");
	else
		printf("last answered %.1f s ago", thousandth(numbers[SHOWN_SUCCESS_AGE]));
	if (sum > 0)
		printf(", %.1f %% of the attempts lately failed",
		       100 * (double)numbers[SHOWN_BAD] / (double)sum);
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
	wanted = greater(numbers[SHOWN_TOKENS_WANTED], numbers[SHOWN_PROBES_WANTED]);
	printf("  bound   %.15g retries of all hosts in a second of an outage, at most\n",
	       thousandth(fleet_bound(&rule, 1000)));
	printf("  rule    %" PRId64 ": ", rule.generation);
	fleet_print_rule(&rule, stdout);
	printf("\n  ledger  %.1f tokens free, %.1f leased, %.1f earned by answers; %" PRId64
	       " of %" PRId64 " probes leased; %" PRId64 " hosts want some\n",
	       thousandth(numbers[SHOWN_TOKENS_FREE]), thousandth(numbers[SHOWN_TOKENS_HELD]),
	       thousandth(numbers[SHOWN_EARNED]), numbers[SHOWN_PROBES_HELD],
	       numbers[SHOWN_PROBES_HELD] + numbers[SHOWN_PROBES_FREE], wanted);
	if (numbers[SHOWN_LEARNING] > 0)
		printf("  state   learning what hosts hold: nobody gets more for %.1f s\n",
		       thousandth(numbers[SHOWN_LEARNING]));
	print_news(numbers);
}

struct rows {
	size_t count;
	int64_t held, time;
};

static void print_host(void *arg, const char *name, const int64_t *numbers)
{
	struct rows *rows = arg;

	if (rows->count++ == 0)
		printf("  %-40s %9s %7s %9s\n", "HOST", "LEASED", "PROBES", "ASKED");
	rows->held += numbers[3];
	printf("  %-40s %9.1f %7" PRId64 " %7.1f s\n", name, thousandth(numbers[3]), numbers[4],
	       thousandth(greater(rows->time - numbers[2], 0)));
}

bool fleet_print_hosts(struct fleet_server *server, const char *prefix, const char *label,
                       int64_t time)
{
	struct rows rows = { .time = time };

	if (!fleet_each_host(server, prefix, label, print_host, &rows))
		return false;
	printf("  %zu hosts, to which %.1f tokens were leased when they asked last\n", rows.count,
	       thousandth(rows.held));
	return true;
}
#else
typedef int fleet_is_not_printed;
#endif
