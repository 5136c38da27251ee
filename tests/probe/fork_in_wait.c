/* SPDX-License-Identifier: MIT */
/* A thread forks while another one's retry is held (forked.h); the parent's wait must go on. */
#include "forked.h"

static uint16_t bad;
static int64_t took;
static int err;

static void *worker(void *arg)
{
	attempt(bad, NULL);
	err = spin_until_held(-1, bad, &took);
	return arg;
}

static int attempt_in_child(void)
{
	return attempt(bad, NULL);
}

int main(void)
{
	struct child_saw saw;
	pthread_t thread;
	int held;

	bad = refusing_port(&held);
	saw = fork_in_wait(&thread, worker, 500, attempt_in_child);
	pthread_join(thread, NULL);
	printf("descriptors too many in the child: %s\n", has_too_many(&saw) ? "some" : "none");
	printf("child: exit %d, signal %d, %s, refused by %s\n", WEXITSTATUS(saw.status),
	       WTERMSIG(saw.status), saw.works ? "works" : "broken", error_name(saw.err));
	printf("parent: %s, %s\n", error_name(err), length_of(took, 2000));
	return 0;
}
