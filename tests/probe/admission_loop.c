/* SPDX-License-Identifier: MIT */
/*
 * Servers that wait in poll or epoll for somebody to come. Enough visitors wait before the first
 * accept to see what happens when there are more than one call will reject.
 */
#include "visits.h"

#include <sys/epoll.h>

static int waiting[1000];
static int errors_aborted, errors_again, errors_other, served;

static void arrive(int n)
{
	for (int i = 0; i < n; i++)
		waiting[i] = come(false);
}

static void tell(int n)
{
	int seen[KINDS] = { 0 };

	for (int i = 0; i < n; i++)
		seen[outcome(waiting[i])]++;
	print_seen("clients", seen);
}

static void note(int err)
{
	errors_again += err == EAGAIN;
	errors_aborted += err == ECONNABORTED;
	errors_other += err != EAGAIN && err != ECONNABORTED;
}

static bool somebody(int listener, int ms)
{
	struct pollfd at = { .fd = listener, .events = POLLIN };

	return poll(&at, 1, ms) == 1;
}

/* Level mode: one accept each time poll says so. */
static void level(int n)
{
	int listener = admission_listener(1024), peer;

	fcntl(listener, F_SETFL, O_NONBLOCK);
	arrive(n);
	while (somebody(listener, 300)) {
		peer = accept(listener, NULL, NULL);
		if (peer < 0) {
			note(errno);
			continue;
		}
		serve_hello(peer);
		served++;
	}
	tell(n);
	printf("aborted %d, other %d\n", errors_aborted, errors_other);
}

/* Until EAGAIN, as the edge demands. */
static void drain(int listener)
{
	for (;;) {
		int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (peer >= 0) {
			serve_hello(peer);
			served++;
			continue;
		}
		note(errno);
		if (errno != ECONNABORTED)
			return;
	}
}

static void edge(int n)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int listener = admission_listener(1024), epoll = epoll_create1(EPOLL_CLOEXEC), edges = 0;

	fcntl(listener, F_SETFL, O_NONBLOCK);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	arrive(n);
	while (epoll_wait(epoll, &event, 1, 300) == 1)
		drain(listener);
	tell(n);
	/* Each of those that come later is an edge of its own. */
	for (int i = 0; i < 5; i++) {
		arrive(1);
		if (epoll_wait(epoll, &event, 1, 5000) != 1)
			break;
		edges++;
		drain(listener);
		tell(1);
	}
	printf("edges %d, aborted %d, other %d\n", edges, errors_aborted, errors_other);
}

/*
 * A blocking socket, and select before each accept: it must come back, for a connection that it has
 * already is waiting to be served.
 */
static void select_first(void)
{
	int listener = admission_listener(16), mine, peer, turns = 0;
	char word[8] = "";

	mine = come(false);
	peer = accept(listener, NULL, NULL);
	arrive(3);
	alarm(10); /* it hangs */
	while (somebody(listener, 300) && turns++ < 20) {
		int other = accept(listener, NULL, NULL);

		if (other >= 0)
			serve_hello(other);
		else
			note(errno);
	}
	printf("came back: aborted %d, other %d\n", errors_aborted, errors_other);
	serve_hello(peer);
	printf("the first: %s\n", seen_name(outcome(mine)));
	tell(3);
	(void)word;
}

/* The server is a process of its own, which only accepts; its configuration is changed meanwhile.
 */
static void reload(void)
{
	const char *path = getenv("RETRYBUDGET_CONFIG");
	int listener = admission_listener(16);

	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fcntl(listener, F_SETFL, O_NONBLOCK);
		while (somebody(listener, 10000))
			drain(listener);
		_exit(0);
	}
	arrive(5);
	tell(5);
	if (path != NULL) {
		FILE *file = fopen(path, "we");

		fprintf(file, "[retrybudget]\nreload = 1ms\n[log]\ntarget = none\n[admission web]\n"
		              "listen = 127.0.0.1:8080\nrate = 1000/s\nburst = 1000\n");
		fclose(file);
	}
	/* As full as it was, which is empty; but now it fills up. */
	pause_ms(100);
	close(come(false));
	for (int i = 0; i < 4; i++) {
		pause_ms(100);
		arrive(1);
		tell(1);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!private_network())
		return PROBE_CANNOT;
	if (strcmp(what, "level") == 0)
		level(200);
	else if (strcmp(what, "edge") == 0)
		edge(200);
	else if (strcmp(what, "select") == 0)
		select_first();
	else
		reload();
	return 0;
}
