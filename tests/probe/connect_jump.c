/* SPDX-License-Identifier: MIT */
/*
 * An alarm that jumps out of a connect which the kernel is making (siglongjmp, HAZARDS 13); the
 * program then asks again on the same socket and talks. The answer must count like any other.
 */
#include "probe.h"

#include <setjmp.h>

#define FILLERS 16

static sigjmp_buf out;

static void jump(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

/* Connections that the listener has not accepted, until its queue is full: then SYNs are dropped.
 * In a child, so that they are no attempts of the program's. Returns the child. */
static pid_t fill_queue(uint16_t port)
{
	int done[2];
	pid_t child;
	char c;

	if (pipe(done) != 0 || (child = fork()) < 0)
		give_up("fork");
	if (child == 0) {
		struct sockaddr_in to = loopback(port);

		for (int i = 0; i < FILLERS; i++) {
			int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

			/* Not libc's: the shim is not to know of them. */
			syscall(SYS_connect, fd, &to, sizeof(to));
		}
		pause_ms(200);
		if (write(done[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(done[0], &c, 1) != 1)
		give_up("fillers");
	return child;
}

/* Serves what comes, the fillers included, who say nothing. */
static void *serve_all(void *listener)
{
	serve(*(int *)listener, SERVER_ECHO, NULL);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = jump };
	struct itimerval soon = { .it_value = { .tv_usec = 600000 } }, never = { 0 };
	struct sockaddr_in to;
	volatile int fd;
	int held, err;
	uint16_t port = refusing_port(&held);
	pthread_t server;
	pid_t fillers;

	attempt(port, NULL);
	attempt(port, NULL);
	if (listen(held, 1) != 0)
		give_up("listen");
	fillers = fill_queue(port);
	to = loopback(port);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	sigaction(SIGALRM, &action, NULL);
	if (sigsetjmp(out, 1) == 0) {
		setitimer(ITIMER_REAL, &soon, NULL);
		err = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
		setitimer(ITIMER_REAL, &never, NULL);
		printf("connect came back: %s\n", error_name(err));
	}
	kill(fillers, SIGKILL);
	waitpid(fillers, NULL, 0);
	pthread_create(&server, NULL, serve_all, (void *)&held);
	err = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
	printf("again: %s\n", error_name(err));
	printf("answer: %s\n", echo(fd, "a word") ? "came" : "did not come");
	/* Not closed: a close would ask the kernel, and find the answer as well. */
	return 0;
}
