/* SPDX-License-Identifier: MIT */
/* Nothing is held twice: what is given back is taken off before the request says so. */
#include "tool/holder.h"

void holder_expire(struct holder *holder, int64_t now)
{
	if (now >= holder->until) {
		for (int i = 0; i < PURSES; i++)
			holder->held[i] = 0;
		holder->earned = 0;
	} else if (now >= holder->earned_until) {
		holder->held[PURSE_TOKENS] -= holder->earned;
		holder->earned = 0;
	}
}

void holder_expire_by(struct holder *holder, int64_t now, int64_t next)
{
	holder_expire(holder, now);
	if (next < holder->earned_until)
		return;
	holder->held[PURSE_TOKENS] -= holder->earned;
	holder->earned = 0;
}

int64_t holder_until(const struct holder *holder)
{
	return holder->earned > 0 ? lesser(holder->until, holder->earned_until) : holder->until;
}

static void set_held(struct holder *holder, enum ledger_purse purse, int64_t count)
{
	holder->held[purse] = count;
	holder->earned = lesser(holder->earned, holder->held[PURSE_TOKENS]);
}

/* More that answers have earned, until that moment; no part of it lasts longer than the first. */
static void add_earned(struct holder *holder, int64_t mt, int64_t until)
{
	if (mt <= 0)
		return;
	holder->earned_until = holder->earned > 0 ? lesser(holder->earned_until, until) : until;
	holder->earned = lesser(holder->earned + mt, holder->held[PURSE_TOKENS]);
}

void holder_spend(struct holder *holder, enum ledger_purse purse, int64_t count)
{
	set_held(holder, purse, greater(holder->held[purse] - greater(count, 0), 0));
}

/* What stays: as much as is wanted, or half of the rest; whole tokens of that go back. */
static int64_t surplus(const struct holder *holder, int i, int64_t wants)
{
	const int64_t whole = i == PURSE_TOKENS ? FLEET_TOKEN : 1, held = holder->held[i];
	int64_t stays = greater(wants, held / 2);

	if (i == PURSE_TOKENS && holder->keep > 0)
		stays = lesser(stays, greater(holder->keep, FLEET_TOKEN));
	return held <= stays ? 0 : (held - stays + whole - 1) / whole * whole;
}

void holder_ask(struct holder *holder, const int64_t wants[PURSES], int64_t now,
                struct ledger_ask *ask)
{
	holder_expire(holder, now);
	*ask = (struct ledger_ask) { .life = holder->life,
		                     .number = ++holder->number,
		                     .heard = holder->heard,
		                     .epoch = holder->epoch,
		                     .success_age = -1 };
	for (int i = 0; i < PURSES; i++) {
		ask->back[i] = lesser(surplus(holder, i, wants[i]), holder->held[i]);
		set_held(holder, i, holder->held[i] - ask->back[i]);
		ask->held[i] = holder->held[i];
		ask->wants[i] = ask->back[i] > 0 ? 0 : greater(wants[i] - holder->held[i], 0);
	}
	holder->asked_at = now;
}

bool holder_answer(struct holder *holder, const struct ledger_answer *answer, int64_t now)
{
	const int64_t asked = holder->asked_at;
	const int64_t lifetime = within(answer->lifetime, 0, FLEET_LIFE_MOST);

	holder_expire(holder, now);
	holder->asked_at = 0;
	if (asked == 0 || answer->status != LEDGER_GOOD)
		return false;
	holder->heard = holder->number;
	holder->epoch = answer->epoch;
	holder->generation = answer->generation;
	holder->keep = greater(answer->keep, 0);
	if (now - asked >= lifetime * NS_PER_MS)
		return false;
	holder->until = asked + lifetime * NS_PER_MS;
	for (int i = 0; i < PURSES; i++)
		holder->held[i] += within(answer->grant[i], 0, FLEET_CAPACITY_MOST);
	add_earned(holder, answer->earned, holder->until);
	return true;
}

void holder_lose(struct holder *holder)
{
	holder->asked_at = 0;
}

void holder_adopt(struct holder *holder, int64_t tokens, int64_t probes, int64_t until)
{
	if (holder->held[PURSE_TOKENS] == 0 && holder->held[PURSE_PROBES] == 0)
		holder->until = until;
	else
		holder->until = lesser(holder->until, until);
	holder->held[PURSE_TOKENS] += within(tokens, 0, FLEET_CAPACITY_MOST);
	holder->held[PURSE_PROBES] += within(probes, 0, FLEET_HOSTS_MOST);
	add_earned(holder, tokens, until);
}

/* Those who want less than a part of what is left get what they want, until none does; the others
 * get the part. */
void holder_divide(int64_t amount, int64_t quantum, const int64_t *wants, int64_t *gets, size_t n,
                   size_t turn)
{
	int64_t left = amount / quantum, hungry = 0, part, satisfied;

	for (size_t i = 0; i < n; i++) {
		gets[i] = 0;
		hungry += wants[i] > 0;
	}
	do {
		part = hungry > 0 ? left / hungry : 0;
		satisfied = 0;
		for (size_t i = 0; i < n && part > 0; i++) {
			int64_t want = (wants[i] + quantum - 1) / quantum;

			if (gets[i] > 0 || want <= 0 || want > part)
				continue;
			gets[i] = want * quantum;
			left -= want;
			hungry--;
			satisfied++;
		}
	} while (satisfied > 0);
	part = hungry > 0 ? left / hungry : 0;
	left -= part * hungry;
	for (size_t k = 0; k < n; k++) {
		size_t i = (turn + k) % n;

		if (gets[i] > 0 || wants[i] <= 0)
			continue;
		gets[i] = (part + (left > 0)) * quantum;
		left -= left > 0;
	}
}
