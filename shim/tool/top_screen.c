/* SPDX-License-Identifier: MIT */
/* The screen of `retrybudget top`. */
#include "tool/top.h"

#ifdef WITHOUT_NCURSES
int top_screen(struct top *top, double seconds, bool utf8)
{
	(void)top, (void)seconds, (void)utf8;
	fputs("retrybudget: top: built without ncurses: --batch prints\n", stderr);
	return 2;
}
#else

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
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

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

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

static int page(void)
{
	return LINES > HEAD_LINES + 1 ? LINES - HEAD_LINES - 1 : 1;
}

static void choose(struct screen *screen, size_t at)
{
	const struct top *top = screen->top;
	char *name;

	if (top->count == 0)
		return;
	screen->at = at < top->count ? at : top->count - 1;
	name = strdup(top->rows[screen->at].name);
	if (!name)
		return;
	free(screen->name);
	screen->name = name;
	screen->key = top->rows[screen->at].key;
}

/* The chosen one may stand elsewhere now. */
static void find_chosen(struct screen *screen)
{
	const struct top *top = screen->top;

	if (!screen->name)
		return choose(screen, 0);
	for (size_t i = 0; i < top->count; i++)
		if (top_same(&top->rows[i], &screen->key, screen->name)) {
			screen->at = i;
			return;
		}
	choose(screen, screen->at);
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
	size_t room = (size_t)page();

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
	size_t lines = 0, room = (size_t)page() + 1;

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

static void draw(struct screen *screen)
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

static void look(struct screen *screen)
{
	if (!top_look(screen->top))
		(void)snprintf(screen->message, sizeof(screen->message),
		               "cannot look at processes: %s", strerror(errno));
	find_chosen(screen);
}

static void leave_detail(struct screen *screen)
{
	free(screen->top->detail.name);
	free(screen->top->detail.text);
	screen->top->detail = (struct top_detail) { 0 };
	screen->view = VIEW_LIST;
	screen->scrolled = 0;
}

static void open_detail(struct screen *screen)
{
	struct top_detail *detail = &screen->top->detail;
	const struct top_row *row = &screen->top->rows[screen->at];

	if (screen->top->count == 0 || !row->readable || row->gone)
		return;
	detail->name = strdup(row->name);
	if (!detail->name)
		return;
	detail->key = row->key;
	screen->view = VIEW_DETAIL;
	screen->scrolled = 0;
	look(screen);
}

static void ask_mode(struct screen *screen, const char *mode)
{
	const struct top_row *row;

	if (screen->top->count == 0)
		return;
	row = &screen->top->rows[screen->at];
	if (row->gone) {
		(void)snprintf(screen->message, sizeof(screen->message), "it has ended");
		return;
	}
	screen->mode = mode;
	screen->pid = row->pid;
	(void)snprintf(screen->message, sizeof(screen->message), "set mode=%s for %s[%s]? y/n",
	               mode, row->cells[COLUMN_PROGRAM], row->cells[COLUMN_PID]);
}

static void answer_mode(struct screen *screen, int key)
{
	const char *mode = screen->mode;

	screen->mode = NULL;
	(void)snprintf(screen->message, sizeof(screen->message), "nothing was changed");
	if (key == 'y' || key == 'Y') {
		steer_mode(screen->pid, mode, screen->message, sizeof(screen->message));
		look(screen);
	}
}

static void sort_by(struct screen *screen, int step)
{
	screen->top->sort =
	    (enum column)(((int)screen->top->sort + step + COLUMNS_ALL) % COLUMNS_ALL);
	screen->top->reversed = false;
	top_sort(screen->top);
	choose(screen, 0);
	screen->first = 0;
}

static void show_processes(struct screen *screen, bool processes)
{
	if (processes == screen->top->processes)
		return;
	screen->top->processes = processes;
	top_free(screen->top); /* its rows mean others, and would be shown as ended */
	free(screen->name);
	screen->name = NULL;
	screen->at = screen->first = 0;
	look(screen);
}

static void move_by(struct screen *screen, long step)
{
	size_t *at = screen->view == VIEW_LIST ? &screen->at : &screen->scrolled;

	if (step < 0 && (size_t)-step > *at)
		*at = 0;
	else
		*at += (size_t)step;
	if (screen->view == VIEW_LIST)
		choose(screen, *at);
}

/* Keys of one view; true: it was one. */
static bool list_key(struct screen *screen, int key)
{
	switch (key) {
	case 'q':
		screen->quit = true;
		return true;
	case '\n':
	case '\r':
	case KEY_ENTER:
	case KEY_RIGHT:
		open_detail(screen);
		return true;
	case '\t':
		show_processes(screen, !screen->top->processes);
		return true;
	case 'p':
	case 'd':
		show_processes(screen, key == 'p');
		return true;
	case '<':
	case '>':
		sort_by(screen, key == '<' ? -1 : 1);
		return true;
	case 'R':
		screen->top->reversed = !screen->top->reversed;
		top_sort(screen->top);
		find_chosen(screen);
		return true;
	case 'h':
	case '?':
		screen->view = VIEW_HELP;
		screen->scrolled = 0;
		return true;
	default:
		return false;
	}
}

static bool text_key(struct screen *screen, int key)
{
	switch (key) {
	case 'q':
	case '\n':
	case '\033':
	case KEY_LEFT:
	case KEY_BACKSPACE:
		leave_detail(screen);
		return true;
	default:
		return false;
	}
}

static bool mode_key(struct screen *screen, int key)
{
	static const struct {
		int key;
		const char *mode;
	} modes[] = { { 'o', "observe" }, { 'e', "enforce" }, { 'x', "off" }, { 'f', "file" } };

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (modes[i].key == key && screen->view != VIEW_HELP) {
			ask_mode(screen, modes[i].mode);
			return true;
		}
	return false;
}

static void take_key(struct screen *screen, int key)
{
	if (key == KEY_RESIZE)
		return;
	if (screen->mode) {
		answer_mode(screen, key);
		return;
	}
	screen->message[0] = '\0';
	if (mode_key(screen, key) ||
	    (screen->view == VIEW_LIST ? list_key(screen, key) : text_key(screen, key)))
		return;
	switch (key) {
	case KEY_UP:
	case 'k':
		return move_by(screen, -1);
	case KEY_DOWN:
	case 'j':
		return move_by(screen, 1);
	case KEY_PPAGE:
		return move_by(screen, -page());
	case KEY_NPAGE:
		return move_by(screen, page());
	case KEY_HOME:
		return move_by(screen, -(1L << 30));
	case KEY_END:
		return move_by(screen, 1L << 30);
	case ' ':
		return look(screen);
	default:
		return;
	}
}

int top_screen(struct top *top, double seconds, bool utf8)
{
	struct screen screen = { .top = top, .seconds = seconds, .utf8 = utf8 };
	SCREEN *terminal = newterm(NULL, stdout, stdin);
	int64_t next = 0;
	int missed = 0;

	if (!terminal) {
		fputs("retrybudget: top: this terminal cannot show it: --batch prints\n", stderr);
		return 1;
	}
	set_escdelay(50);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	(void)curs_set(0);
	while (!screen.quit && missed < 100) {
		int64_t now = now_ms();
		int key;

		if (now >= next) {
			look(&screen);
			next = now_ms() + (int64_t)(seconds * 1000);
		}
		draw(&screen);
		now = now_ms();
		timeout(next > now ? (int)(next - now) : 0);
		key = getch();
		if (key != ERR)
			take_key(&screen, key);
		/* A terminal that is gone answers at once, and always so. */
		missed = key == ERR && now_ms() < next ? missed + 1 : 0;
	}
	endwin();
	delscreen(terminal);
	free(screen.name);
	return 0;
}
#endif
