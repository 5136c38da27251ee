/* SPDX-License-Identifier: MIT */
/* gnuplot runs what stands in backquotes as a command of the shell, in its double quotes too; in
 * single ones nothing has a meaning, and they are doubled. */
#include "tool/sim_gnuplot.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define NO_SUCH_COMMAND 127 /* of a shell */

/* What a broken pipe does else: one picture is drawn at a time. */
static struct sigaction at_broken_pipe;

static const char *terminal_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && strcmp(dot, ".png") == 0)
		return "pngcairo size 1000,%d";
	if (dot && strcmp(dot, ".txt") == 0)
		return "dumb size 100,%d";
	return "svg size 1000,%d background 'white'";
}

/* gnuplot pipes its picture to the command of a name that begins with a bar. */
static bool is_plain(const char *path)
{
	return *path != '|' && !strchr(path, '\n');
}

void sim_gnuplot_quoted(const char *text, FILE *to)
{
	fputc('\'', to);
	for (; *text; text++)
		fprintf(to, *text == '\'' ? "''" : "%c", *text);
	fputc('\'', to);
}

void sim_gnuplot_title(const char *name, const char *more, FILE *to)
{
	char title[256];

	snprintf(title, sizeof(title), "%s%s", name, more);
	fputs("set title ", to);
	sim_gnuplot_quoted(title, to);
	fputs(" noenhanced\n", to);
}

void sim_gnuplot_layout(int panels, const char *path, FILE *to)
{
	const char *terminal = terminal_of(path);
	int height = *terminal == 'd' ? 24 * panels : 260 * panels;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fputs("set terminal ", to);
	fprintf(to, terminal, height);
#pragma GCC diagnostic pop
	fputs("\nset output ", to);
	sim_gnuplot_quoted(path, to);
	fprintf(to, "\nset multiplot layout %d,1\n", panels);
}

/* One that is not there, or ends early, breaks the pipe: that is told, and nobody dies of it. Not
 * before it has been started, for it would inherit that. */
static void outlive_it(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigemptyset(&ignore.sa_mask);
	sigaction(SIGPIPE, &ignore, &at_broken_pipe);
}

FILE *sim_gnuplot_start(const char *path, FILE *err)
{
	FILE *to = NULL;

	if (!is_plain(path))
		fputs("retrybudget: simulate: the name of a plot has no line break, and no '|' at "
		      "its beginning; rename it\n",
		      err);
	else if (!(to = popen("gnuplot", "we")))
		fprintf(err, "retrybudget: simulate: gnuplot cannot be started: %s\n",
		        strerror(errno));
	else
		outlive_it();
	return to;
}

bool sim_gnuplot_finish(FILE *to, const char *path, FILE *err)
{
	int status = pclose(to);

	sigaction(SIGPIPE, &at_broken_pipe, NULL);
	if (status == 0)
		return true;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SUCH_COMMAND)
		fprintf(err,
		        "retrybudget: simulate: %s is not drawn: gnuplot is not there; is it "
		        "installed? Of Debian it is the package gnuplot-nox\n",
		        path);
	else
		fprintf(err,
		        "retrybudget: simulate: gnuplot did not draw %s; correct what it says "
		        "above\n",
		        path);
	return false;
}
