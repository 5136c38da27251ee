/* SPDX-License-Identifier: MIT */
/* Finding the files of shares, and reading who made them. */
#include "tool/share_files.h"

#include "region/shared.h"
#include "tool/share_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
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

/* Whose link it is, must have made the segment: in a share of the host a member of its group may
 * have. */
static bool read_link(int directory, const char *name, struct share *share)
{
	struct stat status;
	char text[SHARE_TEXT];
	struct share_link link;
	ssize_t n;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISLNK(status.st_mode) || (!share->is_host && status.st_uid != share->user))
		return false;
	n = readlinkat(directory, name, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	share->maker = status.st_uid;
	share->segment = share_link_read(text, &link) ? link.id : -1;
	share->nonce = share->segment >= 0 ? link.nonce : 0;
	return n >= 0;
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

static bool look_into(int directory, const struct share *owner, const char *path,
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

		if (!share_name_read(one->d_name, &share) ||
		    !read_link(dirfd(list), one->d_name, &share))
			continue;
		(void)snprintf(share.path, sizeof(share.path), "%.64s/%.110s", path, one->d_name);
		room = add(found, &share);
	}
	closedir(list);
	return room;
}

static bool find_of_owner(int base, const char *base_path, const char *name, struct shares *found)
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
	if (fstat(directory, &status) != 0 || status.st_uid != owner.user) {
		close(directory);
		return true;
	}
	return look_into(directory, &owner, path, found);
}

static int by_owner_and_name(const void *a, const void *b)
{
	const struct share *one = a, *other = b;
	int order = strcmp(one->owner, other->owner);

	if (order == 0)
		order = strcmp(one->name, other->name);
	if (order == 0)
		order = one->is_elsewhere - other->is_elsewhere;
	if (order == 0 && one->network != other->network)
		order = one->network < other->network ? -1 : 1;
	return order ? order : one->layout - other->layout;
}

bool shares_find(const char *base, struct shares *found)
{
	int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *one;
	bool room = true;
	DIR *list;

	*found = (struct shares) { 0 };
	if (fd < 0)
		return false;
	list = fdopendir(fd);
	if (!list) {
		close(fd);
		return false;
	}
	while (room && (one = readdir(list)))
		room = find_of_owner(dirfd(list), base, one->d_name, found);
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

enum snapshot_state share_open(const struct share *share, bool for_writing,
                               struct region_file *file)
{
	int64_t head[3];
	enum snapshot_state state;

	*file = (struct region_file) { .fd = -1 };
	if (share->segment < 0)
		return SNAPSHOT_FALSE;
	state = region_file_of_segment(share->segment, share->maker, for_writing, file);
	if (state != SNAPSHOT_GOOD)
		return state;
	/* The number may mean another segment than when the share was made. */
	state = region_file_read(file, 0, head, sizeof(head));
	if (state == SNAPSHOT_GOOD && head[2] != share->nonce)
		state = SNAPSHOT_GONE;
	if (state != SNAPSHOT_GOOD)
		region_file_close(file);
	return state;
}

size_t share_attached(const struct share *share)
{
	struct region_file file;
	struct shmid_ds is;
	size_t count = 0;

	if (share_open(share, false, &file) != SNAPSHOT_GOOD)
		return 0;
	if (shmctl(share->segment, IPC_STAT, &is) == 0 && is.shm_nattch > 0)
		count = is.shm_nattch - 1; /* but this one */
	region_file_close(&file);
	return count;
}

/* What the region says of its chunks is a claim: they must say the same. */
static void remove_chunks(const struct share *share, const struct region_file *file)
{
	int64_t said[REGION_CHUNKS], head[3];
	struct region_file chunk;

	if (region_file_read(file, 0, head, sizeof(head)) != SNAPSHOT_GOOD ||
	    head[0] != REGION_MAGIC ||
	    region_file_read(file, offsetof(struct region, chunks), said, sizeof(said)) !=
	        SNAPSHOT_GOOD)
		return;
	for (int i = 1; i < REGION_CHUNKS; i++) {
		if (said[i] <= 0 || said[i] > INT32_MAX ||
		    region_file_of_segment((int)said[i] - 1, SEGMENT_ANYONE, false, &chunk) !=
		        SNAPSHOT_GOOD)
			continue;
		if (region_file_read(&chunk, 0, head, sizeof(head)) == SNAPSHOT_GOOD &&
		    head[0] == REGION_MAGIC && head[1] == share->nonce && head[2] == i)
			(void)shmctl((int)said[i] - 1, IPC_RMID, NULL);
		region_file_close(&chunk);
	}
}

bool share_remove(const struct share *share)
{
	struct region_file file;
	bool there = share_open(share, false, &file) == SNAPSHOT_GOOD;

	if (unlink(share->path) != 0) {
		region_file_close(&file);
		return false;
	}
	if (there) {
		remove_chunks(share, &file);
		(void)shmctl(share->segment, IPC_RMID, NULL);
	}
	region_file_close(&file);
	return true;
}

const char *share_sentence(const struct snapshot *snapshot)
{
	if (snapshot->state == SNAPSHOT_GONE)
		return "leads to memory that has gone: the next of its programs makes it anew";
	return snapshot_sentence(snapshot);
}
