/* SPDX-License-Identifier: MIT */
/*
 * A chunk that a share has grown by (region/chunks.h), in the hands of another process or of
 * nobody. What the region says of it is a claim of its users: only a segment that says the same is
 * taken.
 */
#ifndef RETRYBUDGET_TOOL_CHUNK_FILE_H
#define RETRYBUDGET_TOOL_CHUNK_FILE_H

#include "tool/region_file.h"

/* What a region says of one of its chunks. */
struct chunk_name {
	int64_t nonce; /* the region's */
	int64_t said;  /* the number of its segment, plus 1; 0: there is none */
	uint32_t number;
};

/* What a process has mapped is listed once: call before it is looked at anew. */
void chunk_files_forget(void);

/* Opens a chunk of a region that is mapped by `process` at `mapping`; both NULL: of a share that
 * was found by its name. SNAPSHOT_GOOD, or why not; SNAPSHOT_NONE: there is none. */
enum snapshot_state chunk_file_open(const struct process *process, const struct mapping *mapping,
                                    const struct chunk_name *name, bool for_writing,
                                    struct region_file *file);

#endif
