/* SPDX-License-Identifier: MIT */
/*
 * Judging across processes that share a region. A loop may start a process for each attempt, and a
 * farm has many: to each of them its first try is new. So each destination remembers whose attempts
 * failed there and were not answered since: the program, and its command (the program with its
 * arguments) together with its parent, its session, and the unit of a supervisor that it belongs to
 * (dest/own_unit.h). A process of the same command and any of these is of the same lineage; in a
 * share that has been given a name the command alone is enough. Another command is other work, as
 * another request is. Of each lineage it also counts the refusals that follow each other without a
 * pause (dest/spin_row.h); of those whose parent has paused since its last one none is.
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

/* Looks at what this process is. From the constructor, where its region is shared. is_named: its
 * share was given a name, which only programs that belong together have. */
void lineage_setup(bool is_named);

/* True if it shares its budget and was forked since: a worker, whose command is its siblings', and
 * does not say what its tries are for. */
bool lineage_is_worker(void);

/* Makes this process's first try at a destination (its slot) since something failed there, and
 * returns what it is; LINEAGE_UNKNOWN of any further one. */
enum lineage lineage_of(struct destination *destination, uint32_t slot, int64_t horizon,
                        int64_t now);

/* A try of this process, begun then, failed; 0: it was refused, and never went. */
void lineage_failed(struct destination *destination, int64_t began, int64_t now);

/* One was answered: nothing of its lineage is owed. */
void lineage_answered(struct destination *destination);

/* The first try of this process, begun then, which follows tries of others of its lineage, was
 * refused. True if it is one of a row of such, each started after the one before it was told, and
 * with no more in between than it takes to start a process: they spin. Many loops that pace
 * themselves come as close to each other, but each parent's do not. */
bool lineage_spins(struct destination *destination, int64_t began, int64_t now);

/* That try was held until then (ns): so far it is no pause of the row. */
void lineage_held(struct destination *destination, int64_t until);

#endif
