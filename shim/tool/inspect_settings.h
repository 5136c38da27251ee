/* SPDX-License-Identifier: MIT */
/* What a process has been set to that has the library in it. */
#ifndef RETRYBUDGET_TOOL_INSPECT_SETTINGS_H
#define RETRYBUDGET_TOOL_INSPECT_SETTINGS_H

#include <sys/types.h>

/* Prints version, configuration and mode of a process in which it is. */
void inspect_settings(pid_t pid);

#endif
