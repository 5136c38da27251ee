/* SPDX-License-Identifier: MIT */
/* Nothing is held twice: what is given back is taken off before the request says so. */
#include "tool/holder.h"

void holder_expire(struct holder *holder, int64_t now)
{
	if (now < holder->until)
		return;
	for (int i = 0; i < PURSES; i++)
		holder->held[i] = 0;
}

void holder_spend(struct holder *holder, enum ledger_purse purse, int64_t count)
{
	holder->held[purse] = greater(holder->held[purse] - greater(count, 0), 0);
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
		holder->held[i] -= ask->back[i];
		ask->held[i] = holder->held[i];
		ask->wants[i] = ask->back[i] > 0 ? 0 : greater(wants[i] - holder->held[i], 0);
	}
	holder->asked = now;
}

bool holder_answer(struct holder *holder, const struct ledger_answer *answer, int64_t now)
{
	const int64_t asked = holder->asked;
	const int64_t lifetime = within(answer->lifetime, 0, FLEET_LIFE_MOST);

	holder_expire(holder, now);
	holder->asked = 0;
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
	return true;
}

void holder_lose(struct holder *holder)
{
	holder->asked = 0;
}

void holder_adopt(struct holder *holder, int64_t tokens, int64_t probes, int64_t until)
{
	if (holder->held[PURSE_TOKENS] == 0 && holder->held[PURSE_PROBES] == 0)
		holder->until = until;
	else
		holder->until = lesser(holder->until, until);
	holder->held[PURSE_TOKENS] += within(tokens, 0, FLEET_CAPACITY_MOST);
	holder->held[PURSE_PROBES] += within(probes, 0, FLEET_HOSTS_MOST);
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
