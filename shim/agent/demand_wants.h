/* SPDX-License-Identifier: MIT */
/* Each cell's wants are a claim of the user who may write it; here they come to a label's. */
#ifndef RETRYBUDGET_AGENT_DEMAND_WANTS_H
#define RETRYBUDGET_AGENT_DEMAND_WANTS_H

#include "agent/host_demand.h"

/* What a label's cells want together, each user's part capped. Of more users than there is room
 * for, the last part is that of all the others. time: ns since the round before. */
void demand_sum_wants(struct demand *demand, uint32_t label, int64_t time);

#endif
