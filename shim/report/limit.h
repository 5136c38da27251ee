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
 *   refused, retrying, exhausted: one of each per destination and interval;
 *   rejected: one per [admission] section and interval;
 *   recovered: whenever one of those three was written since the last recovered, and then at once,
 *   so that what was said of a destination never stays the last word on it;
 *   a refusal that is not written is counted, and *suppressed is that count, taken out of the
 *   destination by the next refused or recovered record that is written; so for rejected;
 *   everything else, and every record without a destination or section: always.
 *
 * Lock-free and async-signal-safe.
 */
bool limit_pass(const struct record *record, int64_t interval, int64_t now, int64_t *suppressed);

/* Gives back what limit_pass took when the record was lost: the count is not. */
void limit_undo(const struct record *record, int64_t suppressed);

#endif
