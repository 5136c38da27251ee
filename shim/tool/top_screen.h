/* SPDX-License-Identifier: MIT */
/* The screen of `retrybudget top`. */
#ifndef RETRYBUDGET_TOOL_TOP_SCREEN_H
#define RETRYBUDGET_TOOL_TOP_SCREEN_H

#include "tool/top_rows.h"

/* Shows the list, anew after so many seconds, until somebody leaves it. Returns the exit status.
 * Without ncurses it says so. utf8: as the terminal has it. */
int top_screen(struct top *top, double seconds, bool utf8);

#endif
