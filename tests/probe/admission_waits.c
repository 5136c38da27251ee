/* SPDX-License-Identifier: MIT */
/*
 * Servers that wait in accept, with admission for a few tokens that are never filled up: what they
 * see and what their clients see. The first argument says which of the ways to leave accept it is.
 */
#include "visits.h"

#include <setjmp.h>

#define VISITS 10
#define FEW    3

static volatile sig_atomic_t signals;
static sigjmp_buf back;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static void on_alarm(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(number, &action, NULL);
}

/* while (accept() >= 0): the whole of a naive server. A signal without SA_RESTART ends it. */
static void simple(bool by_unix, bool restart)
{
	int *seen = shared_memory(KINDS * sizeof(int));
	struct sockaddr_un un;
	socklen_t len = (socklen_t)unix_address(&un);
	int listener, peer;

	if (by_unix) {
		listener = socket(AF_UNIX, SOCK_STREAM, 0);
		if (bind(listener, (struct sockaddr *)&un, len) != 0 || listen(listener, 16) != 0)
			give_up("listen");
	} else {
		listener = admission_listener(16);
	}
	handle(SIGUSR1, on_signal, restart ? SA_RESTART : 0);
	handle(SIGUSR2, on_signal, 0);
	visitor(VISITS, by_unix, 300, SIGUSR1, seen);
	if (restart)
		visitor(0, by_unix, 1800, SIGUSR2, seen);
	while ((peer = accept(listener, NULL, NULL)) >= 0)
		serve_hello(peer);
	printf("accept ended: %s after %d signals\n", error_name(errno), (int)signals);
	print_seen("clients", seen);
}

/* Four children wait at one socket, and share one section. */
static void prefork(void)
{
	int *seen = shared_memory(KINDS * sizeof(int)), listener = admission_listener(128);
	pid_t last;

	for (int i = 0; i < 4; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;) {
				int peer = accept(listener, NULL, NULL);

				if (peer < 0)
					_exit(1);
				serve_hello(peer);
			}
		}
	}
	last = visitor(4 * VISITS, false, 300, 0, seen);
	waitpid(last, NULL, 0);
	print_seen("clients", seen);
}

/* The length of the address, and the flags of what comes in after others were rejected. */
static void flags(void)
{
	int *seen = shared_memory(KINDS * sizeof(int)), listener = admission_listener(16),
	    waiting[3];
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	int peer;

	for (int i = 0; i < 3; i++)
		waiting[i] = come(false);
	peer = accept4(listener, (struct sockaddr *)&address, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	printf("length %d family %d cloexec %d nonblocking %d\n", (int)len, address.ss_family,
	       fcntl(peer, F_GETFD) == FD_CLOEXEC, (fcntl(peer, F_GETFL) & O_NONBLOCK) != 0);
	fcntl(peer, F_SETFL, 0);
	serve_hello(peer);
	fcntl(listener, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 3; i++) {
		len = sizeof(address);
		peer = accept4(listener, (struct sockaddr *)&address, &len, SOCK_CLOEXEC);
		if (peer < 0) {
			printf("%s, length %d\n", error_name(errno), (int)len);
			break;
		}
		serve_hello(peer);
	}
	for (int i = 0; i < 3; i++)
		seen[outcome(waiting[i])]++;
	printf("all answered: %d\n", seen[OTHER] == 0);
}

/* alarm() and siglongjmp out of accept, again and again while others are rejected. A jump right
 * after accept, before its result is known, loses a connection: the shim may not make it many. */
static void jump(void)
{
	int *seen = shared_memory(KINDS * sizeof(int)), listener = admission_listener(128);
	struct itimerval soon = { .it_value = { .tv_usec = 30000 } };
	sigset_t before = { 0 }, after = { 0 };
	volatile int jumps = 0;
	int fds, state;
	pid_t client;

	handle(SIGALRM, on_alarm, 0);
	close(come(false));
	client = visitor(300, false, 0, 0, seen);
	sigprocmask(SIG_SETMASK, NULL, &before);
	fds = count_fds();
	while (waitpid(client, NULL, WNOHANG) == 0) {
		if (sigsetjmp(back, 1) == 0) {
			int peer;

			setitimer(ITIMER_REAL, &soon, NULL);
			peer = accept(listener, NULL, NULL);
			setitimer(ITIMER_REAL, &(struct itimerval) { 0 }, NULL);
			if (peer >= 0)
				serve_hello(peer);
		} else {
			jumps++;
		}
	}
	sigprocmask(SIG_SETMASK, NULL, &after);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	printf("descriptors left: %s\nmask: %s\ncancel state: %s\n",
	       count_fds() - fds <= FEW ? "few" : "many",
	       memcmp(&before, &after, sizeof(before)) == 0 ? "same" : "changed",
	       state == PTHREAD_CANCEL_ENABLE ? "enabled" : "disabled");
	printf("unanswered: %s\n", seen[OTHER] <= FEW ? "few" : "many");
}

static void *accept_one(void *listener)
{
	for (;;) {
		int peer = accept(*(int *)listener, NULL, NULL);

		if (peer < 0)
			return "error";
		serve_hello(peer);
	}
}

/* A thread that waits in accept, after it has rejected others, is cancelled. */
static void cancel(void)
{
	int *seen = shared_memory(KINDS * sizeof(int)), listener = admission_listener(16), fds;
	pthread_t thread;
	void *result;

	count_fds();
	fds = count_fds();
	pthread_create(&thread, NULL, accept_one, &listener);
	waitpid(visitor(VISITS, false, 300, 0, seen), NULL, 0);
	pause_ms(100);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("%s\ndescriptors left: %d\n", result == PTHREAD_CANCELED ? "cancelled" : "returned",
	       count_fds() - fds);
	print_seen("clients", seen);
}

/* SO_RCVTIMEO counts from the call, not from the last of those rejected. */
static void timeout(void)
{
	struct timeval limit = { .tv_sec = 1 };
	int *seen = shared_memory(KINDS * sizeof(int)), listener = admission_listener(128), peer;
	int64_t began;

	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause_ms(300);
		for (int i = 0; i < 40; i++) {
			close(come(false));
			pause_ms(250);
		}
		_exit(0);
	}
	/* Those that come in, if any, are served without an end: then there is nothing to see. */
	for (int i = 0; i < 6; i++) {
		began = now_ms();
		peer = accept(listener, NULL, NULL);
		if (peer < 0)
			break;
		close(peer);
	}
	printf("%s\n", peer >= 0                 ? "accepted"
	               : errno != EAGAIN         ? error_name(errno)
	               : now_ms() - began < 5000 ? "EAGAIN in time"
	                                         : "EAGAIN late");
	(void)seen;
}

/* The socket of an activated service: number 3, and somebody waits before it starts. */
static void inherited(const char *self)
{
	int listener = admission_listener(16), waiting[3];
	int seen[KINDS] = { 0 };
	pid_t child;

	for (int i = 0; i < 3; i++)
		waiting[i] = come(false);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(listener, 3);
		execl(self, self, "activated", (char *)NULL);
		_exit(1);
	}
	close(listener);
	for (int i = 0; i < 3; i++)
		seen[outcome(waiting[i])]++;
	print_seen("waiting", seen);
	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < 3; i++)
		seen[outcome(come(false))]++;
	print_seen("later", seen);
	kill(child, SIGKILL);
}

static int activated(void)
{
	for (;;) {
		int peer = accept(3, NULL, NULL);

		if (peer >= 0)
			serve_hello(peer);
		else if (errno != ECONNABORTED)
			return 1;
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "activated") == 0)
		return activated();
	if (!private_network())
		return PROBE_CANNOT;
	if (strcmp(what, "interrupt") == 0)
		simple(false, false);
	else if (strcmp(what, "restart") == 0)
		simple(false, true);
	else if (strcmp(what, "unix") == 0)
		simple(true, false);
	else if (strcmp(what, "prefork") == 0)
		prefork();
	else if (strcmp(what, "flags") == 0)
		flags();
	else if (strcmp(what, "jump") == 0)
		jump();
	else if (strcmp(what, "cancel") == 0)
		cancel();
	else if (strcmp(what, "timeout") == 0)
		timeout();
	else
		inherited(argv[0]);
	return 0;
}
