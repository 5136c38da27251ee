/* SPDX-License-Identifier: MIT */
/*
 * `while (connect() < 0);` with no token left, and a deadline of a second and a half: so long it is
 * held back in all, from then on each call is refused after a moment, and still none goes.
 * Usage: deadline blocking|nonblocking|jump|crowd
 */
#include "probe.h"

#include <setjmp.h>

#define DEADLINE 1500 /* ms, in the driver's policy */
#define LONG     100  /* ms, what is no pause of `min` */
#define CROWD    50

static sigjmp_buf back;
static struct sockaddr_in to;

static void on_alarm(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

struct sums {
	int64_t held; /* ms in calls that took long */
	long calls, brief, parked, redirected, others;
};

static void try_blocking(struct sums *sums)
{
	int64_t start = now_ms();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	sums->others +=
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno != ECONNREFUSED;
	start = now_ms() - start;
	if (start >= LONG)
		sums->held += start;
	else
		sums->brief++;
	sums->calls++;
	close(fd);
}

static void try_parked(struct sums *sums)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err = 0;
	struct pollfd at = { .fd = fd, .events = POLLOUT };
	int64_t start = now_ms();
	socklen_t len = sizeof(err);

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno != EINPROGRESS)
		sums->others++;
	poll(&at, 1, 10000);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	sums->parked += err == ETIMEDOUT;
	sums->redirected += err == ECONNREFUSED;
	if (err == ETIMEDOUT)
		sums->held += now_ms() - start;
	sums->calls++;
	close(fd);
	pause_ms(20);
}

/* The host bounds each call itself, by a jump: the wait has been one all the same. */
static void try_and_jump(struct sums *sums)
{
	struct itimerval soon = { .it_value = { .tv_usec = 300000 } }, none = { 0 };
	volatile int64_t start = now_ms();

	if (sigsetjmp(back, 1) == 0) {
		setitimer(ITIMER_REAL, &soon, NULL);
		try_blocking(sums);
		setitimer(ITIMER_REAL, &none, NULL);
		return;
	}
	sums->held += now_ms() - start;
	sums->calls++;
}

static struct sums loop_for(int ms, void (*try)(struct sums *))
{
	struct sums sums = { 0 };
	int64_t end = now_ms() + ms;

	while (now_ms() < end)
		try(&sums);
	return sums;
}

static void *member(void *arg)
{
	int64_t end = now_ms() + 4000;

	while (now_ms() < end)
		try_blocking(arg);
	return arg;
}

/* There are tokens, but of the many delays that are drawn then the shortest must not count. */
static void crowd(void)
{
	pthread_t threads[CROWD];
	static struct sums sums[CROWD];
	long connects = kernel_connects();

	for (int i = 0; i < CROWD; i++)
		pthread_create(&threads[i], NULL, member, &sums[i]);
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	connects = kernel_connects() - connects;
	printf("attempts beyond the first tries: %s\n", connects > CROWD + 25 ? "many" : "few");
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "blocking";
	bool parks = strcmp(kind, "nonblocking") == 0, jumps = strcmp(kind, "jump") == 0;
	struct sigaction action = { .sa_handler = on_alarm };
	struct sums sums;
	long connects;
	int held, lives;

	sigaction(SIGALRM, &action, NULL);
	if (!private_network())
		return PROBE_CANNOT;
	to = loopback(refusing_port(&held));
	if (strcmp(kind, "crowd") == 0) {
		crowd();
		return 0;
	}
	connects = kernel_connects();
	sums = loop_for(6000, parks ? try_parked : jumps ? try_and_jump : try_blocking);
	connects = kernel_connects() - connects;
	printf("held back: %s\n", sums.held < DEADLINE * 3 / 4 ? "hardly"
	                          : sums.held < DEADLINE * 3 / 2 + 1000 * parks
	                              ? "until the deadline"
	                              : "for ever");
	if (parks)
		printf("then redirected: %s\n", sums.redirected > 20 ? "often" : "seldom");
	else
		printf("calls: %s\n", sums.calls > 1000 ? "a spin"
		                      : sums.brief < 20 ? "slow"
		                                        : "paced");
	printf("other errors: %ld\n", sums.others);
	/* Parked and redirected connects are the kernel's too. */
	if (!parks)
		printf("attempts that left the program: %s\n",
		       connects == 1 ? "the first try" : "more");
	if (parks || jumps)
		return 0;

	/* The probe goes whatever was refused. */
	start_server_on(held, SERVER_ECHO, NULL);
	listen(held, 16);
	lives = -1;
	for (int64_t end = now_ms() + 20000; lives < 0 && now_ms() < end; pause_ms(50))
		lives = connected(ntohs(to.sin_port));
	printf("server back: %s\n", lives >= 0 && echo(lives, "word") ? "served" : "not served");
	return 0;
}
