/* SPDX-License-Identifier: MIT */
/* Opening a segment by its number, or by whoever has mapped it where its namespace is another. */
#include "tool/chunk_file.h"

#include "region/region.h"
#include "region/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

/* The chunks that one process has mapped. Of each that a region speaks of they would be looked for
 * anew, and who maps sixty thousand other things would keep a reader busy for seconds. */
static struct {
	pid_t pid; /* 0: nobody's */
	int64_t started;
	struct mapping list[2 * REGION_CHUNKS]; /* each of them once, unless they are forged */
	size_t count;
} known;

void chunk_files_forget(void)
{
	known.pid = 0;
}

static void list_chunks(const struct process *process)
{
	const size_t room = sizeof(known.list) / sizeof(*known.list);
	char path[48], *line = NULL;
	struct mapping mapping;
	size_t length = 0, passed = 0;
	FILE *maps;
	ssize_t n;

	known.pid = process->pid;
	known.started = process->started;
	known.count = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->pid);
	maps = fopen(path, "re");
	while (maps && known.count < room && passed < MAPS_LIMIT &&
	       (n = getline(&line, &length, maps)) > 0) {
		passed += (size_t)n;
		if (mapping_parse(line, &mapping) && mapping.kind == MAPPING_CHUNK)
			known.list[known.count++] = mapping;
	}
	free(line);
	if (maps)
		fclose(maps);
}

/* A chunk that a process has mapped, in whatever namespace. */
static enum snapshot_state open_mapped(const struct process *process, uint64_t id, bool for_writing,
                                       struct region_file *file)
{
	enum snapshot_state state = SNAPSHOT_GONE;

	if (known.pid != process->pid || known.started != process->started)
		list_chunks(process);
	for (size_t i = 0; i < known.count && state != SNAPSHOT_GOOD; i++)
		if (known.list[i].inode == id)
			state = region_file_open(process, &known.list[i], for_writing, file);
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
