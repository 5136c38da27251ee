/* SPDX-License-Identifier: MIT */
/* What a round and the replies of its ledgers do to one label: its state, and the lending of what
 * is held for it. */
#include "agent/fleet_label.h"

#include "agent/lending.h"
#include "sys/real.h"

static const char *const words[FLEET_WORDS] = { "unknown", "good",      "learning",
	                                        "no-rule", "forgotten", "self" };

const char *fleet_word(enum fleet_word word)
{
	return words[word];
}

int64_t fleet_now(void)
{
	return boottime();
}

void fleet_set_word(struct fleet_label *label, enum fleet_word word)
{
	if (label->word != word)
		fprintf(stderr,
		        "retrybudgetd: event=fleet-label label=%s state=%s was=%s epoch=%lld "
		        "generation=%lld\n",
		        label->label, words[word], words[label->word],
		        (long long)label->asker.holder.epoch,
		        (long long)label->asker.holder.generation);
	label->word = word;
}

/* All cells of the label get their part of what is held now. A host that holds nothing, or does
 * not know its part, lives by the reserve. */
void fleet_lend(struct fleet_label *label, int64_t now)
{
	struct holder *holder = &label->asker.holder;
	struct lease_grant grant;
	bool lives;

	asker_expire(&label->asker, now);
	lives = now < holder->until &&
	        (label->word == FLEET_GOOD || holder->held[PURSE_TOKENS] >= FLEET_TOKEN ||
	         holder->held[PURSE_PROBES] > 0);
	grant = (struct lease_grant) { .generation = holder->generation,
		                       .until = lives ? holder_until(holder) : now,
		                       .tokens = holder->held[PURSE_TOKENS],
		                       .probes = holder->held[PURSE_PROBES],
		                       .news_at = label->asker.news_at,
		                       .failing = label->asker.failing,
		                       .waiting = label->asker.waiting };
	(void)demand_lend(&label->fleet->demand, label->label, &grant, now);
}
