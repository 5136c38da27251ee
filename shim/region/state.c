/* SPDX-License-Identifier: MIT */
/* What of the shim is ready: in this room, so that it lies beside what else start-up writes. */
#include "region/state.h"

#include <pthread.h>

struct region *shim_region;
struct tally *shim_tally;
const char *shim_scope_note;
_Atomic(int) shim_state = STATE_NONE;

static cell64 own_place, children;

void shim_use(struct region *region, int32_t process)
{
	STORE(own_place, LOAD(region->nonce) == 0 ? 0 : process);
	shim_region = region;
	shim_tally = region_tally(region, LOAD(own_place));
}

static void before_fork(void)
{
	atomic_fetch_add(&children, 1);
}

/* By number of children, not by its own: a filter of system calls may kill who asks for that. */
static void in_child(void)
{
	STORE(own_place, LOAD(own_place) + LOAD(children));
	STORE(children, 0);
	shim_tally = region_tally(shim_region, LOAD(own_place));
}

void shim_place_children(void)
{
	(void)pthread_atfork(before_fork, NULL, in_child);
}
