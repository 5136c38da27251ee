/* SPDX-License-Identifier: MIT */
/* What the screen of `retrybudget top` is, and how it is drawn; its keys are top_screen.c's. */
#ifndef RETRYBUDGET_TOOL_TOP_DRAW_H
#define RETRYBUDGET_TOOL_TOP_DRAW_H

#include "tool/top_rows.h"

enum view { VIEW_LIST, VIEW_DETAIL, VIEW_HELP };

struct screen {
	struct top *top;
	enum view view;
	double seconds;
	bool utf8, quit;
	size_t first, at;   /* row on top, and the chosen one */
	struct top_key key; /* of the chosen one, which stays chosen when rows move */
	char *name;
	size_t scrolled; /* lines of a text */
	char message[256];
	const char *mode; /* that is asked for, until a key says yes */
	pid_t pid;
};

/* Rows that a page moves by. */
int top_page(void);

void top_draw(struct screen *screen);

#endif
