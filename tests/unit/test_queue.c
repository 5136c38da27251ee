/* SPDX-License-Identifier: MIT */
/* What accept goes on with after somebody was rejected, for each kind of program. */
#include "sys/real.h"
#include "admission/queue.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/time.h>

static struct sockaddr_in address;

static int listening(int flags)
{
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

	address = (struct sockaddr_in) { .sin_family = AF_INET };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, len), 0);
	cr_assert_eq(listen(fd, 16), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	return fd;
}

static void somebody_comes(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static struct queue enter(int listener)
{
	struct queue queue;

	errno = 4711;
	queue_enter(&queue, listener);
	cr_expect_eq(errno, 4711);
	return queue;
}

/* One call in which one is rejected: 0 if accept goes on, else the errno. */
static int reject_one(struct queue *queue, bool interrupted)
{
	errno = 4711;
	queue_rejecting(queue);
	cr_expect_eq(errno, 4711);
	return queue_again(queue, interrupted) ? 0 : errno;
}

Test(queue, a_host_that_waits_goes_on_waiting)
{
	int listener = listening(0);
	struct queue queue = enter(listener);

	cr_expect(queue_rejecting(&queue));
	for (int i = 0; i < 3 * QUEUE_MOST; i++)
		cr_expect_eq(reject_one(&queue, false), 0);
	cr_expect_eq(reject_one(&queue, true), EINTR);
	/* Once seen, it is known, though somebody is there the next time. */
	somebody_comes();
	queue = enter(listener);
	cr_expect(queue_rejecting(&queue));
}

Test(queue, a_host_that_was_not_seen_to_wait_comes_back)
{
	int listener = listening(0);
	struct queue queue;

	somebody_comes();
	somebody_comes();
	queue = enter(listener);
	cr_expect(!queue_rejecting(&queue));
	close(accept(listener, NULL, NULL));
	cr_expect_eq(reject_one(&queue, true), 0, "another one is there");
	close(accept(listener, NULL, NULL));
	cr_expect_eq(reject_one(&queue, false), ECONNABORTED);
}

/* The number of a socket that was waited on, and another socket. */
Test(queue, a_number_that_is_another_sockets)
{
	int listener = listening(0), other;
	struct queue queue = enter(listener);

	cr_expect(queue_rejecting(&queue));
	close(listener);
	other = listening(0);
	cr_assert_eq(other, listener);
	somebody_comes();
	queue = enter(other);
	cr_expect(!queue_rejecting(&queue));
	cr_expect_eq(reject_one(&queue, false), 0);
}

Test(queue, a_nonblocking_socket_is_emptied_within_bounds)
{
	struct queue queue = enter(listening(SOCK_NONBLOCK));

	for (int i = 1; i < QUEUE_MOST; i++)
		cr_expect_eq(reject_one(&queue, true), 0, "%d", i);
	cr_expect_eq(reject_one(&queue, false), ECONNABORTED);
}

Test(queue, the_timeout_counts_from_the_call, .timeout = 20)
{
	struct timeval limit = { .tv_usec = 300000 };
	int listener = listening(0);
	struct queue queue;

	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	queue = enter(listener);
	cr_expect_eq(reject_one(&queue, false), EAGAIN, "nobody came in time");
	somebody_comes();
	cr_expect_eq(reject_one(&queue, false), EAGAIN, "the time is up");
	queue = enter(listener);
	queue.began = monotonic();
	cr_expect_eq(reject_one(&queue, false), 0, "somebody is there in time");
	limit.tv_sec = 10000000; /* four months: more than poll takes */
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	cr_expect_eq(reject_one(&queue, false), 0);
	limit.tv_sec = (time_t)10000000000; /* more than can be said in ns */
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	cr_expect_eq(reject_one(&queue, false), 0);
}
