/* SPDX-License-Identifier: MIT */
/* `retrybudget run --set`: keys on the command line, on their way to the program. */
#ifndef RETRYBUDGET_TOOL_SETTINGS_H
#define RETRYBUDGET_TOOL_SETTINGS_H

#include "config/read.h"

struct setting_list {
	char text[OVERRIDES_MAX]; /* as config/overrides.h wants it */
	const char *given[OVERRIDES];
	int count;
};

/* Adds "destination default.floor=1/s", or "floor=1/s" where one section alone has such a key.
 * False, and told on stderr with a remedy, if it is none of that. */
bool settings_add(struct setting_list *list, const char *given);

/* Reads them over a file as the library will; true if none of them is told to be wrong. */
bool settings_check(const struct setting_list *list, const char *file);

#endif
