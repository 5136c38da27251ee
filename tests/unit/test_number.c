/* SPDX-License-Identifier: MIT */
/* A call that the kernel blocks holds its socket; our wait before it does not, and another thread
 * may give the number to another socket meanwhile. */
#include "track_fixture.h"

#include "pace/pace.h"
#include "dest/tries.h"
#include "conn/settle.h"
#include "config/current.h"

TestSuite(number, .init = start_shim);

/* Long beside what the other thread does in it, also on a loaded machine. */
#define WAIT NS_PER_S

static struct policy *policy;
static struct server server;
static struct attempt try;
static int host;
static bool pushes_out;

/* Nobody listens yet, and every retry waits for as long. */
static void start_dead(void)
{
	policy = (struct policy *)&config_current()->policies[0];
	policy->backoff = (struct backoff_rule) {
		.base = WAIT, .factor = 1000, .cap = WAIT, .jitter = JITTER_NONE
	};
	policy->hold = 2 * WAIT;
	server = serve(-1);
}

static void begin(void)
{
	const struct timeval bound = { .tv_sec = WAIT / NS_PER_S };

	host = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(setsockopt(host, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof(bound)), 0);
	cr_assert(attempt_begin_connect(&try, host, (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
}

/* A retry of a connect that has just failed. */
static void begin_retry(void)
{
	start_dead();
	/* The second failure draws the gate. */
	for (int i = 0; i < 2; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		cr_assert_eq(host_connect(fd, &server), -1);
		host_close(fd);
	}
	begin();
	cr_assert(try.trial.retry);
	for (int i = 0; i <= 10; i++) /* a thread that spins */
		tries_refused(try.began);
	tries_may_be_work(0); /* one alone would be the machine's */
}

/* Dice that let the next reconnect wait for most of WAIT. */
static void load_dice(void)
{
	for (uint64_t seed = 1;; seed++) {
		uint64_t dice = seed;

		if (random_upto(&dice, 24 * 3600 * NS_PER_S) > WAIT &&
		    random_upto(&dice, WAIT) > WAIT * 3 / 4) {
			*thread_random() = seed;
			return;
		}
	}
}

/* A first try that replaces one of many connections lost at once, and is throttled. */
static void begin_reconnect(void)
{
	start_dead();
	policy->reconnect_spread = 24 * 3600 * NS_PER_S;
	policy->bounds_first = 1;
	policy->plain = 0;
	begin();
	load_dice();
	for (int i = 0; i <= SPREAD_MANY; i++)
		spread_lost(&try.trial.destination->spread, policy->reconnect_spread, try.began);
}

/* What a program does with the number while another thread waits in its connect: anything that
 * connects it now gets through. */
static void *put_there(void *fd)
{
	usleep(50000);
	cr_assert_eq(listen(server.fd, 8), 0);
	cr_assert_eq(dup2(*(int *)fd, host), host);
	if (pushes_out)
		atomic_fetch_add(&try.trial.destination->generation, 1);
	return fd;
}

/* As the hook does. */
static bool connect_beside(int other)
{
	pthread_t thread;
	bool goes;

	cr_assert_eq(pthread_create(&thread, NULL, put_there, &other), 0);
	goes = pace(&try);
	pthread_join(thread, NULL);
	cr_assert(monotonic() - try.began >= WAIT / 2, "it waited");
	if (goes) {
		attempt_start(&try);
		cr_assert_eq(attempt_settle(&try, connect(host, (struct sockaddr *)&server.address,
		                                          sizeof(server.address))),
		             0);
	}
	return goes;
}

static int arrived(int ms)
{
	struct pollfd queue = { .fd = server.fd, .events = POLLIN };

	return poll(&queue, 1, ms);
}

static void expect_gone(void)
{
	int other = socket(AF_INET, SOCK_STREAM, 0);

	cr_expect_not(connect_beside(other));
	cr_expect_eq(try.told, EBADF);
	cr_expect_eq(info_of(other).tcpi_segs_out, 0);
	cr_expect_eq(arrived(0), 0);
}

Test(number, of_another_socket_gets_no_connect_that_waited)
{
	struct attempt next;

	begin_retry();
	expect_gone();
	cr_assert(attempt_begin_connect(&next, host, (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
	cr_expect(next.trial.retry, "the failure is still unanswered");
}

Test(number, of_another_socket_gets_none_of_a_destination_that_makes_room_meanwhile)
{
	pushes_out = true;
	begin_retry();
	expect_gone();
}

Test(number, of_no_socket_gets_none)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	begin_retry();
	cr_expect_not(connect_beside(ends[0]));
	cr_expect_eq(try.told, EBADF);
}

Test(number, of_the_same_socket_gets_it)
{
	begin_retry();
	cr_expect(connect_beside(dup(host)));
	cr_expect_eq(arrived(WAIT_MS), 1);
}

Test(number, of_another_socket_gets_no_reconnect_that_was_spread)
{
	begin_reconnect();
	expect_gone();
	cr_expect_eq(try.trial.destination->tally.held, 1);
}

Test(number, of_the_same_socket_gets_the_reconnect)
{
	begin_reconnect();
	cr_expect(connect_beside(dup(host)));
	cr_expect_eq(arrived(WAIT_MS), 1);
	cr_expect_eq(try.trial.destination->tally.held, 1);
}
