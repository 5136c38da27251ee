/* SPDX-License-Identifier: MIT */
/* The status page. */
#ifndef RETRYBUDGET_AGENT_PAGE_H
#define RETRYBUDGET_AGENT_PAGE_H

#include "agent/exposition.h"

/* Writes one HTML page that needs nothing else, works without JavaScript, and refreshes, sorts and
 * searches with it. Names are escaped, whatever bytes they have. */
void page_write(const struct totals *totals, const struct round *round, FILE *out);

#endif
