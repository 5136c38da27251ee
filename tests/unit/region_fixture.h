/* SPDX-License-Identifier: MIT */
/* A directory that stands for /dev/shm, and regions in it as other users see them. */
#ifndef REGION_FIXTURE_H
#define REGION_FIXTURE_H

#include "region/shared.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static char base[64], directory[128], file[256];

static inline void name_file(void)
{
	char name[SHARE_FILE];

	cr_assert(share_file_name("default", name));
	snprintf(file, sizeof(file), "%s/%s", directory, name);
}

/* A directory that stands for /dev/shm. */
static inline void make_base(uid_t user)
{
	strcpy(base, "/dev/shm/retrybudget-test-XXXXXX");
	cr_assert_not_null(mkdtemp(base));
	cr_assert_eq(chmod(base, 01777), 0);
	snprintf(directory, sizeof(directory), "%s/retrybudget-%u", base, user);
	name_file();
}

static inline bool of_file(struct share_link *link)
{
	char text[SHARE_TEXT];
	ssize_t n = readlink(file, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	return share_link_read(text, link);
}

/* The directory, and the segments of all links in it. */
static inline void remove_base(void)
{
	static const char *const kinds[] = { "retrybudget", "retrybudget-0", "retrybudget-65534" };
	char command[128], folder[128];
	struct share_link link;
	struct dirent *one;
	DIR *list;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(folder, sizeof(folder), "%s/%s", base, kinds[i]);
		list = opendir(folder);
		while (list && (one = readdir(list))) {
			snprintf(file, sizeof(file), "%s/%.60s", folder, one->d_name);
			if (of_file(&link))
				shmctl(link.id, IPC_RMID, NULL);
		}
		if (list)
			closedir(list);
	}

	snprintf(command, sizeof(command), "rm -rf %s", base);
	cr_assert_eq(system(command), 0);
}

static inline struct region *user_region(const char **why)
{
	return region_open_in(base, SCOPE_USER, "default", why);
}

static inline int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Runs in a child, as another user if uid is not 0. True if it returned true. */
static inline bool in_child(bool (*what)(void), uid_t uid)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (uid && (setgid(uid) != 0 || setuid(uid) != 0))
			_exit(2);
		_exit(what() ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static inline void check_new(const struct region *region)
{
	static const struct destination empty;

	cr_assert_not_null(region);
	cr_assert_eq(region->magic, REGION_MAGIC);
	cr_assert_eq(region->size, (int64_t)sizeof(struct region));
	cr_assert_eq(region->lost_records, 0);
	cr_assert_eq(memcmp(&region->first.destinations[REGION_CHUNK - 1], &empty, sizeof(empty)),
	             0);
}

static inline bool sees_count_of_user_region(void)
{
	const char *why;
	struct region *region = user_region(&why);

	return region && !why && region->tally.attempts == 1;
}

#endif
