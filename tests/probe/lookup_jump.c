/* SPDX-License-Identifier: MIT */
/*
 * alarm, siglongjmp, and out of a lookup: old daemons bound theirs so, and curl with a synchronous
 * resolver. Out of the real call, while this thread counts as being in a lookup (of getaddrinfo:
 * gethostbyname holds a lock of libc's, and the next one would hang, also bare), and out of the
 * wait of one that is held. Afterwards connects and lookups are judged as ever, and nothing is
 * left behind.
 */
#include "resolver.h"

#include <setjmp.h>

static sigjmp_buf back;

static void on_alarm(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

static volatile bool returned;

/* Again and again without a pause, until one was held or it is plain that none is. */
static void spin(const char *name)
{
	int64_t began;
	int made = 0;

	do {
		began = now_ms();
		gethostbyname(name);
	} while (made++ < 40 && now_ms() - began < 150);
}

static void clean_up(void *cleaned)
{
	*(int *)cleaned = 1;
}

static void *throttled(void *cleaned)
{
	pthread_cleanup_push(clean_up, cleaned);
	spin("servfail.thread.test");
	pthread_testcancel();
	returned = true;
	pthread_cleanup_pop(0);
	return NULL;
}

/* Everything from the same frame, and nothing in between, so that each call finds on the stack what
 * the one before left there. */
static void jump_out_of_calls(const struct sockaddr_in *to)
{
	struct itimerval soon = { .it_value = { .tv_usec = 200000 } }, none = { 0 };
	volatile int jumps = 0, turn;
	volatile int errors[3];
	struct addrinfo *list;
	int socks[3];

	for (turn = 0; turn < 3; turn++)
		socks[turn] = socket(AF_INET, SOCK_STREAM, 0);
	for (turn = 0; turn < 6; turn++) {
		if (sigsetjmp(back, 1) == 0) {
			setitimer(ITIMER_REAL, &soon, NULL);
			getaddrinfo("silent.a.test", NULL, NULL, &list);
			setitimer(ITIMER_REAL, &none, NULL);
		} else {
			jumps++;
		}
		if (turn < 3)
			errors[turn] =
			    connect(socks[turn], (const struct sockaddr *)to, sizeof(*to)) == 0
				? 0
				: errno;
	}
	for (turn = 0; turn < 3; turn++)
		printf("connect: %s\n", error_name(errors[turn]));
	printf("jumped out of the real call: %d\n", jumps);
}

/* asked: questions that the name server got. */
static void jump_out_of_waits(const volatile int *asked)
{
	/* Bare it must never come to a jump: that would leave libc's lock taken. */
	struct itimerval later = { .it_value = { .tv_usec = 700000 } }, none = { 0 };
	volatile int jumps = 0, turn, before;

	for (turn = 0; turn < 2; turn++)
		gethostbyname("servfail.b.test");
	before = *asked;
	for (turn = 0; turn < 3; turn++) {
		if (sigsetjmp(back, 1) == 0) {
			setitimer(ITIMER_REAL, &later, NULL);
			spin("servfail.b.test");
			setitimer(ITIMER_REAL, &none, NULL);
		} else {
			jumps++;
		}
	}
	printf("jumped out of the wait: %d, later questions: %s\n", jumps,
	       *asked == before ? "none" : "more");
}

static void cancel_in_a_wait(void)
{
	int cleaned = 0;
	pthread_t thread;
	void *end;

	pthread_create(&thread, NULL, throttled, &cleaned);
	pause_ms(400);
	pthread_cancel(thread);
	pthread_join(thread, &end);
	printf("cancelled: %s, clean-up run: %s\n",
	       end == PTHREAD_CANCELED || returned ? "ended" : "no",
	       returned  ? "not needed"
	       : cleaned ? "yes"
	                 : "no");
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	volatile int *asked;
	struct sockaddr_in to;
	int held, fds;

	if (!private_resolver(""))
		return PROBE_CANNOT;
	asked = start_name_server();
	sigaction(SIGALRM, &action, NULL);
	count_fds();
	to = loopback(refusing_port(&held));
	jump_out_of_calls(&to);
	jump_out_of_waits(asked);
	fds = count_fds(); /* the real call, left by a jump, keeps its socket: nobody can help it */
	cancel_in_a_wait();
	printf("descriptors left: %d\n", count_fds() - fds);
	return 0;
}
