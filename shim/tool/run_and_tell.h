/* SPDX-License-Identifier: MIT */
/* `retrybudget run --stat-on-exit`: a program as a child, and what was counted when it ends. */
#ifndef RETRYBUDGET_TOOL_RUN_AND_TELL_H
#define RETRYBUDGET_TOOL_RUN_AND_TELL_H

/* Runs a command in a child, by start(), which returns an exit status if it cannot; prints to
 * stderr what stat says of it then; ends as it ended, by a signal even. Returns the exit status. */
int run_and_tell(char **command, int (*start)(char **command));

#endif
