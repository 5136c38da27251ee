/* SPDX-License-Identifier: MIT */
/* What `retrybudget inspect` tells of running processes. */
#ifndef RETRYBUDGET_TOOL_INSPECT_H
#define RETRYBUDGET_TOOL_INSPECT_H

#include <stddef.h>
#include <sys/types.h>

/* 1 if the library is loaded in a process, 0 if not, -1 with errno if that cannot be told. */
int inspect_is_loaded(const char *pid);

/* Prints version, configuration and mode of a process in which it is. */
void inspect_settings(pid_t pid);

struct running {
	size_t count;  /* processes */
	size_t loaded; /* of them, with the library in them */
};

/* Prints the processes that run a command now, or go by that name. */
struct running inspect_running(const char *command);

/* Prints every process that could be reached and is not. Returns the exit status. */
int inspect_all(void);

#endif
