/* SPDX-License-Identifier: MIT */
/* Values that are legal and that hardly anybody means. */
#ifndef RETRYBUDGET_TOOL_DANGERS_H
#define RETRYBUDGET_TOOL_DANGERS_H

#include "config/read.h"

/* Tells of each such value that a line of the file sets, with the reason and what is usual; returns
 * how many there are. They are no mistakes: whoever has measured it may have reasons. What a preset
 * brings is what its authors have published, and is not told. */
int dangers_check(const struct config *config, const struct origins *origins, const char *file,
                  config_complain *tell);

#endif
