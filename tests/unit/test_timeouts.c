/* SPDX-License-Identifier: MIT */
/* A connect_timeout on a connect, and off again. */
#include "track_fixture.h"
#include "pace/timeouts.h"

TestSuite(timeouts, .init = start_shim);

static int timeout_of(int fd)
{
	int ms = -1;
	socklen_t len = sizeof(ms);

	cr_assert_eq(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, &len), 0);
	return ms;
}

/* A file that changes twice while a call blocks takes the policy's place. */
Test(timeouts, of_a_policy_that_has_gone_are_taken_off)
{
	struct server server = serve(8);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct attempt try;
	struct policy policy;

	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
	policy = *try.account.policy;
	policy.connect_timeout = 3 * NS_PER_S;
	try.account.policy = &policy;
	attempt_start(&try);
	timeouts_begin(&try);
	cr_assert_eq(timeout_of(fd), 3000);
	policy.connect_timeout = 0;
	errno = ETIMEDOUT;
	cr_expect_not(timeouts_again(&try, -1));
	cr_expect_eq(errno, ETIMEDOUT);
	cr_expect_eq(timeout_of(fd), 0);
}

Test(timeouts, are_put_on_nothing_without_a_policy_that_says_so)
{
	struct server server = serve(8);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct attempt try;

	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
	attempt_start(&try);
	timeouts_begin(&try);
	cr_expect_not(try.timed);
	cr_expect_eq(timeout_of(fd), 0);
	cr_expect_not(timeouts_again(&try, -1));
}
