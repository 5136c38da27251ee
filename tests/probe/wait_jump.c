/* SPDX-License-Identifier: MIT */
/*
 * The classic timeout: alarm, sigsetjmp, siglongjmp out of the handler, straight out of a retry
 * that is held. Nothing may be left behind: no descriptor, mapping, blocked signal, changed
 * cancel state or spent token.
 */
#include "probe.h"

#include <setjmp.h>
#include <sys/resource.h>

#define JUMPS 8
#define GATE  6500   /* ms, more than the backoff of the driver's policy */
#define ALARM 300000 /* us */

static sigjmp_buf back;
static long slept_before;

/* How often this thread has gone to sleep of its own accord. */
static long slept(void)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return used.ru_nvcsw;
}

static void arm(void)
{
	const struct itimerval soon = { .it_value = { .tv_usec = ALARM } };

	setitimer(ITIMER_REAL, &soon, NULL);
}

/* A connect to a closed port never sleeps, yet on a busy machine it may not run for longer than the
 * alarm's time: only one that sleeps is held, and left. */
static void on_alarm(int signal)
{
	(void)signal;
	if (slept() == slept_before)
		arm();
	else
		siglongjmp(back, 1);
}

/* A row of attempts on the socket, the first held one of which an alarm ends. */
static bool jumped_out(int fd, uint16_t port)
{
	const struct itimerval none = { 0 };
	struct sockaddr_in to = loopback(port);

	if (sigsetjmp(back, 1) != 0)
		return true;
	for (int made = 0; made < 200; made++) {
		slept_before = slept();
		arm();
		connect(fd, (struct sockaddr *)&to, sizeof(to));
		setitimer(ITIMER_REAL, &none, NULL);
	}
	return false;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	sigset_t mask_before = { 0 }, mask_after = { 0 }; /* the kernel fills in a part */
	int held, fd, fds, maps, state, jumps = 0;
	uint16_t port = refusing_port(&held);
	int64_t began = now_ms();

	sigaction(SIGALRM, &action, NULL);
	printf("first: %s\n", error_name(attempt(port, NULL)));
	fd = socket(AF_INET, SOCK_STREAM, 0);
	count_fds();
	sigprocmask(SIG_SETMASK, NULL, &mask_before);
	fds = count_fds();
	maps = count_maps();
	for (int i = 0; i < JUMPS; i++)
		jumps += jumped_out(fd, port);
	printf("jumped out: %d\n", jumps);
	printf("descriptors left: %d\n", count_fds() - fds);
	printf("mappings left: %d\n", count_maps() - maps);
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	printf("signal mask: %s\n",
	       memcmp(&mask_before, &mask_after, sizeof(mask_before)) == 0 ? "same" : "changed");
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	printf("cancel state: %s\n", state == PTHREAD_CANCEL_ENABLE ? "enabled" : "disabled");
	close(fd);

	/* Capacity is two tokens, and the first repeat has had one: had any jump cost the other,
	 * this attempt would be refused. */
	listen(held, 16);
	pause_ms((int)(began + GATE - now_ms()));
	printf("server back: %s\n", error_name(attempt(port, NULL)));
	printf("again: %s\n", error_name(attempt(port, NULL)));
	return 0;
}
