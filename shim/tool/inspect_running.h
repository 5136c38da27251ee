/* SPDX-License-Identifier: MIT */
/* The processes of a command. */
#ifndef RETRYBUDGET_TOOL_INSPECT_RUNNING_H
#define RETRYBUDGET_TOOL_INSPECT_RUNNING_H

#include <stddef.h>

struct running {
	size_t count;  /* processes */
	size_t loaded; /* of them, with the library in them */
};

/* Prints the processes that run a command now, or go by that name. */
struct running inspect_running(const char *command);

#endif
