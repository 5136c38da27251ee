/* SPDX-License-Identifier: MIT */
/*
 * The C model of the ledger, by lines: what tests/fleet/agree plays through Redis as well.
 *
 *   set RULE             as retrybudget_1_set takes it: prints the generation that holds
 *   restore US RULE      at a clock, as retrybudget_1_restore takes it: prints the rule that holds
 *   sync US HOST ASK     at a clock, as retrybudget_1_sync takes it: prints the answer
 *   forget               the server is another one
 *   flush                the ledger is lost, and what is known of hosts, and the rule is kept
 *   evict                the ledger alone is lost
 */
#include "tool/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOSTS 64

static struct ledger ledger;
static struct ledger_host hosts[HOSTS];
static bool remembers;

static bool numbers(const char *text, int64_t *values, int count)
{
	int length;

	for (int i = 0; i < count; i++, text += length)
		if (sscanf(text, "%" SCNd64 "%n", &values[i], &length) != 1)
			return false;
	return true;
}

static bool set(const char *text)
{
	int64_t v[7];
	struct fleet_rule rule;

	if (!numbers(text, v, 7))
		return false;
	rule = (struct fleet_rule) { v[0], v[1], v[2], v[3], v[4], v[5], v[6] };
	ledger_set(&ledger, &rule);
	printf("%" PRId64 "\n", ledger.rule.generation);
	return true;
}

static bool restore(const char *text)
{
	int64_t v[8];
	struct fleet_rule rule;

	if (!numbers(text, v, 8))
		return false;
	rule = (struct fleet_rule) { v[1], v[2], v[3], v[4], v[5], v[6], v[7] };
	ledger_restore(&ledger, &rule, v[0]);
	for (size_t i = 0; i < sizeof(ledger.rule) / sizeof(int64_t); i++)
		printf(" %" PRId64, ((const int64_t *)&ledger.rule)[i]);
	putchar('\n');
	return true;
}

static bool sync_one(const char *text)
{
	int64_t v[18];
	struct ledger_answer answer;
	struct ledger_ask ask;

	if (!numbers(text, v, 18) || v[1] < 0 || v[1] >= HOSTS)
		return false;
	ask = (struct ledger_ask) { .life = v[2],
		                    .number = v[3],
		                    .heard = v[4],
		                    .epoch = v[5],
		                    .held = { v[7], v[10] },
		                    .back = { v[8], v[11] },
		                    .wants = { v[9], v[12] },
		                    .good = v[13],
		                    .bad = v[14],
		                    .won = v[15],
		                    .lost = v[16],
		                    .success_age = v[17] };
	ledger_sync(&ledger, &hosts[v[1]], &ask, v[0], remembers, &answer);
	remembers = true;
	printf("%" PRId64, answer.status);
	if (answer.status != LEDGER_NO_RULE)
		for (size_t i = 1; i < sizeof(answer) / sizeof(int64_t); i++)
			printf(" %" PRId64, ((const int64_t *)&answer)[i]);
	putchar('\n');
	return true;
}

static bool obey(const char *line)
{
	if (strncmp(line, "set ", 4) == 0)
		return set(line + 4);
	if (strncmp(line, "restore ", 8) == 0)
		return restore(line + 8);
	if (strncmp(line, "sync ", 5) == 0)
		return sync_one(line + 5);
	if (strncmp(line, "forget", 6) == 0) {
		remembers = false;
		return true;
	}
	if (strncmp(line, "flush", 5) == 0 || strncmp(line, "evict", 5) == 0) {
		struct fleet_rule rule = ledger.rule;

		memset(&ledger, 0, sizeof(ledger));
		if (*line == 'f')
			memset(hosts, 0, sizeof(hosts));
		return ledger_set(&ledger, &rule);
	}
	return false;
}

int main(void)
{
	char line[1024];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin))
		if (!obey(line)) {
			fprintf(stderr, "model: not understood: %s", line);
			return 2;
		}
	return 0;
}
