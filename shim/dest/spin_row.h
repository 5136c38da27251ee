/* SPDX-License-Identifier: MIT */
/*
 * Refusals in a row of a lineage (dest/lineage.h): processes that follow each other with no more in
 * between than it takes to start one. A destination has a few such rows, one of a lineage; those
 * that find none free have the last one together. Pure; what others wrote may be anything.
 */
#ifndef RETRYBUDGET_DEST_SPIN_ROW_H
#define RETRYBUDGET_DEST_SPIN_ROW_H

#include "region/region.h"

/* A refusal at `now` of a process of the lineage with this hash. It makes the row longer if that
 * process was started after the last one was told: those that were started together do not follow
 * each other. True if the row is so long that they spin. */
bool spin_row_refused(cell64 rows[REGION_KIN_ROWS], uint64_t hash, int64_t started, int64_t now);

/* The same of one that paces itself: a row may begin with it, and none goes on. */
void spin_row_begun(cell64 rows[REGION_KIN_ROWS], uint64_t hash, int64_t started, int64_t now);

/* Somebody of the row was told only at `until` (ns): so far it is no pause of it. */
void spin_row_held(cell64 rows[REGION_KIN_ROWS], uint64_t hash, int64_t until);

/* An attempt of the row, begun then, went and failed. */
void spin_row_failed(cell64 rows[REGION_KIN_ROWS], uint64_t hash, int64_t began, int64_t now);

#endif
