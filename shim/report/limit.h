/* SPDX-License-Identifier: MIT */
/* How often a destination may be written about. The state is in the region: whoever shares the
 * budget shares the limit. */
#ifndef RETRYBUDGET_REPORT_LIMIT_H
#define RETRYBUDGET_REPORT_LIMIT_H

#include "report/record.h"
#include "report/report.h"

/*
 * Claims the right to write this record now; of several threads one gets it. now, interval: ns;
 * an interval of 0 limits nothing.
 *
 *   throttled, retrying, exhausted: one of each per destination and interval, and exhausted not
 *   again before refilled;
 *   rejected: one per [admission] section and interval;
 *   recovered: whenever one of those three was written since the last recovered, and then at once,
 *   so that what was said of a destination never stays the last word on it; else, where something
 *   was throttled, one per interval;
 *   refilled: once for each exhausted;
 *   everything else, and every record without a destination or section: always.
 *
 * *told: what a throttled or recovered record that passes takes out of the destination's untold
 * sums; of a rejected one, how many were suppressed since the last; else zeroes.
 *
 * Lock-free and async-signal-safe.
 */
bool limit_pass(const struct record *record, int64_t interval, int64_t now, struct told *told);

/* After limit_pass() let a record pass: false if as many were written about all destinations of the
 * region in this interval as may be, LIMIT_MOST, of which half is kept for throttled and recovered
 * ones; then the record is left out, and what limit_pass() took is given back. One that ends what
 * was written passes always. told->suppressed: how many were left out since the last that passed.
 */
#define LIMIT_MOST 100
bool limit_pass_crowd(struct region *region, const struct record *record, int64_t interval,
                      int64_t now, struct told *told);

/* After limit_pass() let a throttled or recovered record pass: true if something was counted, too,
 * while the destination was in the other mode. *told: that, for a throttled record of its own; one
 * sum of both would say of neither what was done to the program. */
bool limit_pass_other(const struct record *record, struct told *told);

/* Gives back what limit_pass and limit_pass_crowd took when the record was lost: what it told is
 * not. region may be NULL. */
void limit_undo(struct region *region, const struct record *record, const struct told *told);

#endif
