/* SPDX-License-Identifier: MIT */
/*
 * A handler that jumps, hundreds of times, while the configuration is being read again: neither the
 * open file nor a changed cancel state may stay behind. The file changes under the probe's own
 * hand.
 */
#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>

#define JUMPS 400

static sigjmp_buf back;

static void on_alarm(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* The same configuration, made longer so that reading it takes a while, with another time stamp. */
static void touch(const char *path)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = rand() } };

	if (path)
		utimensat(AT_FDCWD, path, times, 0);
}

static bool jumped_out(uint16_t port, int us)
{
	struct itimerval soon = { .it_value = { .tv_usec = us } }, none = { 0 };
	struct sockaddr_in to = loopback(port);
	volatile int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool jumped = sigsetjmp(back, 1) != 0;

	if (!jumped) {
		setitimer(ITIMER_REAL, &soon, NULL);
		connect(fd, (const struct sockaddr *)&to, sizeof(to));
		setitimer(ITIMER_REAL, &none, NULL);
	}
	close(fd);
	return jumped;
}

int main(void)
{
	const char *path = getenv("RETRYBUDGET_CONFIG");
	int held, fds, state, jumps = 0;
	uint16_t port = refusing_port(&held);
	int64_t until = now_ms() + 4000;

	signal(SIGALRM, on_alarm);
	count_fds();
	fds = count_fds();
	for (int i = 0; jumps < JUMPS && now_ms() < until; i++) {
		touch(path);
		jumps += jumped_out(port, 100 + i * 37 % 3000);
	}
	printf("descriptors left: %d\n", count_fds() - fds);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	printf("cancel state: %s\n", state == PTHREAD_CANCEL_ENABLE ? "enabled" : "disabled");
	return 0;
}
