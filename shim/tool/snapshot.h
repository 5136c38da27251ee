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
#include "tool/chunk_file.h"
#include "tool/region_file.h"

struct snapshot {
	enum snapshot_state state;
	char layout;           /* of SNAPSHOT_LAYOUT, printable */
	int mapping;           /* which of the process's regions it is */
	struct region *region; /* of SNAPSHOT_GOOD: all but its chunk */
	int slot_count;
	struct destination *destinations; /* so many, by slot */
	uint32_t *slots;                  /* their numbers */
	int missing;                      /* chunks that could not be read */
};

/*
 * Which slots a snapshot keeps, for a reader that needs few, or none once it has seen it: those of
 * a large share are a third of a gigabyte. Told of each slot as it is read, when *so_far holds the
 * region's head and what was kept before; of a slot twice where a process ends while it is read and
 * another answers for it.
 */
struct snapshot_choice {
	bool (*keeps)(const struct snapshot *so_far, uint32_t slot, const struct destination *one,
	              void *arg);
	void *arg;
};

/* Reads the region of a process into *out. What it points to lasts until the next call. choice:
 * NULL: all slots are kept. */
void snapshot_take(const struct process *process, const struct snapshot_choice *choice,
                   struct snapshot *out);

/* The same of a file that is open. */
void snapshot_take_file(const struct region_file *file, struct snapshot *out);

/* What a region that was looked at says of its chunk `number` (not 0). */
struct chunk_name snapshot_chunk(const struct snapshot *snapshot, uint32_t number);

/* The state in one word, for programs, and in a sentence, for people. */
const char *snapshot_word(const struct snapshot *snapshot);
const char *snapshot_sentence(const struct snapshot *snapshot);

#endif
