/* SPDX-License-Identifier: MIT */
/* What a destination has of a fleet's budget. */
#ifndef RETRYBUDGET_TOOL_STAT_LEASE_H
#define RETRYBUDGET_TOOL_STAT_LEASE_H

#include "tool/family.h"

#include <stdio.h>

/* The budget of a destination in a cell of a table: as stat_level() has it, or "2.0/5" of its
 * lease, or "reserve" without one. Lasts until the next call. */
const char *stat_budget(const struct destination *destination);

/* False: it never drew on a fleet's budget. */
bool stat_is_leased(const struct destination *destination);

/* Its lease as the library reads it. Returns the moment now, CLOCK_BOOTTIME, ns. */
int64_t stat_lease(const struct destination *destination, struct lease_view *view);

/* A line about it, where it draws on a fleet's budget. */
void stat_print_lease(FILE *out, const struct destination *destination);

#endif
