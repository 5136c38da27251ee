/* SPDX-License-Identifier: MIT */
/* What the screen asks of a process. */
#ifndef RETRYBUDGET_TOOL_STEER_MODE_H
#define RETRYBUDGET_TOOL_STEER_MODE_H

#include <stddef.h>
#include <sys/types.h>

/* Asks a process for a mode, as `retrybudget set` does. What came of it in one line, printable, in
 * text. */
void steer_mode(pid_t pid, const char *mode, char *text, size_t size);

#endif
