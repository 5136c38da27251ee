/* SPDX-License-Identifier: MIT */
/* Who looks for slots, and when. What becomes of the slots: tests/probe/tls_twin.c. */
#include "hook/imports.c"
#include "hook/object.c"

#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

static void *never_called;
static const struct import none[] = { { "retrybudget_no_such_call", NULL, &never_called } };

static void start(void)
{
	thread_setup();
}

TestSuite(imports, .init = start);

Test(imports, are_looked_for_once)
{
	cr_assert_eq(seen, ULLONG_MAX);
	errno = 4711;
	imports_place(none, 1);
	cr_expect_eq(errno, 4711);
	cr_expect_neq(seen, ULLONG_MAX);
	cr_expect_eq(busy, 0);
	cr_expect_null(never_called);
}

Test(imports, are_looked_for_by_one_at_a_time)
{
	busy = thread_process();
	imports_place(none, 1);
	cr_expect_eq(seen, ULLONG_MAX);
}

/* It was forked while another thread of its parent looked. */
Test(imports, are_looked_for_in_a_child_too)
{
	int status;
	pid_t child;

	busy = thread_process();
	child = fork();
	if (child == 0) {
		imports_place(none, 1);
		_exit(seen != ULLONG_MAX && busy == 0 ? 7 : 8);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(WEXITSTATUS(status), 7);
}
