/* SPDX-License-Identifier: MIT */
/* What may be claimed. */
#include "agent/demand_wants.h"

#include "sys/arithmetic.h"

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

void demand_sum_wants(struct demand *demand, uint32_t label, int64_t time)
{
	enum { USERS = 64 };
	struct demand_label *sums = &demand->labels[label];
	struct {
		uid_t user;
		int64_t wants;
	} users[USERS];
	size_t count = 0;

	for (size_t i = 0; i < demand->cell_count; i++) {
		const struct demand_cell *cell = &demand->cells[i];
		size_t at = 0;

		if (cell->label != label || cell->wants == 0)
			continue;
		while (at < count && at < USERS - 1 && users[at].user != cell->user)
			at++;
		if (at == count) {
			users[count].user = cell->user;
			users[count++].wants = 0;
		}
		users[at].wants =
		    lesser(users[at].wants + cell->wants, demand_most(DEMAND_USER_MOST, time));
	}
	for (size_t i = 0; i < count; i++)
		sums->wanted += users[i].wants;
	sums->wanted = lesser(sums->wanted, demand_most(DEMAND_HOST_MOST, time));
}
