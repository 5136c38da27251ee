/* SPDX-License-Identifier: MIT */
/*
 * connect() is a cancellation point, so a wait inside it must be one too (pthreads(7)), must run
 * the cleanup handlers, and must leave no descriptor behind. With cancellation disabled the wait
 * goes on to its end.
 * Usage: wait_cancel enabled|disabled
 */
#include "probe.h"

static uint16_t port;
static bool disabled;
static int sock = -1;
static volatile int cleaned, returned, err;
static volatile int64_t took;

static void clean_up(void *arg)
{
	(void)arg;
	cleaned++;
	close(sock);
}

static void *worker(void *arg)
{
	int64_t ms;

	attempt(port, NULL);
	sock = socket(AF_INET, SOCK_STREAM, 0);
	if (disabled)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_push(clean_up, NULL);
	err = spin_until_held(sock, port, &ms);
	took = ms;
	returned = 1;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	for (;;)
		pause();
	pthread_cleanup_pop(1);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *result;
	int64_t start;
	int held, fds;

	disabled = argc > 1 && strcmp(argv[1], "disabled") == 0;
	port = refusing_port(&held);
	count_fds();
	fds = count_fds();
	pthread_create(&thread, NULL, worker, NULL);
	pause_ms(400);
	start = now_ms();
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("ended: %s\n", result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	if (disabled)
		printf("connect: %s, %s\n", error_name(err), length_of(took, 2000));
	else
		printf("connect: %s, cancelled %s\n", returned ? "returned" : "did not return",
		       now_ms() - start < 1200 ? "soon" : "late");
	printf("clean-up handlers run: %d\n", cleaned);
	printf("descriptors left: %d\n", count_fds() - fds);
	return 0;
}
