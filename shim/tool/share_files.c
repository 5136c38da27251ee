/* SPDX-License-Identifier: MIT */
#include "tool/share_files.h"

#include "config/scope.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define FOLDER "retrybudget"

/* Whose directory it is, by its name. False: it is none of ours. */
static bool owner_of(const char *directory, struct share *share)
{
	const struct passwd *user;
	unsigned long number;
	char *end;

	if (strcmp(directory, FOLDER) == 0) {
		share->is_host = true;
		(void)snprintf(share->owner, sizeof(share->owner), "host");
		return true;
	}
	if (strncmp(directory, FOLDER "-", sizeof(FOLDER)) != 0)
		return false;
	directory += sizeof(FOLDER);
	errno = 0;
	number = strtoul(directory, &end, 10);
	if (*directory < '0' || *directory > '9' || *end || errno || number > UINT32_MAX)
		return false;
	share->user = (uid_t)number;
	user = getpwuid(share->user);
	if (!user || snprintf(share->owner, sizeof(share->owner), "%s", user->pw_name) >=
	                 (int)sizeof(share->owner))
		(void)snprintf(share->owner, sizeof(share->owner), "%lu", number);
	return true;
}

/* "NAME-vN" */
static bool name_of(const char *file, struct share *share)
{
	size_t n = strlen(file);

	if (n < sizeof("x-v1") - 1 || n - 3 >= sizeof(share->name) ||
	    memcmp(file + n - 3, "-v", 2) != 0)
		return false;
	share->layout = file[n - 1];
	if (share->layout < '0' || share->layout > 'z')
		return false;
	memcpy(share->name, file, n - 3);
	share->name[n - 3] = '\0';
	return share_name_valid(share->name);
}

static bool is_ours(const struct stat *status, const struct share *share)
{
	return S_ISREG(status->st_mode) && status->st_uid == share->user && status->st_nlink == 1;
}

static bool add(struct shares *found, const struct share *share)
{
	struct share *list = realloc(found->list, (found->count + 1) * sizeof(*list));

	if (!list)
		return false;
	found->list = list;
	list[found->count++] = *share;
	return true;
}

static bool look_into(int directory, const struct share *owner, const char *path, dev_t device,
                      struct shares *found)
{
	DIR *list = fdopendir(directory);
	const struct dirent *one;
	bool room = true;

	if (!list) {
		close(directory);
		return false;
	}
	while (room && (one = readdir(list))) {
		struct share share = *owner;
		struct stat status;

		if (!name_of(one->d_name, &share) ||
		    fstatat(dirfd(list), one->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !is_ours(&status, &share) || status.st_dev != device)
			continue;
		share.device = status.st_dev;
		share.inode = status.st_ino;
		(void)snprintf(share.path, sizeof(share.path), "%.64s/%.80s", path, one->d_name);
		room = add(found, &share);
	}
	closedir(list);
	return room;
}

static bool find_of_owner(int base, const char *base_path, const char *name, dev_t device,
                          struct shares *found)
{
	struct share owner = { 0 };
	struct stat status;
	char path[64];
	int directory;

	if (!owner_of(name, &owner) ||
	    snprintf(path, sizeof(path), "%s/%s", base_path, name) >= (int)sizeof(path))
		return true;
	directory = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0) {
		found->closed += errno == EACCES;
		return true;
	}
	if (fstat(directory, &status) != 0 || status.st_uid != owner.user ||
	    status.st_dev != device) {
		close(directory);
		return true;
	}
	return look_into(directory, &owner, path, device, found);
}

static int by_owner_and_name(const void *a, const void *b)
{
	const struct share *one = a, *other = b;
	int order = strcmp(one->owner, other->owner);

	if (order == 0)
		order = strcmp(one->name, other->name);
	return order ? order : one->layout - other->layout;
}

bool shares_find(const char *base, struct shares *found)
{
	int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *one;
	struct stat status;
	bool room = true;
	DIR *list;

	*found = (struct shares) { 0 };
	if (fd < 0)
		return false;
	list = fstat(fd, &status) == 0 ? fdopendir(fd) : NULL;
	if (!list) {
		close(fd);
		return false;
	}
	while (room && (one = readdir(list)))
		room = find_of_owner(dirfd(list), base, one->d_name, status.st_dev, found);
	closedir(list);
	if (found->count > 0)
		qsort(found->list, found->count, sizeof(*found->list), by_owner_and_name);
	return room;
}

void shares_free(struct shares *found)
{
	free(found->list);
	*found = (struct shares) { 0 };
}

bool share_is(const struct share *share, const char *word)
{
	const char *slash = strchr(word, '/');
	char number[16];
	size_t n;

	if (!slash)
		return strcmp(share->name, word) == 0;
	n = (size_t)(slash - word);
	(void)snprintf(number, sizeof(number), "%u", share->user);
	return strcmp(share->name, slash + 1) == 0 &&
	       ((strlen(share->owner) == n && memcmp(share->owner, word, n) == 0) ||
	        (!share->is_host && strlen(number) == n && memcmp(number, word, n) == 0));
}

enum snapshot_state share_open(const struct share *share, bool for_writing,
                               struct region_file *file)
{
	struct stat status;

	*file = (struct region_file) { 0, 0, -1 };
	file->fd = open(share->path, (for_writing ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK |
	                                 O_NOCTTY | O_CLOEXEC);
	if (file->fd < 0)
		return errno == EACCES || errno == EPERM ? SNAPSHOT_DENIED : SNAPSHOT_GONE;
	/* Since it was found another may have come to lie there. */
	if (fstat(file->fd, &status) != 0 || !is_ours(&status, share) ||
	    status.st_ino != share->inode || status.st_dev != share->device) {
		region_file_close(file);
		return SNAPSHOT_GONE;
	}
	return SNAPSHOT_GOOD;
}

bool share_remove(const struct share *share)
{
	return unlink(share->path) == 0;
}
