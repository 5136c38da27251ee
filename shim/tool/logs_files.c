/* SPDX-License-Identifier: MIT */
/* Files of a log: plain, gzipped, rotated. */
#include "tool/logs_files.h"

#include "tool/logs_time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef WITHOUT_ZLIB
#include <zlib.h>
#endif

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

static bool add(struct log_files *files, const char *path, const struct stat *status)
{
	struct log_file *list, *file;

	for (size_t i = 0; i < files->count; i++)
		if (status && files->files[i].device == (int64_t)status->st_dev &&
		    files->files[i].inode == (int64_t)status->st_ino)
			return true;
	list = reallocarray(files->files, files->count + 1, sizeof(*list));
	if (!list)
		return false;
	files->files = list;
	file = &list[files->count];
	*file = (struct log_file) { .fd = -1, .changed = INT64_MAX, .path = strdup(path) };
	if (!file->path)
		return false;
	if (status) {
		file->device = (int64_t)status->st_dev;
		file->inode = (int64_t)status->st_ino;
		file->changed =
		    (int64_t)status->st_mtim.tv_sec * US_PER_S + status->st_mtim.tv_nsec / 1000;
	}
	files->count++;
	return true;
}

/* "log.1", "log.2.gz", "log-20261123.gz" of "log". */
static bool is_rotated(const char *name, const char *base)
{
	size_t n = strlen(base), digits;

	if (strncmp(name, base, n) != 0 || (name[n] != '.' && name[n] != '-'))
		return false;
	digits = strspn(name + n + 1, "0123456789");
	name += n + 1 + digits;
	return digits > 0 && (*name == '\0' || strcmp(name, ".gz") == 0);
}

static bool add_rotated(struct log_files *files, const char *path, int64_t since)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
	DIR *listing = folder ? opendir(folder) : NULL;
	bool good = folder != NULL;

	for (struct dirent *one; listing && good && (one = readdir(listing));) {
		struct stat status;
		char *whole;

		if (!is_rotated(one->d_name, base) ||
		    fstatat(dirfd(listing), one->d_name, &status, 0) != 0 ||
		    !S_ISREG(status.st_mode) || status.st_mtim.tv_sec < since / US_PER_S)
			continue;
		good = asprintf(&whole, "%s%s", folder, one->d_name) >= 0;
		if (good) {
			good = add(files, whole, &status);
			free(whole);
		}
	}
	if (listing)
		closedir(listing);
	free(folder);
	return good;
}

bool log_files_add(struct log_files *files, const char *path, int64_t since)
{
	struct stat status;

	if (strcmp(path, "-") == 0)
		return add(files, path, NULL);
	if (stat(path, &status) != 0)
		return false;
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return false;
	}
	return add(files, path, &status) &&
	       (!S_ISREG(status.st_mode) || add_rotated(files, path, since));
}

static int older(const void *a, const void *b)
{
	const struct log_file *one = a, *other = b;

	return (one->changed > other->changed) - (one->changed < other->changed);
}

void log_files_sort(struct log_files *files)
{
	if (files->count > 0)
		qsort(files->files, files->count, sizeof(*files->files), older);
}

void log_files_free(struct log_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		log_file_close(&files->files[i]);
		free(files->files[i].path);
	}
	free(files->files);
	*files = (struct log_files) { 0 };
}

bool log_file_open(struct log_file *file, bool live)
{
	struct stat status;

	file->fd = strcmp(file->path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
	                                        : open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (file->fd < 0)
		return false;
	if (fstat(file->fd, &status) != 0) {
		close(file->fd);
		file->fd = -1;
		return false;
	}
#ifndef WITHOUT_ZLIB
	/* zlib waits for a whole buffer, where a pipe hands out what there is. */
	if (live && !S_ISREG(status.st_mode))
		return true;
	file->gz = gzdopen(file->fd, "rb");
	if (!file->gz) {
		close(file->fd);
		file->fd = -1;
		errno = ENOMEM;
		return false;
	}
#else
	(void)live;
#endif
	return true;
}

void log_file_close(struct log_file *file)
{
	if (file->fd < 0)
		return;
#ifndef WITHOUT_ZLIB
	if (file->gz)
		(void)gzclose(file->gz);
	else
#endif
		(void)close(file->fd);
	file->gz = NULL;
	file->fd = -1;
}

long log_file_read(struct log_file *file, char *bytes, size_t size)
{
#ifndef WITHOUT_ZLIB
	int n, error = Z_OK;

	if (file->gz) {
		n = gzread(file->gz, bytes, (unsigned)size);
		if (n != 0)
			return n;
		(void)gzerror(file->gz, &error);
		if (error != Z_OK && error != Z_STREAM_END)
			return -1;
		gzclearerr(file->gz); /* a plain file may grow */
		return 0;
	}
#endif
	return read(file->fd, bytes, size);
}

bool log_file_is_rotated(const struct log_file *file)
{
	struct stat there, here;

	if (strcmp(file->path, "-") == 0 || stat(file->path, &there) != 0 ||
	    fstat(file->fd, &here) != 0)
		return false;
	return there.st_ino != here.st_ino || there.st_dev != here.st_dev ||
	       (S_ISREG(here.st_mode) && here.st_size < lseek(file->fd, 0, SEEK_CUR));
}
