/* SPDX-License-Identifier: MIT */
/* The mark of a thread that is in a lookup: where it holds, and what a jump out of one leaves. */
#include "track_fixture.h"

#include "sys/lookup_mark.h"

TestSuite(lookup_mark, .init = start_shim);

/* A lookup whose frame is left without its end, its memory untouched. */
static __attribute__((noinline)) void left_by_a_jump(void)
{
	struct lookup_mark mark;

	thread_lookup_begin(&mark);
	__asm__ volatile("" ::"r"(&mark) : "memory");
}

static __attribute__((noinline)) bool asked_by_a_hook(void)
{
	char frame[256];

	__asm__ volatile("" ::"r"(frame) : "memory");
	thread_drop_stale_lookup();
	return thread_in_lookup();
}

Test(lookup_mark, of_a_lookup_that_was_left_is_dropped)
{
	left_by_a_jump();
	thread_drop_stale_lookup();
	cr_assert_null(thread_facts.lookup);
}

/* Marks are told by where they stand on the stack; the sanitizer's stand elsewhere. */
static __attribute__((noinline, no_sanitize_address)) void nested(void)
{
	struct lookup_mark outer, inner;

	cr_assert_not(asked_by_a_hook());
	thread_lookup_begin(&outer);
	cr_assert(asked_by_a_hook());
	thread_lookup_begin(&inner);
	cr_assert(asked_by_a_hook());
	thread_lookup_end(&inner);
	cr_assert(asked_by_a_hook(), "a lookup by an NSS module does not end the outer one");
	thread_lookup_end(&outer);
	cr_assert_not(asked_by_a_hook());
}

Test(lookup_mark, holds_for_everything_inside)
{
	nested();
}

/* As those of NSS modules are. */
static __attribute__((noinline, no_sanitize_address)) void attempts_inside(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons(389),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct lookup_mark mark;
	struct attempt try;

	cr_assert_geq(fd, 0);
	thread_lookup_begin(&mark);
	cr_expect_not(attempt_begin_connect(&try, fd, (const struct sockaddr *)&to, sizeof(to)));
	cr_expect_not(attempt_begin_lookup(&try, "ldap.test", NULL));
	thread_lookup_end(&mark);
	cr_expect(attempt_begin_connect(&try, fd, (const struct sockaddr *)&to, sizeof(to)));
	cr_expect(attempt_begin_lookup(&try, "ldap.test", NULL));
	close(fd);
}

Test(lookup_mark, what_is_attempted_inside_is_none_of_the_programs)
{
	attempts_inside();
}
