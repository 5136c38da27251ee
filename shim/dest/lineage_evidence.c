/* SPDX-License-Identifier: MIT */
/* While the destination answers, what its own command left unanswered is no proof: with the same
 * arguments a program may do other work. On the way back from an outage another command is none
 * either: of a farm's not all are remembered. The command of workers is the same for all of them:
 * what one that has gone left unanswered tells. */
#include "dest/lineage_evidence.h"

enum lineage lineage_of_worker(enum lineage lineage, bool takes_up)
{
	if (lineage != LINEAGE_SAME && lineage != LINEAGE_OTHER)
		return lineage;
	return takes_up ? LINEAGE_SAME : LINEAGE_OTHER;
}

void lineage_evidence(enum lineage lineage, bool answering, bool returns, bool in_streak,
                      struct evidence *evidence)
{
	bool silent = returns || (in_streak && !answering);

	evidence->stranger = lineage == LINEAGE_STRANGER && (silent || answering);
	evidence->lineage = lineage == LINEAGE_SAME && silent;
	evidence->same_command = lineage == LINEAGE_SAME && answering && !returns;
	evidence->other_command = lineage == LINEAGE_OTHER && answering && !returns;
}
