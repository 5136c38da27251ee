/* SPDX-License-Identifier: MIT */
/*
 * A thread forks while another one's retry is held. The child must find nothing that was not
 * there before (a descriptor that only exists during a wait would be inherited), must be able to
 * connect, and the parent's wait must go on.
 */
#include "probe.h"

static uint16_t bad;
static int64_t took;
static int err;

static void *worker(void *arg)
{
	attempt(bad, NULL);
	err = spin_until_held(-1, bad, &took);
	return arg;
}

int main(void)
{
	struct {
		int fds, maps, err;
		bool works;
	} *child_saw = shared_memory(sizeof(*child_saw));
	uint16_t good = start_server(SERVER_ECHO, NULL);
	pthread_t thread;
	int held, status, fds;
	pid_t child;

	bad = refusing_port(&held);
	count_fds();
	fds = count_fds();
	pthread_create(&thread, NULL, worker, NULL);
	pause_ms(500);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		int fd;

		child_saw->fds = count_fds();
		fd = connected(good);
		child_saw->works = fd >= 0 && echo(fd, "hello");
		child_saw->err = attempt(bad, NULL);
		_exit(0);
	}
	waitpid(child, &status, 0);
	pthread_join(thread, NULL);
	/* The socket that the thread is connecting is the child's one true extra. */
	printf("descriptors too many in the child: %s\n",
	       child_saw->fds - fds <= 1 ? "none" : "some");
	printf("child: exit %d, signal %d, %s, refused by %s\n", WEXITSTATUS(status),
	       WTERMSIG(status), child_saw->works ? "works" : "broken", error_name(child_saw->err));
	printf("parent: %s, %s\n", error_name(err), length_of(took, 2000));
	return 0;
}
