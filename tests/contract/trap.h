/* SPDX-License-Identifier: MIT */
/*
 * What the trap programs share. As a probe, each steps on one trap and prints what it saw; these
 * must print the same whatever the mode, since nothing in them has a reason to be throttled for
 * more than a moment.
 */
#ifndef RETRYBUDGET_TESTS_CONTRACT_TRAP_H
#define RETRYBUDGET_TESTS_CONTRACT_TRAP_H

#include "../probe/probe.h"

/* A server that answers one word per connection, without a process for each: a child that dies with
 * us. Returns its port. */
static inline uint16_t start_answering(void)
{
	int listener;
	uint16_t port = refusing_port(&listener);
	pid_t parent = getpid();

	if (listen(listener, 1024) != 0)
		give_up("listen");
	if (fork() == 0) {
		char data[256];

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		for (;;) {
			int peer = accept(listener, NULL, NULL);
			ssize_t n;

			while (peer >= 0 && (n = read(peer, data, sizeof(data))) > 0)
				if (write(peer, data, n) != n)
					break;
			close(peer);
		}
	}
	close(listener);
	return port;
}

/* A connection, a word and its echo. */
static inline const char *talk(uint16_t port)
{
	int fd = connected(port);
	bool answered = fd >= 0 && echo(fd, "word");

	if (fd >= 0)
		close(fd);
	return answered ? "works" : "broken";
}

/* How a child ended, in words, in static storage. */
static inline const char *ending_of(pid_t child)
{
	static char text[64];
	int status = 0;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return "lost";
	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "signal %d", WTERMSIG(status));
	else
		snprintf(text, sizeof(text), "exit %d", WEXITSTATUS(status));
	return text;
}

static inline const char *number_text(int number)
{
	static char texts[4][16];
	static int next;
	char *text = texts[next++ % 4];

	snprintf(text, sizeof(texts[0]), "%d", number);
	return text;
}

#endif
