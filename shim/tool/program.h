/* SPDX-License-Identifier: MIT */
/* What a command starts. For the command only: stdio and the environment are used. */
#ifndef RETRYBUDGET_TOOL_PROGRAM_H
#define RETRYBUDGET_TOOL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* True for a file that may be executed. */
bool program_is(const char *path);

/* Finds a command as execvp(3) does. Returns 0, or ENOENT or EACCES as it would. */
int program_find(const char *command, char *out, size_t size);

/* Reads the #! line of an open file. interpreter: what the kernel will start; through_env: the
 * command that env(1) will look for, or "". Both have room for size bytes. False if the file is no
 * script. */
bool program_script(int fd, char *interpreter, char *through_env, size_t size);

#endif
