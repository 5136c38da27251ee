/* SPDX-License-Identifier: MIT */
/*
 * Runs the unit tests without Criterion: one forked child per test, as many at once as there are
 * processors, each with a time limit. What a child writes is kept and shown if its test does not
 * pass, so that a sanitizer's report stands under the name of its test.
 *
 * Usage: unit-plain [SUITE | SUITE/NAME]...
 * Exit status: 0 if nothing failed and something passed.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_LIMIT 240 /* s of wall clock: for hangs, not for slow machines */
#define SLOWER        4   /* a sanitized test may take so many times its own limit */
#define SKIPPED       77  /* exit status of a child */
#define JOBS          16

static struct plain_test *tests, *suites;

/* --- in the child --- */

static _Atomic(int) failures;
static jmp_buf out_of_the_test;
static pthread_t main_thread;

void plain_register(struct plain_test *test)
{
	struct plain_test **list = test->name ? &tests : &suites;

	test->next = *list;
	*list = test;
}

void plain_say(const char *format, ...)
{
	va_list arguments;

	flockfile(stderr);
	fputs("    ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void plain_failed(const char *file, int line, const char *what)
{
	atomic_fetch_add(&failures, 1);
	plain_say("%s:%d: %s", file, line, what);
}

void plain_leave(void)
{
	/* Another thread cannot jump onto the stack of the test. */
	if (!pthread_equal(pthread_self(), main_thread))
		_exit(1);
	longjmp(out_of_the_test, 1);
}

static const struct plain_options *suite_of(const struct plain_test *test)
{
	static const struct plain_options none;

	for (const struct plain_test *suite = suites; suite; suite = suite->next)
		if (strcmp(suite->suite, test->suite) == 0)
			return &suite->options;
	return &none;
}

static void call(void (*function)(void))
{
	if (function)
		function();
}

/* Criterion's order: the suite's init, the test's, the test, the test's fini, the suite's. */
static _Noreturn void be_the_test(const struct plain_test *test)
{
	const struct plain_options *const volatile suite = suite_of(test);
	volatile bool complete = false;

	main_thread = pthread_self();
	if (setjmp(out_of_the_test) == 0) {
		call(suite->init);
		call(test->options.init);
		test->run();
		complete = true;
	}
	call(test->options.fini);
	call(suite->fini);
	if (failures)
		exit(1);
	/* exit, not _exit: the sanitizers may have something to say. */
	exit(complete ? 0 : SKIPPED);
}

/* --- in the parent --- */

struct job {
	const struct plain_test *test;
	pid_t child; /* 0: free */
	int output;
	int64_t deadline; /* ms */
};

static struct job jobs[JOBS];
static int passed, failed, skipped;

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void fail_to(const char *what)
{
	fprintf(stderr, "unit-plain: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void start(struct job *job, const struct plain_test *test, const sigset_t *mask)
{
	double limit = test->options.timeout;

	if (limit == 0)
		limit = suite_of(test)->timeout;
	limit = limit != 0 ? limit * SLOWER : DEFAULT_LIMIT;
	job->test = test;
	job->output = memfd_create("output", MFD_CLOEXEC);
	if (job->output < 0)
		fail_to("memfd_create");
	job->deadline = now_ms() + (int64_t)(limit * 1000);
	fflush(NULL);
	job->child = fork();
	if (job->child < 0)
		fail_to("fork");
	if (job->child == 0) {
		/* A group of its own, so that what it leaves running can be ended with it. */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(job->output, 1);
		dup2(job->output, 2);
		close(job->output);
		sigprocmask(SIG_SETMASK, mask, NULL);
		be_the_test(test);
	}
	setpgid(job->child, job->child);
}

/* Shows what the test wrote. */
static void show(const struct job *job)
{
	char data[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(job->output, data, sizeof(data), at)) > 0) {
		fwrite(data, 1, n, stdout);
		at += n;
	}
}

static void verdict(const struct job *job, int status, bool late)
{
	const struct plain_test *test = job->test;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		passed++;
		return;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		skipped++;
		printf("skip %s/%s\n", test->suite, test->name);
	} else {
		failed++;
		printf("FAIL %s/%s", test->suite, test->name);
		if (late)
			printf(" (out of time)\n");
		else if (WIFSIGNALED(status))
			printf(" (%s)\n", strsignal(WTERMSIG(status)));
		else
			printf(" (exit status %d)\n", WEXITSTATUS(status));
	}
	show(job);
	fflush(stdout);
}

static void end(struct job *job, bool late)
{
	int status = 0;

	/* With whatever the test left running; before the number is free for somebody else. */
	kill(-job->child, SIGKILL);
	waitpid(job->child, &status, 0);
	verdict(job, status, late);
	close(job->output);
	job->child = 0;
}

/* Ends the jobs that have ended or are late. */
static void collect(void)
{
	for (struct job *job = jobs; job < jobs + JOBS; job++) {
		siginfo_t ended = { 0 };

		if (!job->child)
			continue;
		if (waitid(P_PID, job->child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    ended.si_pid == job->child)
			end(job, false);
		else if (now_ms() > job->deadline)
			end(job, true);
	}
}

/* Waits until a child ends, or for a moment. */
static void wait_a_little(const sigset_t *children)
{
	struct timespec moment = { .tv_nsec = 200000000 };

	sigtimedwait(children, NULL, &moment);
	collect();
}

static struct job *free_job(long limit)
{
	for (long i = 0; i < limit; i++)
		if (!jobs[i].child)
			return &jobs[i];
	return NULL;
}

static bool is_busy(void)
{
	for (int i = 0; i < JOBS; i++)
		if (jobs[i].child)
			return true;
	return false;
}

static bool is_wanted(const struct plain_test *test, char **patterns)
{
	size_t n = strlen(test->suite);

	if (!*patterns)
		return true;
	for (; *patterns; patterns++)
		if (strncmp(*patterns, test->suite, n) == 0 &&
		    ((*patterns)[n] == '\0' ||
		     ((*patterns)[n] == '/' && strcmp(*patterns + n + 1, test->name) == 0)))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	sigset_t children, mask;

	(void)argc;
	if (processors > JOBS)
		processors = JOBS;
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, &mask);
	for (struct plain_test *test = tests; test; test = test->next) {
		struct job *job;

		if (!is_wanted(test, argv + 1))
			continue;
		while (!(job = free_job(processors)))
			wait_a_little(&children);
		start(job, test, &mask);
	}
	while (is_busy())
		wait_a_little(&children);
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed > 0 || passed == 0;
}
