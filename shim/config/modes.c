/* SPDX-License-Identifier: MIT */
/* What the lines say is kept beside what holds, so that a bound that is taken back leaves nothing
 * behind, and no file need be read for it. */
#include "config/modes.h"

#include "budget/lease_cell.h"

#include <string.h>

void modes_begin(struct config *config)
{
	struct written_modes *written = &config->written;

	written->general = (int8_t)config->general.mode;
	memset(written->policies, MODE_AS_IN_FILE, sizeof(written->policies));
	memset(written->admissions, MODE_AS_IN_FILE, sizeof(written->admissions));
}

static int32_t mode_of(int32_t own, int32_t otherwise, int32_t asked)
{
	int32_t mode = own == MODE_AS_IN_FILE ? otherwise : own;

	return asked != MODE_AS_IN_FILE && mode > asked ? asked : mode;
}

/* What is asked on fast paths in one look. */
static void sum_up(struct config *config)
{
	config->datagrams = config->tls = false;
	for (int i = 0; i < config->policy_count; i++) {
		struct policy *policy = &config->policies[i];

		config->datagrams |= policy->mode != MODE_OFF && policy->udp;
		config->tls |= policy->mode != MODE_OFF && policy->tls;
		policy->leased = policy->fleet && config->fleet.redis[0] != '\0';
		policy->label = policy->leased ? lease_label(config->labels[i]) : 0;
		policy->bounds_first =
		    policy->reconnect_spread > 0 || policy->start_spread > 0 || policy->rate > 0;
		policy->plain = !policy->bounds_first && !policy->breaker.on && !policy->tls &&
		                policy->strategy == STRATEGY_BUCKET && !policy->refund &&
		                policy->connect_timeout <= 0 && policy->reply_timeout <= 0;
	}
}

void modes_settle(struct config *config, int32_t asked)
{
	const struct written_modes *written = &config->written;
	int32_t general = asked == MODE_AS_IN_FILE ? written->general : asked;
	int32_t common = mode_of(written->policies[0], general, MODE_AS_IN_FILE);

	config->general.mode = general;
	for (int i = 0; i < config->policy_count; i++)
		config->policies[i].mode = mode_of(written->policies[i], common, asked);
	for (int i = 0; i < config->admission_count; i++)
		config->admissions[i].mode = mode_of(written->admissions[i], general, asked);
	sum_up(config);
}
