/* SPDX-License-Identifier: MIT */
/* The files of a log, with those that were rotated. */
#ifndef RETRYBUDGET_TOOL_LOGS_FILES_H
#define RETRYBUDGET_TOOL_LOGS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_file {
	char *path;
	int fd;   /* -1: not open */
	void *gz; /* where zlib reads it */
	int64_t device, inode, changed;
};

struct log_files {
	struct log_file *files;
	size_t count;
};

/* Adds a file and the rotated ones beside it; those that were left before `since` are left out.
 * "-": the standard input. False, with errno: it cannot be found. */
bool log_files_add(struct log_files *files, const char *path, int64_t since);
void log_files_sort(struct log_files *files); /* the oldest first */
void log_files_free(struct log_files *files);

/* live: as soon as there is anything to read, it is handed out. */
bool log_file_open(struct log_file *file, bool live);
void log_file_close(struct log_file *file);

/* As read(2); a file that ends within compressed data is an error. */
long log_file_read(struct log_file *file, char *bytes, size_t size);

/* True if the path leads to another file by now, or the file was emptied. */
bool log_file_is_rotated(const struct log_file *file);

#endif
