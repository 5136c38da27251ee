/* SPDX-License-Identifier: MIT */
/* Lines, colours and sparklines of `retrybudget top`. */
#ifndef WITHOUT_NCURSES

#define NCURSES_WIDECHAR 1
#include "tool/top_draw.h"

#include "tool/top_text.h"

#include <curses.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#define LINE_CELLS 1024
#define HEAD_LINES 3 /* state, an empty or message line, headings */

static const char help[] =
    "retrybudget top: what the library does, live\n"
    "\n"
    "  arrows, j, k, PgUp, PgDn, Home, End   move\n"
    "  Enter                                 all of one destination; q or Left: back\n"
    "  Tab, p, d                             processes, or destinations\n"
    "  <, >                                  sort by the column to the left or right\n"
    "  R                                     turn the order round\n"
    "  o, e, x, f                            mode of the process: observe, enforce, off,\n"
    "                                        or what its file says (asks first)\n"
    "  Space                                 look now\n"
    "  q                                     leave\n"
    "\n"
    "THROTTLED is what was refused or held between two looks, the newest to the right.\n"
    "A star behind the MODE: retrybudget set has asked for it.\n";

/* Text of the locale, cut at the right edge: cells, not bytes. */
static void draw_line(int y, const char *text, attr_t attributes)
{
	static wchar_t wide[LINE_CELLS];
	size_t n = mbstowcs(wide, text, LINE_CELLS - 1);

	if (y < 0 || y >= LINES)
		return;
	if (n == (size_t)-1)
		n = 0;
	if (n > LINE_CELLS - 1)
		n = LINE_CELLS - 1;
	if (n > (size_t)COLS)
		n = (size_t)COLS;
	attrset(attributes);
	move(y, 0);
	addnwstr(wide, (int)n);
	if (n < (size_t)COLS) {
		if (attributes)
			hline(' ' | attributes, COLS - (int)n);
		else
			clrtoeol();
	}
	attrset(A_NORMAL);
}

int top_page(void)
{
	return LINES > HEAD_LINES + 1 ? LINES - HEAD_LINES - 1 : 1;
}

/* A line from a printer, in a buffer that is used again. */
static const char *line_of(void (*print)(FILE *, const void *, bool), const void *what, bool utf8)
{
	static char line[4 * LINE_CELLS];
	FILE *out = fmemopen(line, sizeof(line), "w");

	line[0] = '\0';
	if (!out)
		return line;
	print(out, what, utf8);
	(void)fclose(out);
	line[sizeof(line) - 1] = '\0';
	return line;
}

static void print_head(FILE *out, const void *what, bool utf8)
{
	(void)utf8;
	top_print_head(out, what, COLS);
}

static void print_row(FILE *out, const void *what, bool utf8)
{
	top_print_row(out, what, COLS, utf8);
}

static void draw_state(const struct screen *screen)
{
	const struct top *top = screen->top;
	char line[256], hour[16] = "", unreadable[48] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		(void)strftime(hour, sizeof(hour), "%H:%M:%S", &tm);
	if (top->unreadable)
		(void)snprintf(unreadable, sizeof(unreadable), ", %zu could not be looked into",
		               top->unreadable);
	(void)snprintf(line, sizeof(line), "retrybudget top %s  %zu %s, %zu %s, by %s%s  h: help",
	               hour, top->regions, top->regions == 1 ? "budget" : "budgets",
	               top->count - top->ended, top->processes ? "processes" : "destinations",
	               column_heading(top->sort), unreadable);
	draw_line(0, line, A_BOLD);
	draw_line(1, screen->message, A_NORMAL);
}

static void draw_list(struct screen *screen)
{
	const struct top *top = screen->top;
	size_t room = (size_t)top_page();

	if (screen->at < screen->first)
		screen->first = screen->at;
	if (screen->at >= screen->first + room)
		screen->first = screen->at - room + 1;
	if (screen->first + room > top->count)
		screen->first = top->count > room ? top->count - room : 0;
	draw_line(HEAD_LINES - 1, line_of(print_head, top, false), A_REVERSE);
	for (size_t i = 0; i < room; i++) {
		size_t at = screen->first + i;
		attr_t attributes = A_NORMAL;

		if (at < top->count && top->rows[at].gone)
			attributes = A_DIM;
		if (at < top->count && at == screen->at)
			attributes = A_STANDOUT;
		draw_line(HEAD_LINES + (int)i,
		          at < top->count ? line_of(print_row, &top->rows[at], screen->utf8) : "",
		          attributes);
	}
	if (top->count == 0)
		draw_line(HEAD_LINES, "no process runs under the library", A_NORMAL);
}

/* A text of any length, from a line that there is. */
static void draw_text(struct screen *screen, const char *text)
{
	size_t lines = 0, room = (size_t)top_page() + 1;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	if (screen->scrolled + room > lines)
		screen->scrolled = lines > room ? lines - room : 0;
	for (size_t i = 0; i < screen->scrolled; i++)
		text = strchr(text, '\n') + 1;
	for (size_t i = 0; i < room; i++) {
		static char line[LINE_CELLS];
		size_t n = strcspn(text, "\n");

		(void)snprintf(line, sizeof(line), "%.*s", (int)(n < LINE_CELLS ? n : LINE_CELLS),
		               text);
		draw_line(HEAD_LINES - 1 + (int)i, line, A_NORMAL);
		text += n + (text[n] == '\n');
	}
}

void top_draw(struct screen *screen)
{
	const struct top_detail *detail = &screen->top->detail;

	erase();
	draw_state(screen);
	switch (screen->view) {
	case VIEW_LIST:
		draw_list(screen);
		break;
	case VIEW_HELP:
		draw_text(screen, help);
		break;
	case VIEW_DETAIL:
		if (!detail->found)
			draw_line(1, "it is not there any more; this is what it was last", A_BOLD);
		draw_text(screen, detail->text ? detail->text : "");
		break;
	}
	refresh();
}

#endif
