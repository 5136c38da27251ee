/* SPDX-License-Identifier: MIT */
/*
 * What a region held at one moment, read from outside and into memory of our own. Never by a
 * mapping: who owns a file can shorten it, and a reader that has mapped it dies of SIGBUS. Whoever
 * made the region may have written anything into it, so that nothing here is more than a claim:
 * counters are never negative, texts end, and a region of another layout is not looked into.
 */
#ifndef RETRYBUDGET_TOOL_SNAPSHOT_H
#define RETRYBUDGET_TOOL_SNAPSHOT_H

#include "region/region.h"
#include "tool/region_file.h"

struct snapshot {
	enum snapshot_state state;
	char layout;           /* of SNAPSHOT_LAYOUT, printable */
	int mapping;           /* which of the process's regions it is */
	struct region *region; /* of SNAPSHOT_GOOD: its head, and of its slots those below */
	int slot_count;
	uint16_t slots[REGION_DESTINATIONS];
};

/* Reads the region of a process into *out. What it points to lasts until the next call. */
void snapshot_take(const struct process *process, struct snapshot *out);

/* The same of a file that is open. */
void snapshot_take_file(const struct region_file *file, struct snapshot *out);

/* The state in one word, for programs, and in a sentence, for people. */
const char *snapshot_word(const struct snapshot *snapshot);
const char *snapshot_sentence(const struct snapshot *snapshot);

#endif
