/* SPDX-License-Identifier: MIT */
/* Which processes are under the library. Everything is read from /proc, and nothing that a process
 * says of itself is trusted: only the kernel's account of what it has mapped. */
#ifndef RETRYBUDGET_TOOL_PROCESSES_H
#define RETRYBUDGET_TOOL_PROCESSES_H

#include "tool/maps.h"

#include <stddef.h>
#include <sys/types.h>

#define PROCESS_REGIONS 4 /* that are looked at: a process has one, unless it forges others */

struct process {
	pid_t pid;
	uid_t user;
	int64_t started; /* clock ticks after boot */
	char name[64];   /* that the kernel knows it by; bytes of any kind */
	int region_count;
	struct mapping regions[PROCESS_REGIONS];
};

struct processes {
	struct process *list;
	size_t count;
	size_t unreadable; /* that could not be looked into: other users' */
};

/* Finds them all, or looks at one alone; in the order of their regions, then of their numbers.
 * False with errno if /proc cannot be read, or there is no memory. */
bool processes_find(struct processes *found, pid_t only);

void processes_free(struct processes *found);

/* The text of a file below /proc/PID, with a NUL, cut at size; its length, or -1 with errno. */
ssize_t process_read(pid_t pid, const char *file, char *text, size_t size);

/* The number that a word is, or 0. */
pid_t process_number(const char *word);

/* Why nothing was found in a process: it is not there, it may not be looked into, or it runs
 * without the library. */
const char *process_missed(pid_t pid);

/* Says so of a command whose number may have been meant for a port. */
void process_say_missed(const char *command, pid_t pid);

/* True if the number still is the same process's. */
bool process_lives(const struct process *process);

#endif
