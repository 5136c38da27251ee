/* SPDX-License-Identifier: MIT */
/* Writing records. */
#ifndef RETRYBUDGET_REPORT_REPORT_H
#define RETRYBUDGET_REPORT_REPORT_H

#include "report/record.h"

/* Tells the reporter where to send records and what this program is called. Call from the
 * constructor and after a reload. settings must outlive the process or the next call. */
void report_settings(const struct log_settings *settings, struct region *region);

/* Writes a record, or counts it as suppressed or lost. now: ns. errno is left as it was. */
void report(const struct record *record, int64_t now);

#endif
