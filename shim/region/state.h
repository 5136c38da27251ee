/* SPDX-License-Identifier: MIT */
/*
 * What of the shim is ready. Hooks work in all four states; only READY judges.
 */
#ifndef RETRYBUDGET_REGION_STATE_H
#define RETRYBUDGET_REGION_STATE_H

#include "region/region.h"

enum state {
	STATE_NONE,    /* before the constructor: other libraries' constructors call us */
	STATE_RUNNING, /* inside it: our own set-up calls us */
	STATE_READY,
	STATE_OFF, /* switched off, a second copy, or a fault: everything passes */
};

extern HIDDEN _Atomic(int) shim_state;
extern HIDDEN struct region *shim_region; /* not NULL once READY, as what follows */
extern HIDDEN struct tally *shim_tally;   /* in it: where this process counts what all do */
extern const char *shim_scope_note;       /* why the shared region could not be had, or NULL */

/* Which region all is counted in, and by which process. */
void shim_use(struct region *region, int32_t process);

/* From now on a forked child counts in another place than its parent; of _Fork and clone, which run
 * no handlers, in the same. From the constructor. */
void shim_place_children(void);

static inline bool shim_ready(void)
{
	return LOAD_ACQUIRE(shim_state) == STATE_READY;
}

#endif
