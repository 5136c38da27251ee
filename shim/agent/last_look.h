/* SPDX-License-Identifier: MIT */
/*
 * Regions that are held from one round to the next: that of a process ends with it, and with it
 * what its last attempts were and how they ended, unless somebody has it open. Nothing of ours runs
 * when a program ends, so that it is the daemon who holds it. It takes the right to open a mapping
 * as a file (/proc/PID/map_files); without it nothing is held.
 */
#ifndef RETRYBUDGET_AGENT_LAST_LOOK_H
#define RETRYBUDGET_AGENT_LAST_LOOK_H

#include "tool/region_file.h"

#define LAST_LOOKS 512 /* descriptors, at most: never more than half of what it may have open */

struct last_look {
	struct {
		uint64_t region;
		struct region_file file;
		bool is_kept; /* for the next round too */
	} list[LAST_LOOKS];
	size_t count;
};

/* Holds it until the next round at least, if there is room. */
void last_look_keep(struct last_look *last, uint64_t region, const struct process *process,
                    const struct mapping *mapping);

/* NULL: it is not held. */
const struct region_file *last_look_at(const struct last_look *last, uint64_t region);

/* A round has ended: what it did not keep is let go. */
void last_look_turn(struct last_look *last);

/* It has failed: what was held before it is held for the next. */
void last_look_turn_back(struct last_look *last);

void last_look_end(struct last_look *last);

#endif
