/* SPDX-License-Identifier: MIT */
/* Will the shim reach a program? Shared by `run`, which refuses if not, and `inspect`. */
#ifndef RETRYBUDGET_TOOL_REACH_H
#define RETRYBUDGET_TOOL_REACH_H

#include <limits.h>
#include <stdbool.h>

/* Exit codes, those of env(1). */
enum {
	EXIT_OWN = 125,   /* our own failure */
	EXIT_UNFIT = 126, /* found, but cannot be invoked, or the shim cannot reach it */
	EXIT_NOT_FOUND = 127,
};

struct reach {
	int code;                         /* 0 = the shim will reach it, else one of the above */
	bool asan;                        /* the program has ASan in a shared library */
	bool php;                         /* it is PHP, or a script for it */
	char library[PATH_MAX];           /* absolute: the one that fits the program */
	char message[PATH_MAX * 2 + 256]; /* code != 0: one sentence saying what and the remedy */
};

/* Looks at what `command` would start: found along PATH as execvp(3) does, scripts followed to
 * their interpreter. A file of a format we do not know is left to exec, and gets the benefit of
 * doubt. */
void reach_command(const char *command, struct reach *verdict);

#endif
