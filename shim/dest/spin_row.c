/* SPDX-License-Identifier: MIT */
/* A word a row: 24 bits of the lineage's hash, 32 of when the last of it was told, in units of
 * 2^20 ns, and 8 of how many they were. */
#include "dest/spin_row.h"

#include "sys/arithmetic.h"

/* Refusals in a row from which a lineage spins; the pause that ends a row: more than most programs
 * need to be started and to end, and of those that spin a longer one, since a machine that is busy,
 * perhaps with them, starts nothing quickly; how long one may take from its start to its try
 * without having done something else: interpreters, on a busy machine; and how close to each other
 * two of them count as one: a shell may have started twenty in the background within 100 ms, and
 * some end while it still starts others. */
#define ROW   10
#define PAUSE (80 * NS_PER_MS)
#define SPUN  (250 * NS_PER_MS)
#define LIFE  (200 * NS_PER_MS)
#define CLOSE (15 * NS_PER_MS)

#define UNIT_BITS  20 /* of a time */
#define COUNT_BITS 8
#define MOST       ((INT64_C(1) << COUNT_BITS) - 1)
#define HASH_MASK  UINT64_C(0xffffff)
#define HASH_SHIFT 40
#define SHARED     (REGION_KIN_ROWS - 1)

static uint32_t time_of(int64_t now)
{
	return (uint32_t)((uint64_t)now >> UNIT_BITS);
}

static uint32_t told_of(int64_t row)
{
	return (uint32_t)((uint64_t)row >> COUNT_BITS);
}

static uint64_t hash_of(int64_t row)
{
	return (uint64_t)row >> HASH_SHIFT;
}

static int64_t pack(uint64_t hash, uint32_t told, int64_t count)
{
	return (int64_t)(hash << HASH_SHIFT | (uint64_t)told << COUNT_BITS | (uint64_t)count);
}

/* Units from when the last of the row was told until `now`: less than 0 where that is yet to come.
 */
static int32_t gap_of(int64_t row, int64_t now)
{
	return (int32_t)(time_of(now) - told_of(row));
}

/* more: than a pause, ns. */
static bool is_over(int64_t row, int64_t more, int64_t now)
{
	int64_t pause = ((row & MOST) > ROW ? SPUN : PAUSE) + more;
	int32_t gap = gap_of(row, now);

	return row == 0 || gap > pause >> UNIT_BITS || gap < -(10 * NS_PER_S >> UNIT_BITS);
}

/* The row of that hash; else one that is over, where `anew`; else that of all others. */
static cell64 *find(cell64 rows[REGION_KIN_ROWS], uint64_t hash, bool anew, int64_t now)
{
	cell64 *found = &rows[SHARED];

	for (int i = 0; i < SHARED; i++) {
		int64_t row = LOAD(rows[i]);

		if (row != 0 && hash_of(row) == (hash & HASH_MASK))
			return &rows[i];
		if (anew && is_over(row, LIFE, now))
			found = &rows[i];
	}
	return found;
}

bool spin_row_refused(cell64 rows[REGION_KIN_ROWS], uint64_t hash, int64_t started, int64_t now)
{
	cell64 *row = find(rows, hash, true, now);
	int64_t word = LOAD(*row), count = 0;

	if (!is_over(word, 0, now - started > LIFE ? now : started)) {
		count = word & MOST;
		/* Of a start in the same unit nobody knows which came first. */
		if (gap_of(word, started) < 0 || gap_of(word, now) < CLOSE >> UNIT_BITS)
			return count > ROW;
	}
	if (count < MOST)
		count++;
	cell_swap(row, word, pack(hash & HASH_MASK, time_of(now), count));
	return count > ROW;
}

void spin_row_begun(cell64 rows[REGION_KIN_ROWS], uint64_t hash, int64_t started, int64_t now)
{
	cell64 *row = find(rows, hash, true, now);
	int64_t word = LOAD(*row);

	if (is_over(word, 0, started))
		cell_swap(row, word, pack(hash & HASH_MASK, time_of(now), 1));
}

void spin_row_held(cell64 rows[REGION_KIN_ROWS], uint64_t hash, int64_t until)
{
	cell64 *row = find(rows, hash, false, until);
	int64_t word = LOAD(*row);

	if (word != 0 && gap_of(word, until) > 0)
		cell_swap(row, word, pack(hash_of(word), time_of(until), word & MOST));
}

void spin_row_failed(cell64 rows[REGION_KIN_ROWS], uint64_t hash, int64_t began, int64_t now)
{
	if (!is_over(LOAD(*find(rows, hash, false, began)), LIFE, began))
		spin_row_held(rows, hash, now);
}
