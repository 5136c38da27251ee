/* SPDX-License-Identifier: MIT */
/* The ring of slices.h. The order of all accesses is one (seq_cst): a strategy that counts itself
 * first and then looks must see whoever counted before, or be seen by him. */
#include "budget/slices.h"

static int64_t width_of(int64_t window)
{
	return within(window, WINDOW_MIN, WINDOW_MAX) / SLICES;
}

/* 32 bits: slices of 10 ms take a year to come round, and cells that old are long overwritten. */
static uint32_t number_of(int64_t window, int64_t at)
{
	return (uint32_t)((at < 0 ? 0 : at) / width_of(window));
}

static uint32_t slice_of(int64_t cell)
{
	return (uint32_t)((uint64_t)cell >> 32);
}

static int64_t count_in(int64_t cell)
{
	return cell & UINT32_MAX;
}

static int64_t packed(uint32_t number, int64_t count)
{
	return (int64_t)((uint64_t)number << 32 | (uint64_t)count);
}

static int64_t added(int64_t count, int64_t n)
{
	if (n < -count)
		return 0;
	return n > SLICE_COUNT_MAX - count ? SLICE_COUNT_MAX : count + n;
}

void slices_add(struct slices *slices, int64_t window, int64_t n, int64_t at)
{
	uint32_t number = number_of(window, at);
	cell64 *cell = &slices->cells[number % SLICES_RING];
	int64_t seen = atomic_load(cell), next;

	if (n < -SLICE_COUNT_MAX)
		n = -SLICE_COUNT_MAX;
	do {
		uint32_t there = slice_of(seen);

		if (there == number)
			next = packed(number, added(count_in(seen), n));
		else if (n <= 0)
			return;
		else if (there == number + SLICES_RING) /* we were stopped for a whole lap */
			next = packed(there, added(count_in(seen), n));
		else
			next = packed(number, added(0, n));
	} while (!atomic_compare_exchange_weak(cell, &seen, next));
}

/* The cell of the highest number that counts anything; NULL: none does. */
static cell64 *newest(struct slices *slices, int64_t *holds)
{
	cell64 *found = NULL;

	*holds = 0;
	for (int i = 0; i < SLICES_RING; i++) {
		int64_t cell = atomic_load(&slices->cells[i]);

		if (count_in(cell) > 0 &&
		    (!found || (int32_t)(slice_of(cell) - slice_of(*holds)) > 0)) {
			found = &slices->cells[i];
			*holds = cell;
		}
	}
	return found;
}

/* Bounded: a rival that counts on and on must not keep us here. */
void slices_undo(struct slices *slices, int64_t n)
{
	for (int tries = 0; n > 0 && tries < 4 * SLICES_RING; tries++) {
		int64_t holds, taken;
		cell64 *cell = newest(slices, &holds);

		if (!cell)
			return;
		taken = count_in(holds) < n ? count_in(holds) : n;
		if (atomic_compare_exchange_strong(cell, &holds, holds - taken))
			n -= taken;
	}
}

int64_t slices_sum(const struct slices *slices, int64_t window, int youngest, int oldest,
                   int64_t now)
{
	uint32_t number = number_of(window, now);
	int64_t sum = 0;

	for (int i = 0; i < SLICES_RING; i++) {
		int64_t cell = atomic_load(&slices->cells[i]);
		int32_t age = (int32_t)(number - slice_of(cell));

		if (age >= youngest && age <= oldest)
			sum += count_in(cell);
	}
	return sum;
}

int64_t slices_until(int64_t window, int n, int64_t now)
{
	int64_t width = width_of(window);

	if (n <= 0)
		return 0;
	return n * width - greater(now, 0) % width;
}
