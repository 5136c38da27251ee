/* SPDX-License-Identifier: MIT */
/* What a thread was asked for: once for each destination, and by what others accepted if it is new.
 */
#include "track_fixture.h"

#include <sys/wait.h>

TestSuite(thread, .init = start_shim);

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
	thread_accepted();
	return arg;
}

static void fail_now(void)
{
	failed_at = monotonic();
	usleep(1000);
}

Test(thread, is_asked_once_for_each_destination)
{
	fail_now();
	cr_expect_not(thread_is_asked(1, failed_at), "nobody has asked");
	thread_asked(5);
	cr_expect(thread_is_asked(1, failed_at));
	cr_expect_not(thread_is_asked(1, failed_at));
	cr_expect(thread_is_asked(2, failed_at));
	cr_expect(thread_is_asked(63, failed_at));
	thread_asked(5);
	cr_expect(thread_is_asked(1, failed_at));
	fail_now();
	cr_expect_not(thread_is_asked(3, failed_at), "before the failure");
}

static void *work_for_the_first_time(void *arg)
{
	cr_expect(thread_is_asked(1, failed_at));
	cr_expect_not(thread_is_asked(2, failed_at), "it is new no more");
	return arg;
}

Test(thread, that_is_new_is_asked_by_what_another_accepted)
{
	fail_now();
	on_another(accept_one);
	on_another(work_for_the_first_time);
	fail_now();
	cr_expect_not(thread_is_asked(1, failed_at), "before the failure");
}

Test(thread, that_is_asked_again_is_no_new_one)
{
	cr_expect_not(thread_is_asked(1, 0));
	thread_asked(5);
	fail_now();
	on_another(accept_one);
	cr_expect_not(thread_is_asked(2, failed_at));
}

/* A server that forks for each connection. */
Test(thread, of_a_new_process_is_new)
{
	int status;
	pid_t child;

	cr_expect_not(thread_is_asked(1, 0));
	fail_now();
	on_another(accept_one);
	child = fork();
	if (child == 0)
		_exit(thread_is_asked(2, failed_at) ? 7 : 8);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(WEXITSTATUS(status), 7);
	cr_expect_not(thread_is_asked(2, failed_at), "its parent is not");
}

static int of_first(void)
{
	return thread_is_of_first() ? 7 : 8;
}

Test(thread, of_the_first_process_is_told_from_those_of_its_children)
{
	int status;
	pid_t child;

	cr_expect(thread_is_of_first());
	child = fork();
	if (child == 0)
		_exit(of_first());
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(WEXITSTATUS(status), 8);
}
