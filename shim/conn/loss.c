/* SPDX-License-Identifier: MIT */
/* Which ends of connections are losses. */
#include "conn/loss.h"

#include "config/current.h"
#include "conn/outcome.h"
#include "report/record.h"
#include "report/refresh.h"
#include "report/report.h"
#include "sys/cell.h"
#include "sys/real.h"

#include <errno.h>

static void say(struct destination *destination, const char *label, const struct policy *policy,
                int64_t now)
{
	struct record record = {
		.event = EVENT_SPREAD,
		.destination = destination,
		.policy = label,
		.observe = policy->mode == MODE_OBSERVE,
		.wait = policy->reconnect_spread,
	};

	announce(now);
	report(&record, now);
}

void loss_seen(const struct socket_entry *entry)
{
	const unsigned int served = TRAIT_SERVED | TRAIT_ONE_WAY;
	unsigned int traits = LOAD(entry->traits);
	const struct config *config = config_current();
	struct account account;
	struct trial trial;
	int saved = errno, index;
	int64_t now;

	/* Where the program ended its half first, that was its end. */
	if (!(traits & TRAIT_KEPT) || !(traits & served) || traits & TRAIT_FINISHED ||
	    !trial_of(entry, &trial))
		return;
	now = monotonic();
	index = destination_account(trial.destination, config, &account);
	/* One that the server ends after its reply is young. */
	if (now - LOAD(entry->since) >= account.policy->min_life &&
	    spread_lost(&trial.destination->spread, account.policy->reconnect_spread, now))
		say(trial.destination, config->labels[index], account.policy, now);
	errno = saved;
}
