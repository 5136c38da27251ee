/* SPDX-License-Identifier: MIT */
/* The list of `retrybudget top`, and all of one row, as text. */
#ifndef RETRYBUDGET_TOOL_TOP_TEXT_H
#define RETRYBUDGET_TOOL_TOP_TEXT_H

#include "tool/family.h"
#include "tool/top_rows.h"

#include <stdio.h>

/* Lines of the list without a newline; width: 0 = everything in full. utf8: as the terminal has
 * it. */
void top_print_head(FILE *out, const struct top *top, int width);
void top_print_row(FILE *out, const struct top_row *row, int width, bool utf8);

/* Everything of one destination, or of a process if it is NULL. now: ns, CLOCK_MONOTONIC. */
void top_print_detail(FILE *out, const struct family *family, const struct destination *one,
                      int64_t now);

#endif
