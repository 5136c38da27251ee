/* SPDX-License-Identifier: MIT */
/* `retrybudget set` for a command that owns the screen: what it says is caught. */
#include "tool/steer_mode.h"

#include "sys/text.h"
#include "tool/tool.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void set(pid_t pid, const char *mode, int out)
{
	char number[16], word[32];
	char *argv[] = { "set", "--wait", "1", number, word, NULL };

	(void)snprintf(number, sizeof(number), "%d", (int)pid);
	(void)snprintf(word, sizeof(word), "mode=%s", mode);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	optind = 0; /* getopt_long() has run for another command */
	_exit(cmd_set(5, argv));
}

/* A process of its own: the command prints, and may wait. */
void steer_mode(pid_t pid, const char *mode, char *text, size_t size)
{
	struct text line;
	char said[256];
	size_t used = 0;
	ssize_t n;
	int ends[2];
	pid_t child = -1;

	text_start(&line, text, size);
	if (pipe(ends) == 0) {
		fflush(NULL);
		child = fork();
		if (child == 0)
			set(pid, mode, ends[1]);
		close(ends[1]);
	}
	if (child < 0) {
		text_string(&line, "cannot start a process to ask");
		return;
	}
	while ((n = read(ends[0], said + used, sizeof(said) - used)) > 0)
		used += (size_t)n;
	close(ends[0]);
	(void)waitpid(child, NULL, 0);
	for (size_t i = 0; i < used; i++)
		if (said[i] == '\n')
			used = i;
	text_escaped(&line, said, used, size - 1);
}
