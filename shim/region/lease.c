/* SPDX-License-Identifier: MIT */
/* What is granted is counted from what has been spent already: nothing is granted twice, and what
 * is spent between the look and the writing is spent of the new lease. */
#include "region/lease.h"

/* A count beyond this was corrupted, and begins anew. */
#define COUNT_MOST (INT64_MAX / 2)

static int64_t begun(int64_t count)
{
	return count < 0 || count > COUNT_MOST ? 0 : count;
}

void lease_compose(struct lease *out, const struct lease *seen, const char *label,
                   const struct lease_grant *grant)
{
	int64_t tokens = within(grant->tokens, 0, LEASE_TOKENS_MOST);
	int64_t probes = within(grant->probes, 0, LEASE_PROBES_MOST);

	STORE(out->label, lease_label(label));
	STORE(out->generation, grant->generation);
	STORE(out->until, grant->until);
	STORE(out->tokens, begun(LOAD(seen->spent)) + tokens);
	STORE(out->amount, tokens);
	STORE(out->probes, begun(LOAD(seen->probed)) + probes);
	STORE(out->probe_left, probes);
	STORE(out->members, within(grant->members, 1, LEASE_MEMBERS_MOST));
	STORE(out->news_at, greater(grant->news_at, 0));
	STORE(out->news,
	      within(grant->failing, 0, PPM_WHOLE) << 32 | within(grant->waiting, 0, UINT32_MAX));
	STORE(out->check, lease_check(out));
}

static int64_t used(int64_t upto, int64_t amount, int64_t count)
{
	return count < 0 || upto < amount ? 0 : within(count - (upto - amount), 0, amount);
}

int64_t lease_spent(const struct lease *seen)
{
	if (LOAD(seen->check) != lease_check(seen))
		return 0;
	return used(LOAD(seen->tokens), within(LOAD(seen->amount), 0, LEASE_TOKENS_MOST),
	            LOAD(seen->spent));
}

int64_t lease_probed(const struct lease *seen)
{
	if (LOAD(seen->check) != lease_check(seen))
		return 0;
	return used(LOAD(seen->probes), within(LOAD(seen->probe_left), 0, LEASE_PROBES_MOST),
	            LOAD(seen->probed));
}
