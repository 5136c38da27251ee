/* SPDX-License-Identifier: MIT */
/* All processes of the machine. */
#ifndef RETRYBUDGET_TOOL_INSPECT_ALL_H
#define RETRYBUDGET_TOOL_INSPECT_ALL_H

/* Prints every process that could be reached and is not. Returns the exit status. */
int inspect_all(void);

#endif
