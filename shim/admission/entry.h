/* SPDX-License-Identifier: MIT */
/* Whether a connection that a server has just been given may come in ([admission] sections). */
#ifndef RETRYBUDGET_ADMISSION_ENTRY_H
#define RETRYBUDGET_ADMISSION_ENTRY_H

#include "config/config.h"
#include "config/current.h"
#include "region/state.h"

/* True if any listening socket has a section. Everybody else pays for no more than this. */
static inline bool entry_guarded(void)
{
	return shim_ready() && config_current()->listener_count > 0;
}

/* What was decided about one connection. */
struct entry {
	const struct admission_rule *rule; /* by which to reject it; NULL: it comes in */
	const struct config *config;
	struct admission *admission;
	int section;
	int64_t queue; /* who waited behind it */
	int64_t now;   /* ns */
};

/* Takes up a changed file, before a connection is there. errno is left alone. */
void entry_refresh(void);

/* Judges and counts one connection taken from a listening socket; in observe mode also records what
 * would have been done. errno is left alone. Async-signal-safe. */
void entry_judge(struct entry *entry, int listener);

/* Records that it was rejected. errno is left alone. Async-signal-safe. */
void entry_tell(const struct entry *entry, int listener);

#endif
