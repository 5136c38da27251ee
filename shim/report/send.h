/* SPDX-License-Identifier: MIT */
/* Sending one line to where [log] says. */
#ifndef RETRYBUDGET_REPORT_SEND_H
#define RETRYBUDGET_REPORT_SEND_H

#include "report/record.h"
#include "report/report.h"

/* Sends a line of a record: false if nobody took it. Waits for no reader, and for another
 * thread's fork a tenth of a second at most; never raises SIGPIPE, leaves no
 * descriptor behind even if the thread is cancelled or a signal handler jumps away meanwhile.
 * Async-signal-safe; changes errno. */
bool send_line(const struct log_settings *settings, const struct record *record, const char *line,
               size_t length);

/* Notes what stderr is, so that nothing else that gets its number later is written to. Call from
 * the constructor. */
void send_remember_stderr(void);

#endif
