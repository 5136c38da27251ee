/* SPDX-License-Identifier: MIT */
/* What of the shim is ready: in this room, so that it lies beside what else start-up writes. */
#include "region/state.h"

struct region *shim_region;
struct tally *shim_tally;
const char *shim_scope_note;
_Atomic(int) shim_state = STATE_NONE;
