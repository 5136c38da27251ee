/* SPDX-License-Identifier: MIT */
/* A line that others can read is no password. */
#include "tool/fleet_password.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *why_not_read(int error)
{
	return error == ENOENT   ? "password_file cannot be read: it does not exist"
	       : error == EACCES ? "password_file cannot be read: permission denied"
	                         : "password_file cannot be read, or is no regular file";
}

ssize_t fleet_password(const char *path, char password[FLEET_PASSWORD], const char **reason)
{
	int fd = *path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	struct stat of;
	ssize_t n;

	if (!*path)
		return 0;
	*reason = why_not_read(fd < 0 ? errno : EINVAL);
	if (fd < 0)
		return -1;
	n = fstat(fd, &of) == 0 && S_ISREG(of.st_mode) ? read(fd, password, FLEET_PASSWORD) : -1;
	close(fd);
	if (n < 0)
		return -1;
	*reason = "password_file can be read by others: chmod 600 mends that";
	if (of.st_mode & (S_IRWXO | S_IWGRP))
		return -1;
	*reason = "password_file has no line, or one of more than 511 bytes";
	if (n == FLEET_PASSWORD || (n > 0 && memchr(password, '\n', (size_t)n) == password))
		return -1;
	for (ssize_t i = 0; i < n; i++)
		if (password[i] == '\n')
			n = i;
	return n > 0 ? n : -1;
}
