/* SPDX-License-Identifier: MIT */
/* What `retrybudget inspect` tells of running processes. */
#ifndef RETRYBUDGET_TOOL_INSPECT_H
#define RETRYBUDGET_TOOL_INSPECT_H

#include <sys/types.h>

/* 1 if the library is loaded in a process, 0 if not, -1 with errno if that cannot be told. */
int inspect_is_loaded(const char *pid);

/* Prints version, configuration and mode of a process in which it is. */
void inspect_settings(pid_t pid);

/* Prints every process that could be reached and is not. Returns the exit status. */
int inspect_all(void);

#endif
