/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for Criterion in sanitizer builds, in which Criterion itself cannot start: it maps its
 * workers' memory where the sanitizers keep theirs. Only what the unit tests use is here; whatever
 * else a test may want fails to compile and has to be added. Each test runs in a child process of
 * its own (unit/plain/runner.c).
 */
#ifndef RETRYBUDGET_TESTS_UNIT_PLAIN_CRITERION_H
#define RETRYBUDGET_TESTS_UNIT_PLAIN_CRITERION_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_options {
	void (*init)(void);
	void (*fini)(void);
	double timeout; /* s */
};

struct plain_test {
	const char *suite, *name; /* name NULL: the options of a suite */
	void (*run)(void);
	struct plain_options options;
	struct plain_test *next;
};

/* Adds a test, or a suite's options, before main() starts. */
void plain_register(struct plain_test *test);

/* Notes that an assertion did not hold; the test goes on. Thread-safe. */
void plain_failed(const char *file, int line, const char *what);

/* Adds to that what the test says of it, or prints without any failure. */
void plain_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the test here, after its clean-up: as failed if anything failed, else as skipped. */
_Noreturn void plain_leave(void);

/* The names are unique in the program, as with Criterion. */
#define PLAIN_REGISTER(id, ...)                                                                    \
	static struct plain_test id##_entry = { __VA_ARGS__ };                                     \
	__attribute__((constructor)) static void id##_register(void)                               \
	{                                                                                          \
		plain_register(&id##_entry);                                                       \
	}

#define Test(in, called, ...)                                                                      \
	static void in##_##called##_test(void);                                                    \
	PLAIN_REGISTER(in##_##called, #in, #called, in##_##called##_test, { __VA_ARGS__ }, NULL)   \
	static void in##_##called##_test(void)

#define TestSuite(in, ...)                                                                         \
	PLAIN_REGISTER(in##_suite, #in, NULL, NULL, { __VA_ARGS__ }, NULL)                         \
	struct plain_test /* takes the semicolon */

#define PLAIN_CHECK(fatal, holds, what, ...)                                                       \
	do {                                                                                       \
		if (!(holds)) {                                                                    \
			plain_failed(__FILE__, __LINE__, what);                                    \
			__VA_OPT__(plain_say(__VA_ARGS__);)                                        \
			if (fatal)                                                                 \
				plain_leave();                                                     \
		}                                                                                  \
	} while (0)

#define PLAIN_STRINGS(fatal, a, b, ...)                                                            \
	do {                                                                                       \
		const char *plain_a = (a), *plain_b = (b);                                         \
                                                                                                   \
		if (strcmp(plain_a, plain_b) != 0) {                                               \
			plain_failed(__FILE__, __LINE__, #a " == " #b);                            \
			plain_say("\"%s\" != \"%s\"", plain_a, plain_b);                           \
			__VA_OPT__(plain_say(__VA_ARGS__);)                                        \
			if (fatal)                                                                 \
				plain_leave();                                                     \
		}                                                                                  \
	} while (0)

#define PLAIN_PAIR(fatal, a, op, b, ...)                                                           \
	PLAIN_CHECK(fatal, (a)op(b), #a " " #op " " #b __VA_OPT__(, ) __VA_ARGS__)

#define cr_assert(c, ...)     PLAIN_CHECK(true, c, #c __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect(c, ...)     PLAIN_CHECK(false, c, #c __VA_OPT__(, ) __VA_ARGS__)
#define cr_assert_not(c, ...) PLAIN_CHECK(true, !(c), "not " #c __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_not(c, ...) PLAIN_CHECK(false, !(c), "not " #c __VA_OPT__(, ) __VA_ARGS__)

#define cr_assert_null(p, ...)     PLAIN_PAIR(true, p, ==, NULL __VA_OPT__(, ) __VA_ARGS__)
#define cr_assert_not_null(p, ...) PLAIN_PAIR(true, p, !=, NULL __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_null(p, ...)     PLAIN_PAIR(false, p, ==, NULL __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_not_null(p, ...) PLAIN_PAIR(false, p, !=, NULL __VA_OPT__(, ) __VA_ARGS__)

#define cr_assert_eq(a, b, ...)  PLAIN_PAIR(true, a, ==, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_eq(a, b, ...)  PLAIN_PAIR(false, a, ==, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_assert_neq(a, b, ...) PLAIN_PAIR(true, a, !=, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_neq(a, b, ...) PLAIN_PAIR(false, a, !=, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_assert_lt(a, b, ...)  PLAIN_PAIR(true, a, <, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_lt(a, b, ...)  PLAIN_PAIR(false, a, <, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_assert_leq(a, b, ...) PLAIN_PAIR(true, a, <=, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_leq(a, b, ...) PLAIN_PAIR(false, a, <=, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_assert_gt(a, b, ...)  PLAIN_PAIR(true, a, >, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_gt(a, b, ...)  PLAIN_PAIR(false, a, >, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_assert_geq(a, b, ...) PLAIN_PAIR(true, a, >=, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_geq(a, b, ...) PLAIN_PAIR(false, a, >=, b __VA_OPT__(, ) __VA_ARGS__)

#define cr_assert_str_eq(a, b, ...) PLAIN_STRINGS(true, a, b __VA_OPT__(, ) __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) PLAIN_STRINGS(false, a, b __VA_OPT__(, ) __VA_ARGS__)

#define cr_expect_float_eq(a, b, near, ...)                                                        \
	PLAIN_CHECK(false, fabs((a) - (b)) <= (near), #a " == " #b __VA_OPT__(, ) __VA_ARGS__)

#define cr_skip_test(...)                                                                          \
	do {                                                                                       \
		__VA_OPT__(plain_say(__VA_ARGS__);)                                                \
		plain_leave();                                                                     \
	} while (0)

/* As in Criterion: shown, and not a failure. */
#define cr_log_info(...)  plain_say(__VA_ARGS__)
#define cr_log_error(...) plain_say(__VA_ARGS__)

#endif
