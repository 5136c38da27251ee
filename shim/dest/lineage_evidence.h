/* SPDX-License-Identifier: MIT */
/* What the lineage of a process says of its first try at a destination. Pure. */
#ifndef RETRYBUDGET_DEST_LINEAGE_EVIDENCE_H
#define RETRYBUDGET_DEST_LINEAGE_EVIDENCE_H

#include "dest/lineage.h"
#include "dest/rules.h"

/* What a worker's first try is at a destination that answers others. takes_up: one that has gone
 * left a failure there, which this one answers. */
enum lineage lineage_of_worker(enum lineage lineage, bool takes_up);

/* Fills the four of `evidence` that speak of lineages. answering: the destination answers others;
 * returns: those who were throttled in an outage come back; in_streak: a streak of failures stands.
 */
void lineage_evidence(enum lineage lineage, bool answering, bool returns, bool in_streak,
                      struct evidence *evidence);

#endif
