/* SPDX-License-Identifier: MIT */
/* Where a section of the file begins and ends. Private to this room. */
#ifndef RETRYBUDGET_CONFIG_SECTION_H
#define RETRYBUDGET_CONFIG_SECTION_H

#include "config/reading.h"

/* A line that begins with '['. Returns true if inih may see it. */
bool reading_enter_section(struct reading *reading, const char *line);

/* The end of a section: the next one begins, or the file ends. */
void reading_leave_section(struct reading *reading);

#endif
