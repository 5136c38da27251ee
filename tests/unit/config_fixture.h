/* SPDX-License-Identifier: MIT */
/* Files to read, and what was said about them. Each Criterion test is a process of its own, so the
 * fixture may be static. */
#ifndef RETRYBUDGET_TESTS_CONFIG_FIXTURE_H
#define RETRYBUDGET_TESTS_CONFIG_FIXTURE_H

#include "config/config.h"
#include "config/read.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/retrybudget-unit-XXXXXX";
static char path[64];
static struct config config;

/* All messages as "line: message\n". */
static char said[1 << 16];
static int messages;

static inline void note(void *arg, const char *file, int line, const char *message)
{
	size_t used = strlen(said);

	cr_assert_null(arg);
	cr_assert_str_eq(file, path);
	snprintf(said + used, sizeof(said) - used, "%d: %s\n", line, message);
	messages++;
}

static inline void make_folder(void)
{
	cr_assert_not_null(mkdtemp(folder));
	/* A process that gave up root must reach its files. */
	cr_assert_eq(chmod(folder, 0755), 0);
	snprintf(path, sizeof(path), "%s/rb.ini", folder);
}

static inline void remove_folder(void)
{
	char other[128];

	unlink(path);
	snprintf(other, sizeof(other), "%s/other", folder);
	unlink(other);
	rmdir(path);
	cr_expect_eq(rmdir(folder), 0);
}

static inline void write_to(const char *file, const char *bytes, size_t n)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

static inline void write_bytes(const char *bytes, size_t n)
{
	write_to(path, bytes, n);
}

static inline int read_path(void)
{
	said[0] = '\0';
	messages = 0;
	return config_read(&config, path, false, note, NULL);
}

static inline int read_text(const char *text)
{
	write_bytes(text, strlen(text));
	return read_path();
}

static inline void expect_said(const char *what)
{
	cr_expect(strstr(said, what), "expected to read: %s\nbut was told:\n%s", what, said);
}

/* Reads text as the whole file, which has to be good, and notes where each key stands; said is
 * empty then. */
static inline void read_well(const char *text, struct origins *origins)
{
	struct source source = {
		.file = path, .mode = MODE_AS_IN_FILE, .origins = origins, .complain = note
	};
	struct identity identity;
	uint32_t fingerprint;

	write_bytes(text, strlen(text));
	said[0] = '\0';
	memset(origins, 0, sizeof(*origins));
	cr_assert_eq(config_read_source(&config, &source, &identity, &fingerprint), READING_GOOD,
	             "%s", said);
}

#endif
