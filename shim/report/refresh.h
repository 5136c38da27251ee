/* SPDX-License-Identifier: MIT */
/* What this process has to say of itself, and taking up a changed configuration file. */
#ifndef RETRYBUDGET_REPORT_REFRESH_H
#define RETRYBUDGET_REPORT_REFRESH_H

#include <stdint.h>

/* Called where something fails or is retried: a healthy program does not pay for it, and has no
 * use for a changed file either. Takes up what an operator has asked for, too. now: ns. errno is
 * left alone. */
void refresh(int64_t now);

/* Before the first record about a retry: that we are here, and what was wrong with the
 * configuration and the region. A process that never retries stays silent, or a shell loop that
 * starts thousands of them would be a storm of records. */
void announce(int64_t now);

/* What went wrong while loading, as records. */
void report_complaints(int64_t now);

#endif
