/* SPDX-License-Identifier: MIT */
/*
 * Judging across processes that share a region. A loop may start a process for each attempt, and a
 * farm has many: to each of them its first try is new. So each destination remembers whose attempts
 * failed there and were not answered since: the program, and its command (the program with its
 * arguments) together with its parent, its session, and the service (the cgroup of a unit) that it
 * belongs to. A process of the same command and any of these is of the same lineage; in a share
 * that has been given a name the command alone is enough. Another command is other work, as
 * another request is.
 *
 * For regions of scope user and host alone. All functions: thread-safe, async-signal-safe.
 */
#ifndef RETRYBUDGET_DEST_LINEAGE_H
#define RETRYBUDGET_DEST_LINEAGE_H

#include "region/region.h"

enum lineage {
	LINEAGE_UNKNOWN,  /* nothing is shared, this process has tried before, or nobody can say */
	LINEAGE_SAME,     /* one of its lineage has failed here, and none was answered since */
	LINEAGE_OTHER,    /* none of its lineage has, but others of this program */
	LINEAGE_STRANGER, /* no process of this program has */
};

/* Looks at what this process is. From the constructor, where its region is shared. is_named: by a
 * share of its own, that only those have which belong together. */
void lineage_setup(bool is_named);

/* What a try of this process is, if it is its first at this destination (its slot) since something
 * failed there; which it then has made. */
enum lineage lineage_of(struct destination *destination, uint32_t slot, int64_t horizon,
                        int64_t now);

/* A try of this process failed, or was refused. */
void lineage_failed(struct destination *destination, int64_t now);

/* One was answered: nothing of its lineage is owed. */
void lineage_answered(struct destination *destination);

/* A first try of a process that another one of its lineage had made before was refused. True if
 * it is one of a row, with no more in between than it takes to start a process: they spin. */
bool lineage_spins(struct destination *destination, int64_t now);

/* And it was slowed down until then: that is no pause of theirs. */
void lineage_held(struct destination *destination, int64_t until);

#endif
