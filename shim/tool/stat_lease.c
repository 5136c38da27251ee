/* SPDX-License-Identifier: MIT */
/* What a destination has of the budget of a fleet, as words. A region says nothing of its policies:
 * one that has ever had a lease, or used its reserve, draws on the fleet. */
#include "tool/stat_lease.h"

#include "sys/real.h"
#include "tool/stat_text.h"

#include <inttypes.h>
#include <string.h>

bool stat_is_leased(const struct destination *destination)
{
	const struct lease *lease = &destination->budget.lease;

	return LOAD(lease->check) != 0 || LOAD(lease->reserve) != 0 || LOAD(lease->alone) != 0;
}

int64_t stat_lease(const struct destination *destination, struct lease_view *view)
{
	char policy[REGION_LABEL + 1] = "";
	int64_t now = boottime();

	memcpy(policy, destination->policy, strnlen(destination->policy, REGION_LABEL));
	lease_read(&destination->budget.lease, lease_label(policy), now, view);
	return now;
}

const char *stat_budget(const struct destination *destination)
{
	static char text[64];
	struct lease_view view;

	if (!stat_is_leased(destination))
		return stat_level(&destination->budget.bucket);
	(void)stat_lease(destination, &view);
	if (!view.lives)
		return "reserve";
	(void)snprintf(text, sizeof(text), "%" PRId64 ".%" PRId64 "/%" PRId64, view.left / 1000,
	               view.left % 1000 / 100, view.amount / 1000);
	return text;
}

void stat_print_lease(FILE *out, const struct destination *destination)
{
	const struct lease *lease = &destination->budget.lease;
	struct lease_view view;
	int64_t now;

	if (!stat_is_leased(destination))
		return;
	now = stat_lease(destination, &view);
	fprintf(out, "    of the fleet: %" PRId64 " tokens and %" PRId64 " probes so far; ",
	        greater(LOAD(lease->spent), 0) / 1000, greater(LOAD(lease->probed), 0));
	if (!view.lives) {
		fputs("no lease now, but this host's part of the reserve\n", out);
		return;
	}
	fprintf(out, "a lease of %s, %" PRId64 " probes, for %.1f s", stat_budget(destination),
	        view.probes, (double)(view.until - now) / NS_PER_S);
	if (view.news_at > 0)
		fprintf(out, "; it answered %.1f s ago", (double)(now - view.news_at) / NS_PER_S);
	if (view.waiting > 0)
		fprintf(out, "; %" PRId64 " hosts wait", view.waiting);
	putc('\n', out);
}
