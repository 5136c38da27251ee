/* SPDX-License-Identifier: MIT */
/*
 * A child that is forked while another thread's connect waits. It must find nothing that was not
 * there before (a descriptor that only exists during a wait would be inherited), and must be able
 * to connect.
 */
#ifndef RETRYBUDGET_TESTS_PROBE_FORKED_H
#define RETRYBUDGET_TESTS_PROBE_FORKED_H

#include "probe.h"

struct child_saw {
	int fds; /* more than there were before the thread began */
	int err; /* of the connect that the child made last */
	int status;
	bool works;
};

/* Starts the thread, and forks after so many ms; in_child then makes a connect and returns its
 * errno. */
static inline struct child_saw fork_in_wait(pthread_t *thread, void *(*worker)(void *), int ms,
                                            int (*in_child)(void))
{
	struct child_saw *saw = shared_memory(sizeof(*saw));
	uint16_t good = start_server(SERVER_ECHO, NULL);
	int fds;
	pid_t child;

	count_fds();
	fds = count_fds();
	pthread_create(thread, NULL, worker, NULL);
	pause_ms(ms);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		int fd;

		saw->fds = count_fds() - fds;
		fd = connected(good);
		saw->works = fd >= 0 && echo(fd, "hello");
		saw->err = in_child();
		_exit(0);
	}
	waitpid(child, &saw->status, 0);
	return *saw;
}

/* The socket that the thread is connecting is the child's one true extra. */
static inline bool has_too_many(const struct child_saw *saw)
{
	return saw->fds > 1;
}

#endif
