/* SPDX-License-Identifier: MIT */
/* Ten thousand hosts that start at once, or lose their server at once, must not ask in step. */
#include "tool/asker.h"

#include "sys/random.h"

#define IDLE 30 /* syncs */

void asker_begin(struct asker *asker, int64_t life, int64_t sync, uint64_t random)
{
	*asker = (struct asker) { .holder = { .life = life }, .sync = sync };
	asker->early = random_upto(&random, (IDLE - 1) * sync / 2);
}

/* No more outcomes than attempts that a lease let go, whatever a region's users claim. */
static void note_retries(struct asker *asker, const struct asker_seen *seen)
{
	const int64_t went = seen->spent / FLEET_TOKEN + seen->probed;
	const int64_t pending =
	    lesser(asker->pending + greater(went, 0), FLEET_CAPACITY_MOST / FLEET_TOKEN);
	const int64_t lost = within(seen->lost, 0, pending);
	const int64_t won = within(seen->won, 0, pending - lost);

	asker->pending = pending - lost - won;
	asker->lost = later(asker->lost, lost);
	asker->won = later(asker->won, won);
}

void asker_note(struct asker *asker, const struct asker_seen *seen, int64_t now)
{
	holder_spend(&asker->holder, PURSE_TOKENS, seen->spent);
	holder_spend(&asker->holder, PURSE_PROBES, seen->probed);
	holder_expire(&asker->holder, now);
	asker->now_spent += seen->spent;
	asker->now_wanted += seen->wanted;
	asker->good = later(asker->good, greater(seen->good, 0));
	asker->bad = later(asker->bad, greater(seen->bad, 0));
	note_retries(asker, seen);
	asker->success_at = greater(asker->success_at, seen->success_at);
	/* Where others wait, a success is news, and worth a request. */
	asker->is_news = asker->waiting > 0 && asker->success_at > asker->asked_at;
	asker->is_active = asker->is_news || seen->wanted > 0 || seen->waiting > 0 ||
	                   asker->holder.held[PURSE_TOKENS] > 0;
	if (asker->is_active)
		asker->patience = 0;
}

bool asker_is_due(const struct asker *asker, bool is_good, int64_t lifetime, int64_t now)
{
	/* Rarer than a lease's eighth the ledger would take it for two hosts. */
	const int64_t sync = lifetime > 0 ? lesser(asker->sync, lifetime / 8) : asker->sync;
	const int64_t since = now - asker->asked_at;

	if (asker->is_news)
		return since >= sync * 3 / 8;
	if (asker->is_active)
		return since >= sync * 3 / 4;
	if (!is_good && since >= greater(asker->patience, sync * 3 / 4))
		return true;
	return since >= IDLE * sync - lesser(asker->early, (IDLE - 1) * sync);
}

/* Who holds something is active, and looks twice a sync, a tenth more or less. */
void asker_expire(struct asker *asker, int64_t now)
{
	holder_expire_by(&asker->holder, now, now + asker->sync / 20 * 11);
}

/* A loop that asks a thousand times wants no thousand tokens: its backoff lets few go. What was
 * spent lately, twice, and one for each cell that waits, so that who spends it all gets more. */
static int64_t wants_of(struct asker *asker, int64_t waiting)
{
	const int64_t wanted = asker->now_wanted * FLEET_TOKEN;

	asker->recent = greater(asker->now_spent, asker->recent / 2);
	asker->now_spent = asker->now_wanted = 0;
	return lesser(wanted, 2 * asker->recent + waiting * FLEET_TOKEN);
}

void asker_ask(struct asker *asker, int64_t waiting, int64_t now, struct ledger_ask *ask)
{
	const int64_t wants[PURSES] = { wants_of(asker, waiting), waiting > 0 };

	holder_ask(&asker->holder, wants, now, ask);
	ask->good = asker->told_good = asker->good;
	ask->bad = asker->told_bad = asker->bad;
	/* Each answer earns once: what is lost on the way is not told again. */
	ask->won = asker->won;
	ask->lost = asker->lost;
	asker->won = asker->lost = 0;
	if (asker->success_at > 0)
		ask->success_age = greater(now - asker->success_at, 0) / NS_PER_MS;
	asker->patience = within(2 * asker->patience, asker->sync * 3 / 4, IDLE * asker->sync);
	asker->asked_at = now;
}

bool asker_answer(struct asker *asker, const struct ledger_answer *answer, int64_t most,
                  int64_t now)
{
	const int64_t asked = asker->holder.asked_at;

	if (!holder_answer(&asker->holder, answer, now))
		return false;
	asker->holder.until = lesser(asker->holder.until, asked + most);
	if (answer->learning)
		asker->patience = 0;
	asker->failing = greater(answer->failing, 0);
	asker->waiting = answer->waiting;
	asker->good = greater(asker->good - asker->told_good, 0);
	asker->bad = greater(asker->bad - asker->told_bad, 0);
	if (answer->success_age >= 0)
		asker->news_at = greater(
		    asked - lesser(answer->success_age, INT64_MAX / NS_PER_MS) * NS_PER_MS, 1);
	return true;
}

int64_t asker_pause(int64_t sync, bool is_active, uint64_t *random)
{
	const int64_t pause = is_active ? sync / 2 : sync;

	return pause + random_upto(random, pause / 5) - pause / 10;
}
