/* SPDX-License-Identifier: MIT */
/* A look at every process of the machine. */
#include "tool/processes.h"

#include "region/identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define STATE_FIELD   3 /* of /proc/PID/stat, from 1 */
#define THREADS_FIELD 20

static int open_below(pid_t pid, const char *file)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

ssize_t process_read(pid_t pid, const char *file, char *text, size_t size)
{
	int fd = open_below(pid, file), saved;
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	saved = errno;
	close(fd);
	errno = saved;
	text[used] = '\0';
	return n < 0 ? -1 : (ssize_t)used;
}

/* Its name and the time of its start. */
static bool read_stat(struct process *process)
{
	char text[1024];
	const char *from, *to;
	size_t n;

	if (process_read(process->pid, "stat", text, sizeof(text)) <= 0)
		return false;
	from = strchr(text, '(');
	to = strrchr(text, ')');
	if (!from || !to || to < from)
		return false;
	n = (size_t)(to - from - 1);
	if (n >= sizeof(process->name))
		n = sizeof(process->name) - 1;
	memcpy(process->name, from + 1, n);
	process->name[n] = '\0';
	process->started = identity_start_time(text);
	return true;
}

bool process_lives(const struct process *process)
{
	struct process now = { .pid = process->pid };
	char state[1024];
	const char *end;

	if (!read_stat(&now) || now.started != process->started)
		return false;
	if (process_read(process->pid, "stat", state, sizeof(state)) <= 0)
		return false;
	end = strrchr(state, ')');
	if (!end || end[1] != ' ' || end[2] == 'X')
		return false;
	if (end[2] != 'Z')
		return true;
	/* What ended may be the thread of main() alone. */
	for (int field = STATE_FIELD; field < THREADS_FIELD && end; field++)
		end = strchr(end + 2, ' ');
	return end && strtol(end, NULL, 10) > 1;
}

static void read_line_of(struct process *process, const char *line, bool *loaded)
{
	struct mapping mapping;

	if (!mapping_parse(line, &mapping))
		return;
	*loaded |= mapping.kind != MAPPING_OTHER;
	if ((mapping.kind == MAPPING_OWN || mapping.kind == MAPPING_SHARED) &&
	    process->region_count < PROCESS_REGIONS)
		process->regions[process->region_count++] = mapping;
}

/* 1 if the process has mapped the library or a region, 0 if neither, -1 with errno. */
static int look(struct process *process)
{
	static char buffer[65536 + 1]; /* longer than any line: PATH_MAX, escaped */
	int fd = open_below(process->pid, "maps"), saved;
	size_t have = 0, passed = 0;
	bool loaded = false;
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, buffer + have, sizeof(buffer) - 1 - have)) > 0 &&
	       passed < MAPS_LIMIT) {
		char *line = buffer, *end;

		passed += (size_t)n;
		have += (size_t)n;
		buffer[have] = '\0';
		while ((end = strchr(line, '\n'))) {
			*end = '\0';
			read_line_of(process, line, &loaded);
			line = end + 1;
		}
		have -= (size_t)(line - buffer);
		memmove(buffer, line, have);
		if (have == sizeof(buffer) - 1) /* no line */
			have = 0;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return n < 0 ? -1 : loaded;
}

static bool add(struct processes *found, const struct process *process)
{
	/* Doubled at each power of two. */
	if ((found->count & (found->count - 1)) == 0) {
		size_t room = found->count ? 2 * found->count : 1;
		struct process *list = realloc(found->list, room * sizeof(*list));

		if (!list)
			return false;
		found->list = list;
	}
	found->list[found->count++] = *process;
	return true;
}

/* Segments have their numbers in an IPC namespace each. */
static void find_space(struct process *process)
{
	struct stat status;
	char path[48];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/ipc", (int)process->pid);
	if (stat(path, &status) != 0)
		return;
	for (int i = 0; i < process->region_count; i++)
		if (process->regions[i].kind == MAPPING_SHARED)
			process->regions[i].space = status.st_ino;
}

static bool consider(struct processes *found, pid_t pid)
{
	struct process process = { .pid = pid };
	struct stat status;
	char path[32];
	int loaded = look(&process);

	if (loaded < 0 && (errno == EACCES || errno == EPERM))
		found->unreadable++;
	if (loaded <= 0)
		return true; /* it may have ended */
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (!read_stat(&process) || stat(path, &status) != 0)
		return true;
	process.user = status.st_uid;
	find_space(&process);
	return add(found, &process);
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_region(const void *left, const void *right)
{
	const struct process *a = left, *b = right;
	const struct mapping *x = &a->regions[0], *y = &b->regions[0];
	int order = compare((uint64_t)a->region_count, (uint64_t)b->region_count);

	if (order == 0)
		order = compare(x->major, y->major);
	if (order == 0)
		order = compare(x->minor, y->minor);
	if (order == 0)
		order = compare(x->space, y->space);
	if (order == 0)
		order = compare(x->inode, y->inode);
	return order ? order : compare((uint64_t)a->pid, (uint64_t)b->pid);
}

pid_t process_number(const char *word)
{
	long long number = 0;

	if (*word != '\0' && strlen(word) <= 10 && word[strspn(word, "0123456789")] == '\0')
		number = strtoll(word, NULL, 10);
	return number <= INT_MAX ? (pid_t)number : 0;
}

bool processes_find(struct processes *found, pid_t only)
{
	struct dirent *entry;
	bool fine = true;
	DIR *proc;

	*found = (struct processes) { 0 };
	if (only)
		return consider(found, only);
	proc = opendir("/proc");
	if (!proc)
		return false;
	while (fine && (entry = readdir(proc)))
		if (process_number(entry->d_name) > 0)
			fine = consider(found, process_number(entry->d_name));
	closedir(proc);
	if (!fine) {
		errno = ENOMEM;
		processes_free(found);
		return false;
	}
	if (found->count)
		qsort(found->list, found->count, sizeof(*found->list), by_region);
	return true;
}

void processes_free(struct processes *found)
{
	free(found->list);
	*found = (struct processes) { 0 };
}

void process_say_missed(const char *command, pid_t pid)
{
	fprintf(stderr, "retrybudget: %s: %s", command, process_missed(pid));
	if (pid <= UINT16_MAX)
		fprintf(stderr, " (port %d is written :%d)", (int)pid, (int)pid);
	fputc('\n', stderr);
}

const char *process_missed(pid_t pid)
{
	char file[64];
	FILE *maps;

	(void)snprintf(file, sizeof(file), "/proc/%d", (int)pid);
	if (access(file, F_OK) != 0)
		return "there is no such process";
	(void)snprintf(file, sizeof(file), "/proc/%d/maps", (int)pid);
	maps = fopen(file, "re");
	if (!maps)
		return "that process is another user's: only its user and root may ask it";
	(void)fclose(maps);
	return "the library is not loaded in that process";
}
