/* SPDX-License-Identifier: MIT */
/* Counting losses by the second, and handing out delays. */
#include "budget/spread.h"

#include "budget/backoff.h"
#include "budget/policy.h"
#include "sys/cell.h"
#include "sys/second_count.h"

/* Corrupted where it is no count. */
static int64_t usual_of(const struct spread *spread)
{
	int64_t usual = LOAD(spread->usual);

	return usual < 0 || usual > SECOND_COUNT_MOST ? 0 : usual;
}

/* What was usual in the seconds before this one. A server that ends each connection after its reply
 * does so all the time; one that starts anew, all at once. */
static int64_t fade(int64_t usual, int64_t count, int64_t seconds)
{
	if (seconds < 1 || seconds > SECOND_COUNT_BITS)
		return 0;
	if (usual < 2 * count) /* two seconds ago it will have been as many */
		usual = 2 * count;
	return usual >> seconds;
}

/* Counts one. Returns how many there were in this second. */
static int64_t count_loss(struct spread *spread, int64_t now)
{
	int64_t second = now / NS_PER_S, word = LOAD(spread->counted), next;

	do {
		if (second_of(word) == second + 1)
			second++; /* by somebody who read the clock later and was here sooner */
		next = second_count_add(word, second);
	} while (!atomic_compare_exchange_weak(&spread->counted, &word, next));
	if (second_of(word) != second)
		STORE(spread->usual,
		      fade(usual_of(spread), count_of(word), second - second_of(word)));
	return count_of(next);
}

/* Of a herd some read the clock before the one who began it did, and are here after him. */
static bool is_on(int64_t began, int64_t over, int64_t now)
{
	return began > 0 && began - over < now && now - over < began;
}

bool spread_lost(struct spread *spread, int64_t over, int64_t now)
{
	int64_t began = LOAD(spread->began), count = count_loss(spread, now);

	if (is_on(began, over, now)) {
		atomic_fetch_add(&spread->left, 1);
		return false;
	}
	if (count < SPREAD_MANY || count <= 2 * usual_of(spread) ||
	    !atomic_compare_exchange_strong(&spread->began, &began, now))
		return false;
	STORE(spread->left, count);
	return true;
}

int64_t spread_delay(struct spread *spread, int64_t over, int64_t now, uint64_t *random)
{
	int64_t began = LOAD(spread->began), left = LOAD(spread->left);

	if (over <= 0 || !is_on(began, over, now))
		return 0;
	do {
		if (left <= 0)
			return 0;
	} while (!atomic_compare_exchange_weak(&spread->left, &left, left - 1));
	return random_upto(random, now < began ? over : over - (now - began));
}

int64_t spread_start(cell64 *starts, int64_t burst, int64_t over, int64_t now, uint64_t *random,
                     bool *first_of_many)
{
	int64_t second = now / NS_PER_S, word = LOAD(*starts), next;

	*first_of_many = false;
	if (over <= 0)
		return 0;
	do {
		int64_t seen = second_of(word);

		/* A rival's clock may be a moment ahead. */
		next = seen == second || seen == second + 1 ? second_count_more(word)
		                                            : second_count(second, 1);
	} while (!atomic_compare_exchange_weak(starts, &word, next));
	*first_of_many = count_of(next) == burst + 1;
	return count_of(next) > burst ? random_upto(random, over) : 0;
}
