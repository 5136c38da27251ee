/* SPDX-License-Identifier: MIT */
/*
 * A cell is copied word by word, while the daemon may be writing: the check is reckoned over the
 * copy, and not over the cell, or the words could change between the one look and the other.
 */
#include "budget/lease_cell.h"

#include "sys/hash.h"

#include <stddef.h>
#include <string.h>

/* The daemon's words, [0] being their check. */
#define CHECKED (offsetof(struct lease, spent) / sizeof(cell64))
#define LAYOUT  UINT64_C(0x6c65617365000001) /* another layout's words check for none of these */

#define FAILING_AT   32
#define WAITING_MASK INT64_C(0xffffffff)
#define PPM          INT64_C(1000000)

_Static_assert(sizeof(struct lease) == 15 * sizeof(cell64) &&
                   offsetof(struct lease, spent) == 11 * sizeof(cell64),
               "the same in 32 and 64 bit");

int64_t lease_label(const char *label)
{
	uint64_t hash = hash_bytes(HASH_START, label, strlen(label));

	return hash ? (int64_t)hash : 1;
}

int64_t lease_check(const struct lease *lease)
{
	const cell64 *words = (const cell64 *)lease;
	uint64_t hash = LAYOUT;

	for (size_t i = 1; i < CHECKED; i++) {
		hash = (hash ^ (uint64_t)LOAD(words[i])) * UINT64_C(0xbf58476d1ce4e5b9);
		hash ^= hash >> 31;
	}
	return hash ? (int64_t)hash : 1; /* a cell of zeroes checks for nothing */
}

/* False: no lease for this label, whole and alive, stands in the copy. */
static bool take_copy(const struct lease *lease, int64_t label, struct lease *copy, bool *is_whole,
                      int64_t boot)
{
	const cell64 *from = (const cell64 *)lease;
	cell64 *to = (cell64 *)copy;
	int64_t until;

	for (size_t i = 0; i < CHECKED; i++)
		STORE(to[i], LOAD(from[i]));
	*is_whole = LOAD(copy->check) == lease_check(copy) && LOAD(copy->label) == label;
	until = LOAD(copy->until);
	return *is_whole && until > boot && until <= later(boot, LEASE_LONGEST);
}

/* How much of an amount that ends at `upto` is left where `count` has come. A count of before the
 * amount began, or so far behind its end that no lease that was taken back could have left it
 * there, was corrupted: the amount is whole, and the count is mended by whoever spends of it. */
static int64_t left_of(int64_t upto, int64_t amount, int64_t count, int64_t most)
{
	if (count >= upto)
		return count - upto > most ? amount : 0;
	return count < 0 ? amount : lesser(upto - count, amount);
}

/* An amount that ends at `upto`, which is no longer than that, or it would have begun before 0: a
 * hostile member's would be whole again each time that somebody spends of it. */
static int64_t amount_of(int64_t amount, int64_t upto, int64_t most)
{
	return within(amount, 0, lesser(upto, most));
}

static int64_t tokens_left(const struct lease *copy, int64_t spent)
{
	int64_t upto = greater(LOAD(copy->tokens), 0);

	return left_of(upto, amount_of(LOAD(copy->amount), upto, LEASE_TOKENS_MOST), spent,
	               LEASE_TOKENS_MOST);
}

static int64_t probes_left(const struct lease *copy, int64_t probed)
{
	int64_t upto = greater(LOAD(copy->probes), 0);

	return left_of(upto, amount_of(LOAD(copy->probe_left), upto, LEASE_PROBES_MOST), probed,
	               LEASE_PROBES_MOST);
}

void lease_read(const struct lease *lease, int64_t label, int64_t boot, struct lease_view *view)
{
	struct lease copy;
	int64_t news;

	*view = (struct lease_view) { .members = 1 };
	view->lives = take_copy(lease, label, &copy, &view->is_whole, boot);
	if (view->is_whole)
		view->members = within(LOAD(copy.members), 1, LEASE_MEMBERS_MOST);
	if (!view->lives)
		return;
	news = LOAD(copy.news);
	view->generation = LOAD(copy.generation);
	view->until = LOAD(copy.until);
	view->amount = within(LOAD(copy.amount), 0, LEASE_TOKENS_MOST);
	view->left = tokens_left(&copy, LOAD(lease->spent));
	view->probes = probes_left(&copy, LOAD(lease->probed));
	view->news_at = LOAD(copy.news_at) > boot ? boot : greater(LOAD(copy.news_at), 0);
	view->failing = within(news >> FAILING_AT, 0, PPM);
	view->waiting = news & WAITING_MASK;
}

int64_t lease_spend(struct lease *lease, int64_t label, int64_t cost, int64_t boot)
{
	struct lease copy;
	int64_t spent, left, upto;
	bool is_whole;

	if (!take_copy(lease, label, &copy, &is_whole, boot))
		return -1;
	upto = greater(LOAD(copy.tokens), 0);
	do {
		spent = LOAD(lease->spent);
		left = tokens_left(&copy, spent);
		if (cost > left)
			return -1;
	} while (!cell_swap(&lease->spent, spent, upto - left + cost));
	return cost;
}

void lease_return(struct lease *lease, int64_t label, int64_t mt)
{
	struct lease copy;
	int64_t spent, left, upto, amount;
	bool is_whole;

	(void)take_copy(lease, label, &copy, &is_whole, 0);
	if (!is_whole)
		return;
	upto = greater(LOAD(copy.tokens), 0);
	amount = amount_of(LOAD(copy.amount), upto, LEASE_TOKENS_MOST);
	do {
		spent = LOAD(lease->spent);
		/* What has been taken back since is owed to nobody. */
		if (spent > upto)
			return;
		left = lesser(tokens_left(&copy, spent) + greater(mt, 0), amount);
	} while (!cell_swap(&lease->spent, spent, upto - left));
}

bool lease_probe(struct lease *lease, int64_t label, int64_t boot)
{
	struct lease copy;
	int64_t probed, left, upto;
	bool is_whole;

	if (!take_copy(lease, label, &copy, &is_whole, boot))
		return false;
	upto = greater(LOAD(copy.probes), 0);
	do {
		probed = LOAD(lease->probed);
		left = probes_left(&copy, probed);
		if (left < 1)
			return false;
	} while (!cell_swap(&lease->probed, probed, upto - left + 1));
	return true;
}
