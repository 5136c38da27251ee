/* SPDX-License-Identifier: MIT */
/* What a command starts: found as execvp(3) does, and where a script leads. */
#include "tool/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT_LINE 256 /* of a #! line, as the kernel reads it */

bool program_is(const char *path)
{
	struct stat is;

	return stat(path, &is) == 0 && S_ISREG(is.st_mode) && access(path, X_OK) == 0;
}

int program_find(const char *command, char *out, size_t size)
{
	const char *path = getenv("PATH");
	int error = ENOENT;

	if (strchr(command, '/')) {
		if ((size_t)snprintf(out, size, "%s", command) >= size)
			return ENOENT;
		if (program_is(out))
			return 0;
		return access(out, F_OK) == 0 ? EACCES : ENOENT;
	}
	for (path = path ? path : "/bin:/usr/bin"; *command; path++) {
		size_t n = strcspn(path, ":");
		int length = n ? snprintf(out, size, "%.*s/%s", (int)n, path, command)
		               : snprintf(out, size, "./%s", command); /* an empty entry */

		if (length >= 0 && (size_t)length < size) {
			if (program_is(out))
				return 0;
			if (access(out, F_OK) == 0)
				error = EACCES;
		}
		path += n;
		if (*path == '\0')
			break;
	}
	return error;
}

/* Copies the first word of *text and steps over it. */
static bool next_word(char **text, char *out, size_t size)
{
	size_t n;

	*text += strspn(*text, " \t");
	n = strcspn(*text, " \t");
	if (n == 0 || n >= size)
		return false;
	memcpy(out, *text, n);
	out[n] = '\0';
	*text += n;
	return true;
}

/* "#!/usr/bin/env [-S] [NAME=value] python3": what env will start. */
static bool env_target(char *rest, char *out, size_t size)
{
	while (next_word(&rest, out, size))
		if (*out != '-' && !strchr(out, '='))
			return true;
	return false;
}

bool program_script(int fd, char *interpreter, char *through_env, size_t size)
{
	char line[SCRIPT_LINE + 1];
	ssize_t n = pread(fd, line, SCRIPT_LINE, 0);
	char *rest = line + 2;
	const char *base;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	*through_env = '\0';
	if (!next_word(&rest, interpreter, size))
		return false;
	base = strrchr(interpreter, '/');
	if (strcmp(base ? base + 1 : interpreter, "env") == 0 &&
	    !env_target(rest, through_env, size))
		*through_env = '\0';
	return true;
}
