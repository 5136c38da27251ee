/* SPDX-License-Identifier: MIT */
/*
 * cgroups(7): a line of /proc/self/cgroup says where the process is, "0::/a/b" in the second
 * version, "4:memory:/a/b" in the first. In a container the path may be one of the machine outside,
 * of which only the end of the way up is there: that is the container's own.
 */
#include "sys/memory_limit.h"

#include "sys/arithmetic.h"
#include "sys/real.h"
#include "sys/text.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* A text of a file, 0 bytes where it cannot be had. */
static size_t read_text(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : real.read(fd, out, size - 1);

	if (fd >= 0)
		real.close(fd);
	n = n < 0 ? 0 : n;
	out[n] = '\0';
	return (size_t)n;
}

/* "max", or a number that is longer than any memory, is no limit. */
static int64_t read_limit(const char *path)
{
	char digits[32];
	const char *at = digits;
	int64_t limit;

	read_text(path, digits, sizeof(digits));
	return text_number(&at, '\n', &limit) ? limit : INT64_MAX;
}

/* Of a cgroup, whose path has n bytes, and of all above it. */
static int64_t least_limit(const char *hierarchy, const char *path, size_t n, const char *file)
{
	int64_t least = INT64_MAX;
	char name[400];
	struct text text;

	for (;;) {
		while (n > 0 && path[n - 1] == '/')
			n--;
		text_start(&text, name, sizeof(name));
		if (text_string(&text, hierarchy) && text_bytes(&text, path, n) &&
		    text_string(&text, file))
			least = lesser(least, read_limit(name));
		if (n == 0)
			return least;
		while (n > 0 && path[n - 1] != '/')
			n--;
	}
}

/* line: "number:controllers:path", and a newline. */
static int64_t limit_of_line(const char *line, const char *hierarchies)
{
	const char *controllers = strchr(line, ':'), *path;
	char hierarchy[64];
	struct text text;
	bool is_memory;

	path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path)
		return INT64_MAX;
	text_start(&text, hierarchy, sizeof(hierarchy));
	text_string(&text, hierarchies);
	path++;
	if (path == controllers + 2)
		return least_limit(hierarchy, path, strcspn(path, "\n"), "/memory.max");
	is_memory = strncmp(controllers, ":memory:", 8) == 0;
	if (!is_memory || !text_string(&text, "/memory"))
		return INT64_MAX;
	return least_limit(hierarchy, path, strcspn(path, "\n"), "/memory.limit_in_bytes");
}

int64_t memory_limit_of(const char *own, const char *hierarchies)
{
	int64_t least = INT64_MAX;
	static char lines[4096]; /* a dozen hierarchies have one each */

	read_text(own, lines, sizeof(lines));
	for (const char *line = lines; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		least = lesser(least, limit_of_line(line, hierarchies));
	}
	return least;
}

int64_t memory_limit(void)
{
	int64_t limit = memory_limit_of("/proc/self/cgroup", "/sys/fs/cgroup");
	struct sysinfo machine;

	if (syscall(SYS_sysinfo, &machine) == 0)
		limit = lesser(limit, (int64_t)((uint64_t)machine.totalram * machine.mem_unit));
	return limit;
}
