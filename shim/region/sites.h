/* SPDX-License-Identifier: MIT */
/*
 * Where the program called from, of the last records of a destination that told it ([log] trace),
 * for tools that explain a loop while it runs. Each place in the program stands once. Text that two
 * threads write at a time may be mixed: a hint for people. Async-signal-safe.
 */
#ifndef RETRYBUDGET_REGION_SITES_H
#define RETRYBUDGET_REGION_SITES_H

#include "region/region.h"

/* site: as of site= in a record; what is longer than a place holds loses its outermost frames. */
void site_keep(struct destination *of, const char *site);

/* The last but `back` (0: the last), in a copy that a tool has made; NULL: there is none. Bytes of
 * any kind: another process may have written them. */
const char *site_get(const struct destination *of, int back);

#endif
