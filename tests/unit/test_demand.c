/* SPDX-License-Identifier: MIT */
/* What a thread was asked for: once for each destination, and by what others accepted if it is new.
 */
#include "track_fixture.h"
#include "dest/demand.h"

#include <sys/wait.h>

TestSuite(demand, .init = start_shim);

static int64_t failed_at;

/* On a thread of its own. */
static void on_another(void *(*run)(void *))
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, run, NULL), 0);
	pthread_join(thread, NULL);
}

static void *accept_one(void *arg)
{
	demand_accepted();
	return arg;
}

static void fail_now(void)
{
	failed_at = monotonic();
	usleep(1000);
}

Test(demand, is_new_once_for_each_destination)
{
	fail_now();
	cr_expect_not(demand_is_new(1, failed_at), "nobody has asked");
	demand_request_read(5, false);
	cr_expect(demand_is_new(1, failed_at));
	cr_expect_not(demand_is_new(1, failed_at));
	cr_expect(demand_is_new(2, failed_at));
	cr_expect(demand_is_new(63, failed_at));
	demand_request_read(5, false);
	cr_expect(demand_is_new(1, failed_at));
	fail_now();
	cr_expect_not(demand_is_new(3, failed_at), "before the failure");
}

static void *work_for_the_first_time(void *arg)
{
	cr_expect(demand_is_new(1, failed_at));
	cr_expect_not(demand_is_new(2, failed_at), "it is new no more");
	return arg;
}

Test(demand, of_a_new_thread_is_what_another_accepted)
{
	fail_now();
	on_another(accept_one);
	on_another(work_for_the_first_time);
	fail_now();
	cr_expect_not(demand_is_new(1, failed_at), "before the failure");
}

Test(demand, of_a_thread_that_was_asked_is_its_own)
{
	cr_expect_not(demand_is_new(1, 0));
	demand_request_read(5, false);
	fail_now();
	on_another(accept_one);
	cr_expect_not(demand_is_new(2, failed_at));
}

/* A server that forks for each connection. */
Test(demand, of_a_new_process_is_what_its_parent_accepted)
{
	int status;
	pid_t child;

	cr_expect_not(demand_is_new(1, 0));
	fail_now();
	on_another(accept_one);
	child = fork();
	if (child == 0)
		_exit(demand_is_new(2, failed_at) ? 7 : 8);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(WEXITSTATUS(status), 7);
	cr_expect_not(demand_is_new(2, failed_at), "its parent is not");
}
