/* SPDX-License-Identifier: MIT */
/* Opening a segment by its number, or by whoever has mapped it where its namespace is another. */
#include "tool/chunk_file.h"

#include "region/region.h"
#include "region/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

/* A chunk that a process has mapped, in whatever namespace. */
static enum snapshot_state open_mapped(const struct process *process, uint64_t id, bool for_writing,
                                       struct region_file *file)
{
	enum snapshot_state state = SNAPSHOT_GONE;
	char path[48], *line = NULL;
	struct mapping mapping;
	size_t room = 0;
	FILE *maps;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->pid);
	maps = fopen(path, "re");
	while (maps && state != SNAPSHOT_GOOD && getline(&line, &room, maps) > 0)
		if (mapping_parse(line, &mapping) && mapping.kind == MAPPING_CHUNK &&
		    mapping.inode == id)
			state = region_file_open(process, &mapping, for_writing, file);
	free(line);
	if (maps)
		fclose(maps);
	return state;
}

static bool is_chunk(const struct region_file *file, const struct chunk_name *name)
{
	int64_t head[3];

	return region_file_read(file, 0, head, sizeof(head)) == SNAPSHOT_GOOD &&
	       head[0] == REGION_MAGIC && head[1] == name->nonce && head[2] == name->number;
}

static bool is_of_our_namespace(const struct mapping *mapping)
{
	struct stat ours;

	return stat("/proc/self/ns/ipc", &ours) == 0 && mapping->space == ours.st_ino;
}

enum snapshot_state chunk_file_open(const struct process *process, const struct mapping *mapping,
                                    const struct chunk_name *name, bool for_writing,
                                    struct region_file *file)
{
	enum snapshot_state state = SNAPSHOT_GONE;

	if (name->said <= 0 || name->said > INT32_MAX)
		return SNAPSHOT_NONE;
	if (!process || is_of_our_namespace(mapping))
		state = region_file_of_segment((int)(name->said - 1), SEGMENT_ANYONE, for_writing,
		                               file);
	if (state != SNAPSHOT_GOOD && process)
		state = open_mapped(process, (uint64_t)(name->said - 1), for_writing, file);
	if (state == SNAPSHOT_GOOD && !is_chunk(file, name)) {
		region_file_close(file);
		state = SNAPSHOT_GONE;
	}
	return state;
}
