/* SPDX-License-Identifier: MIT */
/* A name in /proc/PID/maps may hold blanks; a newline in it is written \012. */
#include "tool/maps.h"

#include "region/segment.h"
#include "tool/library.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMFD "/memfd:retrybudget"

static bool is_text(const char *bytes, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(bytes, text, n) == 0;
}

/* "/SYSV" and the key of a System V segment, of which the upper half says what it is. */
static enum mapping_kind kind_of_segment(const char *path, size_t n)
{
	static const char begins[] = "/SYSV";
	char key[8 + 1] = "", *end;
	unsigned long kind;

	if (n != sizeof(begins) - 1 + sizeof(key) - 1 ||
	    memcmp(path, begins, sizeof(begins) - 1) != 0)
		return MAPPING_OTHER;
	memcpy(key, path + sizeof(begins) - 1, sizeof(key) - 1);
	kind = strtoul(key, &end, 16) >> 16;
	if (*end)
		return MAPPING_OTHER;
	return kind == SEGMENT_REGION  ? MAPPING_SHARED
	       : kind == SEGMENT_CHUNK ? MAPPING_CHUNK
	                               : MAPPING_OTHER;
}

static enum mapping_kind kind_of(const char *mode, const char *path)
{
	static const char deleted[] = " (deleted)"; /* so are all memfds and segments */
	size_t n = strcspn(path, "\n"), end = sizeof(deleted) - 1;
	bool gone = n >= end && memcmp(path + n - end, deleted, end) == 0;
	const char *name;

	if (gone)
		n -= end;
	if (mode[3] == 's') {
		if (gone && is_text(path, n, MEMFD))
			return MAPPING_OWN;
		return gone ? kind_of_segment(path, n) : MAPPING_OTHER;
	}
	name = memrchr(path, '/', n);
	if (mode[2] == 'x' && name &&
	    is_text(name + 1, (size_t)(path + n - name - 1), LIBRARY_NAME))
		return MAPPING_LIBRARY;
	return MAPPING_OTHER;
}

/* Reads a number up to the byte that must end it, and passes over that. */
static bool number(const char **at, int base, char end, uint64_t *value)
{
	char *rest;

	if (**at == '-' || **at == '+' || **at == ' ')
		return false;
	*value = strtoull(*at, &rest, base);
	if (rest == *at || *rest != end)
		return false;
	*at = rest + 1;
	return true;
}

bool mapping_parse(const char *line, struct mapping *mapping)
{
	const char *at = line, *mode;
	uint64_t offset, major, minor;

	if (!number(&at, 16, '-', &mapping->from) || !number(&at, 16, ' ', &mapping->to))
		return false;
	mode = at;
	if (strnlen(mode, 5) < 5 || mode[4] != ' ')
		return false;
	at += 5;
	if (!number(&at, 16, ' ', &offset) || !number(&at, 16, ':', &major) ||
	    !number(&at, 16, ' ', &minor))
		return false;
	mapping->inode = strtoull(at, (char **)&at, 10);
	at += strspn(at, " ");
	mapping->major = (unsigned int)major;
	mapping->minor = (unsigned int)minor;
	mapping->space = 0;
	mapping->kind = kind_of(mode, at);
	mapping->is_writable = mode[1] == 'w';
	/* A piece from the middle of a region is no region. */
	if (offset != 0 && mapping->kind != MAPPING_LIBRARY)
		mapping->kind = MAPPING_OTHER;
	return true;
}

int maps_have_library(const char *pid)
{
	char file[64], *line = NULL;
	struct mapping mapping;
	size_t size = 0;
	int loaded = 0, error;
	FILE *maps;

	(void)snprintf(file, sizeof(file), "/proc/%s/maps", pid);
	maps = fopen(file, "re");
	if (!maps)
		return -1;
	while (!loaded && getline(&line, &size, maps) > 0)
		loaded = mapping_parse(line, &mapping) && mapping.kind == MAPPING_LIBRARY;
	error = errno;
	if (ferror(maps))
		loaded = -1;
	free(line);
	(void)fclose(maps);
	errno = error;
	return loaded;
}
