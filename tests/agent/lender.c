/* SPDX-License-Identifier: MIT */
/*
 * A daemon without a server, for the tests: what it lends it is told, a line at a time.
 *
 *   look                                   a round; prints one line for each label:
 *                                          LABEL wanted throttled successes failures spent probed
 *                                          members waiting held
 *   lend LABEL TOKENS PROBES MS [NEWS_MS]  lends for so long, with news of a success so long ago;
 *                                          prints the mt that the cells hold
 *
 * Usage: lender CONFIG
 */
#include "agent/host_demand.h"
#include "agent/lending.h"
#include "config/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return ns_of(now);
}

static void look(struct demand *demand)
{
	if (!demand_round(demand, now_ns()))
		puts("cannot");
	for (size_t i = 0; i < demand->label_count; i++) {
		const struct demand_label *one = &demand->labels[i];

		printf("%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
		       " %" PRId64 " %" PRId64 " %" PRId64 "\n",
		       one->label, one->wanted, one->throttled, one->successes, one->failures,
		       one->spent, one->probed, one->members, one->waiting, one->held);
	}
}

static void lend(struct demand *demand, const char *line)
{
	int64_t tokens, probes, ms, news = -1, now = now_ns();
	char label[CONFIG_LABEL];

	if (sscanf(line, "%63s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, label, &tokens,
	           &probes, &ms, &news) < 4) {
		puts("what?");
		return;
	}
	printf("%" PRId64 "\n", demand_lend(demand, label,
	                                    &(struct lease_grant) {
						.generation = 1,
						.until = now + ms * NS_PER_MS,
						.tokens = tokens * MT_PER_TOKEN,
						.probes = probes,
						.news_at = news >= 0 ? now - news * NS_PER_MS : 0 },
	                                    now));
}

int main(int argc, char **argv)
{
	static struct config config;
	struct demand demand;
	char line[256];

	if (argc != 2 || config_read(&config, argv[1], false, NULL, NULL) != 0 ||
	    !demand_start(&demand, &config)) {
		fputs("usage: lender CONFIG\n", stderr);
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "look\n") == 0)
			look(&demand);
		else if (strncmp(line, "lend ", 5) == 0)
			lend(&demand, line + 5);
		else
			puts("what?");
		puts(".");
		fflush(stdout);
	}
	demand_end(&demand);
	return 0;
}
