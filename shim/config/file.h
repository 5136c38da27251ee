/* SPDX-License-Identifier: MIT */
/*
 * The configuration file as bytes and lines. Whoever may write it may stop the program from
 * connecting, and the constructor runs in every program that is started: hence what is checked
 * before a byte is read. Async-signal-safe; no allocation, no stdio, no offset shared with anybody.
 */
#ifndef RETRYBUDGET_CONFIG_FILE_H
#define RETRYBUDGET_CONFIG_FILE_H

#include "sys/text.h"

#include <stdbool.h>
#include <stdint.h>

#define FILE_LIMIT 65536 /* bytes */

/* What tells one version of a file from the next. All zero: no file. */
struct identity {
	uint64_t dev, ino, size;
	int64_t sec, nsec; /* mtime */
};

struct lines {
	int fd;
	int64_t offset; /* of the next byte to fetch */
	size_t at, have;
	int number; /* of the line returned last, from 1 */
	uint32_t hash;
	char buffer[256];
};

/* Opens the file for reading. owned_by_root: refuse one that anybody else could write. Returns the
 * descriptor, or -1 with errno (0 if none tells more) and the reason added to why. */
int file_open(const char *path, bool owned_by_root, struct identity *identity, struct text *why);

/* Closes it without passing through our own hook. */
void file_close(int fd);

/* Identifies what stands at path now, without following a link. False if nothing is there. */
bool file_identify(const char *path, struct identity *identity);

bool identity_equal(const struct identity *a, const struct identity *b);

/* Starts to read at the beginning. fd: -1 is an empty file. The hash of all bytes read is complete
 * after the last line. */
void lines_start(struct lines *lines, int fd);

/* The outcome of lines_next(). */
enum line {
	LINE_END,
	LINE_GOOD,
	LINE_LONG,   /* more than fits; nothing of it is in out */
	LINE_BINARY, /* a byte that no text file has */
	LINE_ERROR,  /* errno says why */
};

/* Puts the next line into out[size] without surrounding blanks, CR, LF and byte order mark. The
 * text of a line that is a comment is left out, whatever its length. */
enum line lines_next(struct lines *lines, char *out, size_t size);

#endif
