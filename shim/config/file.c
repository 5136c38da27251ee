/* SPDX-License-Identifier: MIT */
/*
 * Opening and reading the configuration file. The 64-bit form of open is named outright: the shim
 * is built without _FILE_OFFSET_BITS.
 */
#include "config/file.h"

#include "sys/hash.h"
#include "sys/real.h"
#include "sys/status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void identify(const struct stat64 *status, struct identity *identity)
{
	*identity = (struct identity) {
		.dev = status->st_dev,
		.ino = status->st_ino,
		.size = (uint64_t)status->st_size,
		.sec = status->st_mtim.tv_sec,
		.nsec = status->st_mtim.tv_nsec,
	};
}

static const char *fault_of(const struct stat64 *status, bool owned_by_root)
{
	if (!S_ISREG(status->st_mode))
		return "is not a regular file";
	if (status->st_size > FILE_LIMIT)
		return "is larger than 64 KiB, the most that is read";
	if (owned_by_root && status->st_uid != 0)
		return "does not belong to root, as root's programs want it: chown root";
	if (owned_by_root && (status->st_mode & (S_IWGRP | S_IWOTH)))
		return "can be written by others than root, and root's programs refuse it: chmod "
		       "go-w";
	return NULL;
}

static const char *reason(int error)
{
	switch (error) {
	case ENOENT:
		return "does not exist";
	case EACCES:
	case EPERM:
		return "cannot be read: permission denied";
	case ELOOP:
		return "is a symbolic link: name the file itself";
	case ENOTDIR:
		return "does not exist: its folder is not one";
	case EMFILE:
	case ENFILE:
		return "cannot be opened: no free file descriptor";
	case ENAMETOOLONG:
		return "has too long a name";
	default:
		return "cannot be opened";
	}
}

int file_open(const char *path, bool owned_by_root, struct identity *identity, struct text *why)
{
	/* O_NONBLOCK: opening a FIFO would wait for its writer. */
	int fd = open64(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat64 status;
	const char *fault;

	if (fd < 0) {
		text_string(why, reason(errno));
		return -1;
	}
	fault = status_of(fd, &status) ? fault_of(&status, owned_by_root) : "cannot be examined";
	if (fault) {
		text_string(why, fault);
		file_close(fd);
		errno = 0;
		return -1;
	}
	identify(&status, identity);
	return fd;
}

void file_close(int fd)
{
	real.close(fd);
}

bool file_identify(const char *path, struct identity *identity)
{
	struct stat64 status;

	if (!status_at(path, &status))
		return false;
	identify(&status, identity);
	return true;
}

bool identity_equal(const struct identity *a, const struct identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->sec == b->sec &&
	       a->nsec == b->nsec;
}

void lines_start(struct lines *lines, int fd)
{
	lines->fd = fd;
	lines->offset = 0;
	lines->at = lines->have = 0;
	lines->number = 0;
	lines->hash = HASH32_START;
}

/* The next byte, -1 at the end, -2 on an error. A file that grows meanwhile ends at the limit. */
static int next_byte(struct lines *lines)
{
	if (lines->fd < 0)
		return -1;
	if (lines->at == lines->have) {
		ssize_t n;

		if (lines->offset >= FILE_LIMIT)
			return -1;
		do
			n = pread64(lines->fd, lines->buffer, sizeof(lines->buffer), lines->offset);
		while (n < 0 && errno == EINTR);
		if (n <= 0)
			return n < 0 ? -2 : -1;
		lines->offset += n;
		lines->at = 0;
		lines->have = (size_t)n;
	}
	lines->hash = hash32_bytes(lines->hash, &lines->buffer[lines->at], 1);
	return (uint8_t)lines->buffer[lines->at++];
}

static void skip_mark(struct lines *lines)
{
	static const char mark[] = "\xef\xbb\xbf";
	int first = next_byte(lines);

	if (first < 0)
		return;
	lines->at--;
	if (lines->have >= 3 && memcmp(lines->buffer, mark, 3) == 0)
		lines->at += 3;
}

enum line lines_next(struct lines *lines, char *out, size_t size)
{
	size_t used = 0, keep = 0;
	bool comment = false, too_long = false, any = false;
	int byte, previous = 0;

	if (lines->offset == 0)
		skip_mark(lines);
	lines->number++;
	while ((byte = next_byte(lines)) >= 0) {
		any = true;
		if (byte == '\n')
			break;
		if ((byte < ' ' && byte != '\t' && byte != '\r') || byte == 0x7f ||
		    previous == '\r')
			return LINE_BINARY;
		previous = byte;
		if (byte == ' ' || byte == '\t' || byte == '\r') {
			if (used == 0)
				continue;
		} else {
			if (used == 0 && (byte == ';' || byte == '#'))
				comment = true;
			keep = used + 1;
		}
		if (used + 1 < size)
			out[used] = (char)byte;
		used++;
		if (keep + 1 > size)
			too_long = true;
	}
	if (byte == -2)
		return LINE_ERROR;
	if (byte == -1 && !any)
		return LINE_END;
	out[comment || too_long ? 0 : keep] = '\0';
	return too_long && !comment ? LINE_LONG : LINE_GOOD;
}
