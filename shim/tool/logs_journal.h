/* SPDX-License-Identifier: MIT */
/* Records in the journal of systemd. */
#ifndef RETRYBUDGET_TOOL_LOGS_JOURNAL_H
#define RETRYBUDGET_TOOL_LOGS_JOURNAL_H

#include "tool/logs_entry.h"

/* The journal, of this machine or in a directory. NULL is success; else what went wrong. */
struct log_journal;
const char *log_journal_open(struct log_journal **journal, const char *directory, int64_t since);
/* The next record: 1; none yet: 0; negative: an error. */
int log_journal_next(struct log_journal *journal, struct log_entry *entry, bool *is_record);
void log_journal_wait(struct log_journal *journal, int ms);
void log_journal_close(struct log_journal *journal);

#endif
