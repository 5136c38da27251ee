/* SPDX-License-Identifier: MIT */
/* A line that others can read is no password. */
#include "tool/fleet_password.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t fleet_password(const char *path, char password[FLEET_PASSWORD], const char **reason)
{
	int fd = *path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	struct stat of;
	ssize_t n;

	if (!*path)
		return 0;
	*reason = "password_file cannot be read";
	if (fd < 0)
		return -1;
	n = fstat(fd, &of) == 0 && S_ISREG(of.st_mode) ? read(fd, password, FLEET_PASSWORD) : -1;
	close(fd);
	if (n < 0)
		return -1;
	*reason = "password_file can be read by others";
	if (of.st_mode & (S_IRWXO | S_IWGRP))
		return -1;
	*reason = "password_file has no line, or too long a one";
	if (n == FLEET_PASSWORD || (n > 0 && memchr(password, '\n', (size_t)n) == password))
		return -1;
	for (ssize_t i = 0; i < n; i++)
		if (password[i] == '\n')
			n = i;
	return n > 0 ? n : -1;
}
