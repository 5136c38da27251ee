/* SPDX-License-Identifier: MIT */
/* What the service manager is told (sd_notify(3)), where there is one: that we are there, and that
 * we still are. */
#ifndef RETRYBUDGET_AGENT_NOTIFY_H
#define RETRYBUDGET_AGENT_NOTIFY_H

#include <stdint.h>

/* One or more lines, as READY=1. Nothing happens where nobody listens. */
void notify(const char *lines);

/* us between two WATCHDOG=1 that are asked for; 0: none are. */
int64_t notify_watchdog(void);

#endif
