/* SPDX-License-Identifier: MIT */
/*
 * Strategy of a policy with fleet = on.
 *
 * The rule of leases is Doorman's (github.com/youtube/doorman, doc/design.md: a client that cannot
 * reach its server lives by the lease it has, and then by a safe capacity of its own). The safe
 * capacity is split beforehand by the number of hosts that there can be, and not by how many a
 * server saw last: a server that has forgotten them must not make it larger.
 */
#include "budget/leased.h"

#include "budget/gate.h"
#include "budget/strategy.h"
#include "sys/cell.h"

/* The word of a share: 20 bits that tell the streak, 44 of the number of the period that the last
 * one was taken in. */
#define INDEX_BITS   44
#define INDEX_MASK   ((INT64_C(1) << INDEX_BITS) - 1)
#define LEASED       (INT64_C(1) << INDEX_BITS) /* another tag: the last look found a lease */
#define PERIOD_MOST  (INT64_MAX / 8)
#define RESERVE_SALT UINT64_C(0x9e3779b97f4a7c15)
#define PROBE_SALT   UINT64_C(0xd1342543de82ef95)

static int64_t boot_of(const struct account *account, int64_t now)
{
	return later(now, greater(account->slept, 0));
}

static int64_t times(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(greater(a, 1), greater(b, 1), &product)
	           ? PERIOD_MOST
	           : lesser(product, PERIOD_MOST);
}

/* One of many that must keep within one in `period` together. */
static int64_t part_of(const struct account *account, const struct lease_view *view, int64_t period)
{
	return times(times(period, account->policy->fleet_n_max), view->members);
}

static int64_t reserve_period(const struct account *account, const struct lease_view *view)
{
	int64_t reserve = account->policy->fleet_reserve;

	return reserve <= 0 ? PERIOD_MOST
	                    : part_of(account, view, MT_PER_TOKEN * NS_PER_S / reserve);
}

/* When the streak began that the periods are counted from. A moment that is none was corrupted, or
 * nothing has failed yet: it is now, or its periods would never end. */
static int64_t streak_began(const struct account *account, int64_t now)
{
	int64_t began = LOAD(account->budget->began_at);

	if (began >= 1 && began <= now)
		return began;
	cell_swap(&account->budget->began_at, began, now);
	return now;
}

/* What tells the streak, and where in its period the first one lies. */
static uint64_t draw_of(int64_t began, uint64_t salt)
{
	uint64_t draw = ((uint64_t)began ^ salt) * UINT64_C(0xbf58476d1ce4e5b9);

	draw ^= draw >> 29;
	return draw * UINT64_C(0x94d049bb133111eb);
}

static int64_t tag_of(uint64_t draw)
{
	return (int64_t)(draw >> INDEX_BITS << INDEX_BITS);
}

static void note_lease(cell64 *word, int64_t began, uint64_t salt)
{
	int64_t seen = LOAD(*word), leased = tag_of(draw_of(began, salt)) ^ LEASED;

	if (seen != leased)
		cell_swap(word, seen, leased);
}

/* While a lease lives nothing falls due: late in a streak hosts that lose their leases at one
 * moment would all come then. */
static void read_lease(const struct account *account, int64_t now, struct lease_view *view)
{
	struct lease *lease = &account->budget->lease;
	int64_t began;

	lease_read(lease, account->policy->label, boot_of(account, now), view);
	if (!view->lives)
		return;
	began = streak_began(account, now);
	note_lease(&lease->reserve, began, RESERVE_SALT);
	note_lease(&lease->alone, began, PROBE_SALT);
}

struct share {
	cell64 *word;
	int64_t seen, next; /* of the word: as it is, and once this period's is taken */
	bool is_due;
	int64_t wait; /* ns until the next period */
};

static void look(const struct account *account, cell64 *word, int64_t period, uint64_t salt,
                 int64_t now, struct share *share)
{
	int64_t began = streak_began(account, now), index, taken, since;
	uint64_t draw = draw_of(began, salt);

	since = later(now - began, (int64_t)((draw >> 1) % (uint64_t)period));
	index = since / period & INDEX_MASK;
	share->word = word;
	share->seen = LOAD(*word);
	share->next = tag_of(draw) | index;
	if (share->seen == (tag_of(draw) ^ LEASED) && cell_swap(word, share->seen, share->next))
		share->seen = share->next;
	/* Of another streak nothing has been taken in this one, which begins with period 0. */
	taken = (share->seen ^ share->next) >> INDEX_BITS == 0 ? share->seen & INDEX_MASK : 0;
	share->wait = period - since % period;
	if (taken > index) /* corrupted: the next one is due as if the last had been taken now */
		cell_swap(word, share->seen, share->next);
	share->is_due = index > taken;
}

static void look_reserve(const struct account *account, const struct lease_view *view, int64_t now,
                         struct share *share)
{
	look(account, &account->budget->lease.reserve, reserve_period(account, view), RESERVE_SALT,
	     now, share);
}

static void look_alone(const struct account *account, const struct lease_view *view, int64_t now,
                       struct share *share)
{
	look(account, &account->budget->lease.alone, part_of(account, view, account->policy->probe),
	     PROBE_SALT, now, share);
}

static bool take_share(const struct share *share)
{
	return share->is_due && cell_swap(share->word, share->seen, share->next);
}

static int64_t share_wait(const struct share *share)
{
	return share->is_due ? 0 : share->wait >= PERIOD_MOST / 2 ? INT64_MAX : share->wait;
}

bool leased_lives(const struct account *account, int64_t now)
{
	struct lease_view view;

	read_lease(account, now, &view);
	return view.lives;
}

bool leased_probe(const struct account *account, int64_t now)
{
	struct lease_view view;
	struct share share;

	read_lease(account, now, &view);
	if (view.lives)
		return lease_probe(&account->budget->lease, account->policy->label,
		                   boot_of(account, now));
	look_alone(account, &view, now, &share);
	return take_share(&share);
}

int64_t leased_probe_wait(const struct account *account, int64_t now)
{
	struct lease_view view;
	struct share share;

	read_lease(account, now, &view);
	if (view.lives)
		return view.probes > 0 ? 0 : INT64_MAX;
	look_alone(account, &view, now, &share);
	return share_wait(&share);
}

int64_t leased_override_wait(const struct account *account, int64_t now)
{
	int64_t last = LOAD(account->budget->admitted_at);
	struct lease_view view;

	read_lease(account, now, &view);
	if (!view.lives)
		return leased_probe_wait(account, now);
	if (view.probes < 1)
		return INT64_MAX;
	if (last < 1)
		return 0;
	/* One in the future is a rival's later clock, or garbage, and counts as now. */
	return greater(account->policy->probe - (last > now ? 0 : now - last), 0);
}

bool leased_has_news(const struct account *account, int64_t now)
{
	/* failed_at moves with each refusal. */
	int64_t tried_at = within(LOAD(account->budget->admitted_at), 0, now);
	struct lease_view view;

	read_lease(account, now, &view);
	return view.news_at > later(tried_at, greater(account->slept, 0));
}

static int64_t wait_for(const struct account *account, int64_t cost, int64_t now)
{
	struct lease_view view;
	struct share share;

	if (cost <= 0)
		return 0;
	read_lease(account, now, &view);
	if (view.lives)
		return view.left >= MT_PER_TOKEN ? 0 : INT64_MAX;
	look_reserve(account, &view, now, &share);
	return share_wait(&share);
}

static int64_t take(const struct account *account, int64_t cost, int64_t now)
{
	struct lease_view view;
	struct share share;

	(void)cost;
	read_lease(account, now, &view);
	if (view.lives)
		return lease_spend(&account->budget->lease, account->policy->label, MT_PER_TOKEN,
		                   boot_of(account, now));
	look_reserve(account, &view, now, &share);
	return take_share(&share) ? 0 : -1; /* nothing that a lease could be given back */
}

static void refund(const struct account *account, int64_t mt, bool goes)
{
	(void)goes;
	if (mt > 0)
		lease_return(&account->budget->lease, account->policy->label, MT_PER_TOKEN);
}

static void note(const struct account *account, enum event_kind kind, int64_t cost, int64_t now)
{
	(void)account;
	(void)kind;
	(void)cost;
	(void)now;
}

static int64_t level(const struct account *account, int64_t now, int64_t *limit)
{
	struct lease_view view;
	struct share share;

	read_lease(account, now, &view);
	*limit = greater(view.amount, MT_PER_TOKEN);
	if (view.lives)
		return view.left;
	look_reserve(account, &view, now, &share);
	return share.is_due ? MT_PER_TOKEN : 0;
}

const struct strategy_calls strategy_lease = {
	wait_for, take, refund, note, level,
};
