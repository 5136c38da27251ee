/* SPDX-License-Identifier: MIT */
/* Mistakes of a configuration file, for who runs a command. */
#ifndef RETRYBUDGET_TOOL_TELL_H
#define RETRYBUDGET_TOOL_TELL_H

/* Prints a mistake of a configuration file to stderr; a config_complain. */
void tell(void *arg, const char *file, int line, const char *message);

#endif
