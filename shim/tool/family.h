/* SPDX-License-Identifier: MIT */
/* Processes that share a region, as one: a pre-fork server, or all of a share. One region is read
 * at a time, so that a machine of any size takes no more memory than one. */
#ifndef RETRYBUDGET_TOOL_FAMILY_H
#define RETRYBUDGET_TOOL_FAMILY_H

#include "tool/snapshot.h"

/* In the order of their numbers; [0] was asked. */
struct family {
	const struct process *members;
	size_t count;
	const struct snapshot *snapshot;
	bool whole; /* asked for by its number: in every detail */
};

/* Visits every family, or that of one process alone (only: its number, or 0). The snapshot is the
 * family's own, and good until the visit returns. *unreadable: processes that could not be looked
 * into. False with errno if /proc cannot be read. */
bool families_visit(pid_t only, void (*visit)(struct family *, struct snapshot *, void *),
                    void *arg, size_t *unreadable);

/* The same of all, by a reader that says of each slot whether the snapshot is to keep it: see
 * struct snapshot_choice. */
struct family_reader {
	bool (*keeps)(const struct family *family, uint32_t slot, const struct destination *one,
	              void *arg);
	void (*visit)(struct family *family, struct snapshot *snapshot, void *arg);
};
bool families_read(const struct family_reader *reader, void *arg, size_t *unreadable);

/* The mapping that the snapshot was read of: a process may have others, which only have a region's
 * name. Good from the first slot that a reader is told of until the visit returns. */
const struct mapping *family_mapping(const struct family *family);

/* Tells its region from all others, for as long as it exists: the file, and who signed it and when,
 * for numbers of memfds come again. Good as long as the mapping. */
uint64_t family_key(const struct family *family);

/* Bytes of a region as printable ASCII, however they came there; the last four texts stay. */
const char *family_text(const char *bytes, size_t size);

/* The program: as the library wrote it, else as the kernel knows it. */
const char *family_program(const struct family *family);

#endif
