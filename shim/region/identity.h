/* SPDX-License-Identifier: MIT */
/* Who made a region: the first thing in it, written by the constructor for tools to read. */
#ifndef RETRYBUDGET_REGION_IDENTITY_H
#define RETRYBUDGET_REGION_IDENTITY_H

#include "config/config.h"
#include "region/region.h"

/* Signs a region that nobody has signed yet, as this process; in one that somebody has, notes what
 * his file says now, if this process has read the same. scope: of the region itself, which is not
 * the one asked for where that could not be had. Call once, from the constructor. */
void identity_write(struct region *region, enum scope scope, const struct config *config);

/* Notes the mode and the hash of a file that has been read again, in a region of this process's
 * family alone, or one that this process has signed, or whose maker has named the same file.
 * Async-signal-safe. */
void identity_refresh(struct region *region, const struct config *config);

/* The same after an operator's request, which all take that share the region: then it notes the
 * mode whoever signed it. Async-signal-safe. */
void identity_steered(struct region *region, const struct config *config);

/* The 22nd field of the text of a /proc/PID/stat, in which the process began: clock ticks after
 * boot. 0 if the text is something else. The 2nd, the program's name, may hold any byte. */
int64_t identity_start_time(const char *text);

#endif
