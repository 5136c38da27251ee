/* SPDX-License-Identifier: MIT */
/* Facts of a thread, and of the process that it is in. */
#include "track_fixture.h"
#include "sys/thread.h"

#include <sys/wait.h>

TestSuite(thread, .init = start_shim);

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

/* What it was asked for was its parent's work. */
Test(thread, owes_nothing_in_a_child)
{
	int status;
	pid_t child;

	thread_mine()->owes = thread_mine()->deferred = thread_mine()->serves_many = true;
	child = fork();
	if (child == 0)
		_exit(thread_mine()->owes | thread_mine()->deferred << 1 |
		      thread_mine()->serves_many << 2);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(WEXITSTATUS(status), 0);
}
