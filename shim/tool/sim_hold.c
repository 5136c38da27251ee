/* SPDX-License-Identifier: MIT */
/* The order of the questions is that of pace/hold.c and pace/refuse.c. */
#include "tool/sim_hold.h"

#include "dest/demand.h"
#include "dest/tries_row.h"
#include "pace/ahead.h"
#include "pace/hold.h"
#include "pace/storm_counts.h"
#include "sys/thread.h"

static int64_t ahead_of(const struct sim_hold *mine, int64_t now)
{
	return within(mine->back_at - now, 0, AHEAD_MOST);
}

static int64_t failing_of(const struct sim_refused *refused)
{
	return refused->failing > 0 ? refused->failing : INT64_MAX;
}

/* The ns since the refusal before, if there is a row; else -1. */
static int64_t count_refusal(const struct sim_refused *refused, int64_t now)
{
	struct sim_hold *mine = refused->mine;
	int64_t own = tries_row_refused(&mine->row, &mine->row_at, now);

	mine->back_at = now + ahead_after(ahead_of(mine, now), failing_of(refused));
	if (mine->row > THREAD_ROW)
		return own;
	mine->spun = false;
	return -1;
}

/* Programs of a simulation do nothing between two tries but sleep: one that sleeps for a while
 * might have worked, for all that the library sees. That it spins has to be seen twice running. */
static int64_t most(const struct sim_refused *refused, int64_t own, int64_t now)
{
	struct sim_hold *mine = refused->mine;
	bool spun = mine->spun;

	if (own < 0)
		return ahead_of(mine, now) > AHEAD_LEEWAY ? failing_of(refused) : 0;
	if (refused->serves)
		return failing_of(refused);
	mine->spun = own < TRIES_SPIN;
	return spun && mine->spun ? INT64_MAX : failing_of(refused);
}

int64_t sim_hold_refused(const struct sim_refused *refused, int64_t hold, int64_t now)
{
	int64_t length = lesser(most(refused, count_refusal(refused, now), now), hold);

	return length < HOLD_LEAST ? 0 : length;
}

void sim_hold_over(struct sim_hold *mine, int64_t now)
{
	mine->row_at = now;
}

void sim_hold_asked(struct sim_storm *process, struct sim_storm *all, int64_t now)
{
	demand_count_in(process->served, now);
	demand_count_in(all->served, now);
}

/* Programs of a simulation wait until their connects are over. */
bool sim_hold_parks(const struct sim_refused *refused, struct sim_storm *process,
                    struct sim_storm *all, bool may, int64_t now)
{
	bool rages = storm_counts_refusal(&process->refused, &all->refused,
	                                  demand_most_of(process->served, now), all->served, now);
	int64_t own = count_refusal(refused, now);
	bool ahead = ahead_of(refused->mine, now) >= AHEAD_AT_PARK && !refused->serves;

	if ((!rages || most(refused, own, now) < PARK_LEAST) && !ahead)
		return false;
	if (!may || !storm_counts_parked(&all->parked, &process->parked, now))
		return false;
	if (ahead)
		refused->mine->back_at = now + AHEAD_AT_PARK;
	return true;
}
