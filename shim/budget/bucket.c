/* SPDX-License-Identifier: MIT */
/*
 * The token bucket of bucket.h.
 *
 * Tokens and the capacity they are counted against share one cell. So filling a new bucket,
 * following a changed capacity and taking a token are one compare-and-swap each, and there is no
 * half-done state for a rival to see or for a dying process to leave behind. The one thing that a
 * death can lose is a floor payment between its two cells, which the floor makes good.
 *
 * Everything in the cells may be corrupted by another process. Hence unsigned arithmetic on
 * clamped values throughout: no bit pattern overflows or leaves the range 0..capacity.
 */
#include "budget/bucket.h"

/*
 * A rival that read the clock later has moved `refilled` past our now. To move it back would pay
 * that time twice, so only what is further off than threads are held up is taken for a corrupted
 * word or another time namespace, and moved back. (A thread stopped for longer, between its clock
 * and here, has that time paid twice: one bucketful at most.)
 */
#define LATE_AT_MOST (10 * NS_PER_S)

static uint64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return (uint64_t)within(value, low, high);
}

static uint64_t capacity_of(const struct bucket_rule *rule)
{
	return clamp(rule->capacity, 1, BUCKET_CAPACITY_MAX);
}

static uint64_t share_of(uint64_t capacity, int64_t ppm)
{
	return capacity * clamp(ppm, 0, PPM_WHOLE) / (uint64_t)PPM_WHOLE;
}

/* What must remain after paying. Never the whole capacity: retries would be free while the bucket
 * is full, and impossible ever after. */
static uint64_t reserve_of(const struct bucket_rule *rule)
{
	uint64_t capacity = capacity_of(rule), reserve = share_of(capacity, rule->threshold);

	return reserve < capacity ? reserve : capacity - 1;
}

static uint64_t price_of(const struct bucket_rule *rule, int64_t cost)
{
	return clamp(cost, 0, (int64_t)(capacity_of(rule) - reserve_of(rule)));
}

static int64_t packed(uint64_t capacity, uint64_t tokens)
{
	return (int64_t)(capacity << 32 | tokens);
}

/* The tokens in a cell as this rule counts them: a new bucket holds `start`, a changed capacity
 * keeps the fraction. Rounded to the nearest, or two processes with different files would drain the
 * bucket by the rounding alone each time it changes hands. */
static uint64_t tokens_in(int64_t cell, const struct bucket_rule *rule)
{
	uint64_t capacity = capacity_of(rule);
	uint64_t counted = (uint64_t)cell >> 32, tokens = (uint64_t)cell & UINT32_MAX;

	if (counted == 0)
		return share_of(capacity, rule->start);
	if (tokens > counted)
		tokens = counted;
	if (counted == capacity)
		return tokens;
	return (tokens * capacity + counted / 2) / counted;
}

/* On failure *seen is what the cell holds now. */
static bool exchange(struct bucket *bucket, int64_t *seen, int64_t next)
{
	return atomic_compare_exchange_weak_explicit(&bucket->holding, seen, next,
	                                             memory_order_relaxed, memory_order_relaxed);
}

/* mt that the floor pays from time 0 to `at`. A payment is the difference of two of these, so that
 * odd steps add up to the mt to what one long step pays. */
static uint64_t floor_paid(uint64_t at, uint64_t floor)
{
	return at / NS_PER_S * floor + at % NS_PER_S * floor / NS_PER_S;
}

static void refill(struct bucket *bucket, const struct bucket_rule *rule, int64_t now)
{
	int64_t seen = LOAD(bucket->refilled);
	uint64_t floor = clamp(rule->floor, 0, BUCKET_FLOOR_MAX), gained = 0;

	now = greater(now, 1);
	if (seen > 0 && seen <= now) {
		gained = floor_paid((uint64_t)now, floor) - floor_paid((uint64_t)seen, floor);
		if (gained == 0 && floor > 0)
			return;
	} else if (seen > now && seen - now <= LATE_AT_MOST) {
		return;
	}
	if (atomic_compare_exchange_strong_explicit(&bucket->refilled, &seen, now,
	                                            memory_order_relaxed, memory_order_relaxed) &&
	    gained > 0)
		bucket_deposit(bucket, rule, (int64_t)gained);
}

void bucket_start(struct bucket *bucket, const struct bucket_rule *rule, int64_t now)
{
	uint64_t capacity = capacity_of(rule);

	STORE(bucket->refilled, greater(now, 1));
	STORE(bucket->holding, packed(capacity, share_of(capacity, rule->start)));
}

int64_t bucket_peek(const struct bucket *bucket, const struct bucket_rule *rule)
{
	return (int64_t)tokens_in(LOAD(bucket->holding), rule);
}

int64_t bucket_level(struct bucket *bucket, const struct bucket_rule *rule, int64_t now)
{
	refill(bucket, rule, now);
	return bucket_peek(bucket, rule);
}

int64_t bucket_withdraw(struct bucket *bucket, const struct bucket_rule *rule, int64_t cost,
                        int64_t now)
{
	uint64_t reserve = reserve_of(rule), price = price_of(rule, cost), tokens;
	int64_t seen;

	refill(bucket, rule, now);
	seen = LOAD(bucket->holding);
	do {
		tokens = tokens_in(seen, rule);
		if (tokens < reserve + price)
			return -1;
	} while (!exchange(bucket, &seen, packed(capacity_of(rule), tokens - price)));
	return (int64_t)price;
}

void bucket_deposit(struct bucket *bucket, const struct bucket_rule *rule, int64_t mt)
{
	uint64_t capacity = capacity_of(rule), gain = clamp(mt, 0, BUCKET_CAPACITY_MAX);
	int64_t seen = LOAD(bucket->holding), next;

	do {
		uint64_t tokens = tokens_in(seen, rule) + gain;

		next = packed(capacity, tokens < capacity ? tokens : capacity);
		if (next == seen)
			return; /* full: leave the cache line to its readers */
	} while (!exchange(bucket, &seen, next));
}

void bucket_drain(struct bucket *bucket, const struct bucket_rule *rule, int64_t cost, int64_t now)
{
	uint64_t loss = clamp(cost, 0, BUCKET_CAPACITY_MAX);
	int64_t seen, next;

	refill(bucket, rule, now);
	seen = LOAD(bucket->holding);
	do {
		uint64_t tokens = tokens_in(seen, rule);

		next = packed(capacity_of(rule), tokens > loss ? tokens - loss : 0);
	} while (!exchange(bucket, &seen, next));
}

int64_t bucket_wait(struct bucket *bucket, const struct bucket_rule *rule, int64_t cost,
                    int64_t now)
{
	uint64_t floor = clamp(rule->floor, 0, BUCKET_FLOOR_MAX);
	uint64_t wanted = reserve_of(rule) + price_of(rule, cost);
	uint64_t tokens = (uint64_t)bucket_level(bucket, rule, now);
	uint64_t paid, in_second;
	int64_t refilled, wait;

	if (tokens >= wanted)
		return 0;
	if (floor == 0)
		return INT64_MAX;
	refilled = LOAD(bucket->refilled);
	now = greater(now, 1);
	if (refilled < 1 || refilled - now > LATE_AT_MOST)
		refilled = now; /* corrupted since bucket_level() */

	/* The inverse of floor_paid(), counted from the second that `refilled` lies in. */
	in_second = (uint64_t)(refilled % NS_PER_S);
	paid = in_second * floor / NS_PER_S + wanted - tokens;
	wait = (int64_t)((paid * NS_PER_S + floor - 1) / floor - in_second);

	/* Short of overflow: refilled - now lies within LATE_AT_MOST, or is an age to take off. */
	wait += refilled - now;
	return greater(wait, 0);
}
