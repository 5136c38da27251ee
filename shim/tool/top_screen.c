/* SPDX-License-Identifier: MIT */
/* The screen of `retrybudget top`: what its keys do. */
#include "tool/top_screen.h"

#ifdef WITHOUT_NCURSES

#include <stdio.h>

int top_screen(struct top *top, double seconds, bool utf8)
{
	(void)top, (void)seconds, (void)utf8;
	fputs("retrybudget: top: built without ncurses: --batch prints\n", stderr);
	return 2;
}
#else

#include "sys/real.h"
#include "tool/steer_mode.h"
#include "tool/top_draw.h"

#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t now_ms(void)
{
	return monotonic() / NS_PER_MS;
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

static void look_at_all(struct screen *screen, bool early)
{
	if (!top_look(screen->top, early))
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
	look_at_all(screen, true);
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
		look_at_all(screen, true);
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
	look_at_all(screen, true);
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
		return move_by(screen, -top_page());
	case KEY_NPAGE:
		return move_by(screen, top_page());
	case KEY_HOME:
		return move_by(screen, -(1L << 30));
	case KEY_END:
		return move_by(screen, 1L << 30);
	case ' ':
		return look_at_all(screen, true);
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
			look_at_all(&screen, false);
			next = now_ms() + (int64_t)(seconds * 1000);
		}
		top_draw(&screen);
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
