/* SPDX-License-Identifier: MIT */
/* The order of the questions is that of pace/hold.c; the bounds are those of dest/tries.c and
 * pace/ahead.c. */
#include "tool/sim_hold.h"

#include "conn/park_options.h"
#include "pace/ahead.h"
#include "sys/arithmetic.h"
#include "sys/thread.h"

#define SPIN  NS_PER_MS
#define PAUSE (15 * NS_PER_MS)
#define LEAST NS_PER_MS
#define MOST  (AHEAD_LEEWAY + 2 * PARK_LEAST)

static int64_t ahead_of(const struct sim_hold *mine, int64_t now)
{
	return within(mine->back_at - now, 0, MOST);
}

/* Programs of a simulation do nothing between two tries but sleep: one that sleeps for a while
 * might have worked, for all that the library sees. */
static int64_t most(struct sim_hold *mine, int64_t failing, int64_t now)
{
	int64_t own = now - mine->row_at;

	mine->row = own > PAUSE ? 1 : mine->row + 1;
	mine->row_at = now;
	if (mine->row <= THREAD_ROW)
		return ahead_of(mine, now) > AHEAD_LEEWAY ? failing : 0;
	return own >= SPIN ? failing : INT64_MAX;
}

int64_t sim_hold_refused(struct sim_hold *mine, int64_t failing, int64_t hold, int64_t now)
{
	int64_t length;

	mine->back_at = now + lesser(ahead_of(mine, now) + lesser(failing, MOST), MOST);
	length = lesser(most(mine, failing > 0 ? failing : INT64_MAX, now), hold);
	return length < LEAST ? 0 : length;
}

void sim_hold_over(struct sim_hold *mine, int64_t now)
{
	mine->row_at = now;
}
