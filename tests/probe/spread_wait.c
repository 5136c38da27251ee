/* SPDX-License-Identifier: MIT */
/*
 * The ways out of the wait before a connect that replaces a lost connection. The server drops all
 * it has at once; what is connected after that waits, for seconds by the driver's policy. Usage:
 * spread_wait cancel|jump|restart|fork
 */
#include "forked.h"

#include <setjmp.h>

#define KEPT 16  /* connections; as many connects are to be spread */
#define LIFE 400 /* ms, more than min_life */

static struct sockaddr_in to;
static sigjmp_buf back;
static volatile sig_atomic_t handled, jumps;
static volatile int returned, cleaned;
static int sock = -1;

static void drop_all(int listener)
{
	int peers[KEPT];
	char byte;

	for (int i = 0; i < KEPT; i++) {
		peers[i] = accept(listener, NULL, NULL);
		if (read(peers[i], &byte, 1) == 1)
			send(peers[i], &byte, 1, MSG_NOSIGNAL);
	}
	pause_ms(LIFE);
	for (int i = 0; i < KEPT; i++)
		close(peers[i]);
}

static void start(void)
{
	pid_t parent = getpid();
	int listener;

	to = loopback(refusing_port(&listener));
	listen(listener, 128);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent) {
			drop_all(listener);
			serve(listener, SERVER_ECHO, NULL);
		}
		_exit(0);
	}
	close(listener);
}

static void lose_all(void)
{
	int fds[KEPT];
	char byte;

	for (int i = 0; i < KEPT; i++) {
		fds[i] = connected(ntohs(to.sin_port));
		if (fds[i] < 0 || !echo(fds[i], "x"))
			give_up("client");
	}
	for (int i = 0; i < KEPT; i++) {
		if (recv(fds[i], &byte, 1, 0) != 0)
			give_up("end");
		close(fds[i]);
	}
}

static int connect_it(int fd)
{
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
}

static void on_alarm(int signal)
{
	(void)signal;
	handled++;
	if (jumps)
		siglongjmp(back, 1);
}

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };

	sigaction(SIGALRM, &action, NULL);
}

static void alarm_in(int ms)
{
	struct itimerval timer = { .it_value = { .tv_usec = ms * 1000L } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void clean_up(void *arg)
{
	(void)arg;
	cleaned++;
	close(sock);
}

static void *worker(void *arg)
{
	sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_cleanup_push(clean_up, NULL);
	connect_it(sock);
	returned = 1;
	for (;;)
		pause();
	pthread_cleanup_pop(1);
	return arg;
}

static void cancel(pthread_t thread)
{
	int64_t start = now_ms();
	void *result;

	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("%s %s, clean-up handlers run: %d\n",
	       result == PTHREAD_CANCELED ? "cancelled" : "not cancelled",
	       now_ms() - start < 2000 ? "soon" : "late", cleaned);
}

static void is_cancelled(void)
{
	pthread_t thread;
	int fds;

	count_fds();
	fds = count_fds();
	pthread_create(&thread, NULL, worker, NULL);
	pause_ms(300);
	printf("connect: %s\n", returned ? "returned" : "waits");
	cancel(thread);
	printf("descriptors left: %d\n", count_fds() - fds);
}

static int new_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Each takes one of those that are to be spread, and waits until it is left; once they are used up,
 * the next goes. Sooner goes the odd one whose wait is short. */
static void is_left(void)
{
	int fds, maps, state;
	sigset_t before = { 0 }, after = { 0 };
	volatile int fd = new_socket(), left = 0, err = -1;

	handle(0);
	count_fds();
	sigprocmask(SIG_SETMASK, NULL, &before);
	fds = count_fds();
	maps = count_maps();
	jumps = 1;
	while ((err != 0 || (left > 0 && left < KEPT / 2)) && left < 3 * KEPT) {
		if (sigsetjmp(back, 1) != 0) {
			left++;
			err = -1;
			continue;
		}
		if (err == 0) {
			close(fd);
			fd = new_socket();
		}
		alarm_in(50);
		err = connect_it(fd);
		alarm_in(0);
		if (err == EISCONN) /* left when it was no longer waiting */
			err = 0;
	}
	printf("in the end: %s, after %s\n", error_name(err),
	       left == 0         ? "no jumps"
	       : left < KEPT / 2 ? "few jumps"
	       : left > KEPT     ? "too many jumps"
	                         : "jumps");
	printf("descriptors left: %d\nmappings left: %d\n", count_fds() - fds, count_maps() - maps);
	sigprocmask(SIG_SETMASK, NULL, &after);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	printf("signal mask: %s\ncancel state: %s\n",
	       memcmp(&before, &after, sizeof(before)) == 0 ? "same" : "changed",
	       state == PTHREAD_CANCEL_ENABLE ? "enabled" : "disabled");
	printf("socket: %s\n", echo(fd, "works") ? "works" : "does not");
}

/* A thread of its own, so that only one handler with its flags is there at a time. */
static void *interrupt(void *main_thread)
{
	pause_ms(1500);
	handle(0);
	do { /* again and again, for the reason of alarms_from */
		pthread_kill(*(pthread_t *)main_thread, SIGALRM);
		pause_ms(71);
	} while (!returned && handled < 20);
	return NULL;
}

static void is_restarted(void)
{
	pthread_t self = pthread_self(), thread;
	int64_t start = now_ms();
	sigset_t alarm;
	int err;

	handle(SA_RESTART);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL); /* in the other thread */
	pthread_create(&thread, NULL, interrupt, &self);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	alarm_in(300);
	err = connect_it(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	returned = 1;
	printf("connect: %s, %s\n", error_name(err),
	       now_ms() - start < 300    ? "at once"
	       : now_ms() - start < 1400 ? "by the first"
	                                 : "by the second");
	pthread_join(thread, NULL);
	for (int i = 0; i < 50 && handled < 2; i++)
		pause_ms(100);
	printf("signals handled: %s\n", handled < 2 ? "too few" : "both");
}

static int connect_in_child(void)
{
	handle(0);
	alarms_from(100);
	return connect_it(socket(AF_INET, SOCK_STREAM, 0));
}

static void is_forked(void)
{
	pthread_t thread;
	struct child_saw saw = fork_in_wait(&thread, worker, 300, connect_in_child);

	printf("child: exit %d, signal %d, %s, descriptors too many: %s, its own: %s\n",
	       WEXITSTATUS(saw.status), WTERMSIG(saw.status), saw.works ? "works" : "broken",
	       has_too_many(&saw) ? "some" : "none", error_name(saw.err));
	printf("parent: %s\n", returned ? "returned" : "waits");
	cancel(thread);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "cancel";

	start();
	lose_all();
	if (strcmp(what, "cancel") == 0)
		is_cancelled();
	else if (strcmp(what, "jump") == 0)
		is_left();
	else if (strcmp(what, "restart") == 0)
		is_restarted();
	else if (strcmp(what, "fork") == 0)
		is_forked();
	else
		give_up("usage");
	return 0;
}
