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

/* Bytes of a region as printable ASCII, however they came there; the last four texts stay. */
const char *family_text(const char *bytes, size_t size);

/* The program: as the library wrote it, else as the kernel knows it. */
const char *family_program(const struct family *family);

#endif
