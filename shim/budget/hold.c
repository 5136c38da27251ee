/* SPDX-License-Identifier: MIT */
/* The time that a streak was held back: the union of the waits in it. */
#include "budget/hold.h"

#define LOAD(place) atomic_load_explicit(&(place), memory_order_relaxed)

int64_t hold_left(const struct hold *hold, int64_t deadline)
{
	int64_t spent = LOAD(hold->spent);

	if (deadline <= 0)
		return INT64_MAX;
	if (spent <= 0)
		return deadline;
	return spent < deadline ? deadline - spent : 0;
}

/* Below zero is what a cut leaves that came after the end of its streak, or a scribble. */
static int64_t added(int64_t spent, int64_t more)
{
	if (spent < 0)
		return more;
	return spent > INT64_MAX - more ? INT64_MAX : spent + more;
}

void hold_begin(struct hold *hold, int64_t from, int64_t to, int64_t longest)
{
	int64_t until = LOAD(hold->until), begin, spent;

	do {
		begin = until > from && until - from <= longest ? until : from;
		if (to <= begin)
			return;
	} while (!atomic_compare_exchange_weak(&hold->until, &until, to));
	spent = LOAD(hold->spent);
	while (!atomic_compare_exchange_weak(&hold->spent, &spent, added(spent, to - begin)))
		;
}

void hold_cut(struct hold *hold, int64_t to, int64_t now)
{
	if (now < to && atomic_compare_exchange_strong(&hold->until, &to, now))
		atomic_fetch_sub(&hold->spent, to - now);
}

void hold_end(struct hold *hold)
{
	atomic_store(&hold->until, 0);
	atomic_store(&hold->spent, 0);
}
