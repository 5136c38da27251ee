/* SPDX-License-Identifier: MIT */
/* What of a region people read, in words. */
#ifndef RETRYBUDGET_TOOL_STAT_TEXT_H
#define RETRYBUDGET_TOOL_STAT_TEXT_H

#include "tool/family.h"

#include <stdio.h>

/* Cells of a table: each text lasts until the next call of its function. */
const char *stat_pids(const struct family *family);    /* "4711+3": three more share the region */
const char *stat_mode_of(const struct family *family); /* "off*": an operator has set it */
const char *stat_level(const struct bucket *bucket);   /* "9.3/10", or "full" */
const char *stat_last(const struct destination *destination); /* class of the last failure */

/* Every counter of a destination in some lines, its name before them. */
void stat_print_tally(FILE *out, const char *name, const struct tally *tally);

/* Version, configuration and mode of a family, in some lines. */
void stat_print_identity(FILE *out, const struct family *family);

#endif
