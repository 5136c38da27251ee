/* SPDX-License-Identifier: MIT */
/* The lines of /proc/PID/maps, as far as they tell the library and its shared memory. */
#ifndef RETRYBUDGET_TOOL_MAPS_H
#define RETRYBUDGET_TOOL_MAPS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that are read of one such file: 65,530 mappings have fewer, unless somebody gives them
 * names of a page each, to keep a reader busy. */
#define MAPS_LIMIT (16 << 20)

enum mapping_kind {
	MAPPING_OTHER,
	MAPPING_LIBRARY, /* its code: data alone may be a tool that reads the file */
	MAPPING_OWN,     /* by its name the region of a process or a family: a memfd */
	MAPPING_SHARED,  /* by its name the region of a share: a System V segment */
	MAPPING_CHUNK,   /* more destinations of one: another segment */
};

struct mapping {
	uint64_t from, to, inode;  /* of a segment the inode is its number */
	unsigned int major, minor; /* of the device */
	uint64_t space;            /* of a segment: the IPC namespace; 0: not known */
	enum mapping_kind kind;
	bool is_writable; /* by the process, and so is its file */
};

/* False if that is no line of such a file. Names are only names: any process can give them to what
 * it likes. */
bool mapping_parse(const char *line, struct mapping *mapping);

/* 1 if the library is mapped into a process (its number, in digits), 0 if not, -1 with errno if
 * that cannot be told. Allocates: for the command alone. */
int maps_have_library(const char *pid);

#endif
