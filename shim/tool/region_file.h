/* SPDX-License-Identifier: MIT */
/*
 * A region in the hands of another process: read and written, never mapped, since its owner could
 * shorten a file under us, and whoever has that mapped dies of SIGBUS. A segment of System V nobody
 * can shorten: that is mapped for a moment, where it is of our own IPC namespace, and read as a
 * file by who may (/proc/PID/map_files), since a look at a mapping makes the pages that are not
 * there.
 */
#ifndef RETRYBUDGET_TOOL_REGION_FILE_H
#define RETRYBUDGET_TOOL_REGION_FILE_H

#include "tool/processes.h"

enum snapshot_state {
	SNAPSHOT_GOOD,
	SNAPSHOT_NONE,   /* the library is loaded, and has no region that could be found */
	SNAPSHOT_GONE,   /* the process ended meanwhile */
	SNAPSHOT_DENIED, /* no right to read it */
	SNAPSHOT_LAYOUT, /* made by another version of the library */
	SNAPSHOT_FALSE,  /* no region, whatever its name says */
};

struct region_file {
	pid_t pid;
	uint64_t address;
	int fd;   /* or -1: by address */
	void *at; /* of a segment, or NULL; without `fd` it is read by that */
	size_t size;
};

/* SNAPSHOT_GOOD, or why not. */
enum snapshot_state region_file_open(const struct process *process, const struct mapping *mapping,
                                     bool for_writing, struct region_file *file);

/* The same of segment `id`, if `owner` (or SEGMENT_ANYONE) has made it. */
enum snapshot_state region_file_of_segment(int id, uid_t owner, bool for_writing,
                                           struct region_file *file);

/* All of it or nothing. By address another process may answer that was given the number since, and
 * be written to: ask process_lives() right before, and before believing what was read. */
enum snapshot_state region_file_read(const struct region_file *file, size_t offset, void *out,
                                     size_t n);
enum snapshot_state region_file_write(const struct region_file *file, size_t offset,
                                      const void *bytes, size_t n);

void region_file_close(struct region_file *file);

#endif
