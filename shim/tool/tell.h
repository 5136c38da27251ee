/* SPDX-License-Identifier: MIT */
/* Mistakes of a configuration file, for who runs a command. */
#ifndef RETRYBUDGET_TOOL_TELL_H
#define RETRYBUDGET_TOOL_TELL_H

/* Prints a mistake of a configuration file to stderr; a config_complain. who: a text, what tells
 * it; NULL: the file comes first, as editors know it. */
void tell(void *who, const char *file, int line, const char *message);

#endif
