/* SPDX-License-Identifier: MIT */
/*
 * The region is gone with its last process, so it is made here, and read when the program has
 * ended.
 */
#include "tool/run_and_tell.h"

#include "tool/library.h"
#include "tool/reach.h"
#include "tool/stat_table.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static volatile pid_t child;

/* What is sent to this process is meant for the program. */
static void pass_on(int number)
{
	if (child > 0)
		(void)kill(child, number);
}

static const int passed[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH };
/* A terminal sends these to both. */
static const int ignored[] = { SIGINT, SIGQUIT };

#define PASSED  (sizeof(passed) / sizeof(*passed))
#define IGNORED (sizeof(ignored) / sizeof(*ignored))

static struct sigaction before[PASSED + IGNORED];

static void take_signals(void)
{
	struct sigaction action = { .sa_handler = pass_on, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < PASSED; i++)
		sigaction(passed[i], &action, &before[i]);
	action.sa_handler = SIG_IGN;
	for (size_t i = 0; i < IGNORED; i++)
		sigaction(ignored[i], &action, &before[PASSED + i]);
}

/* As this command found them: what was ignored stays so, as by nohup. */
static void give_signals_back(void)
{
	for (size_t i = 0; i < PASSED; i++)
		sigaction(passed[i], &before[i], NULL);
	for (size_t i = 0; i < IGNORED; i++)
		sigaction(ignored[i], &before[PASSED + i], NULL);
}

static int fail(const char *what)
{
	fprintf(stderr, "retrybudget: run: %s: %s\n", what, strerror(errno));
	return EXIT_OWN;
}

/* The program finds it through this process, and has no descriptor of it when it begins. */
static bool hand(pid_t parent, int fd)
{
	struct stat status;
	char text[96];

	if (fstat(fd, &status) != 0)
		return false;
	(void)snprintf(text, sizeof(text), "%d:%d:%ju:%d", (int)parent, fd,
	               (uintmax_t)status.st_ino, (int)getpid());
	return setenv(REGION_VARIABLE, text, 1) == 0;
}

static void tell(int fd, const char *command, int status)
{
	const struct region_file file = { .fd = fd };
	struct process process = { .pid = child,
		                   .region_count = 1,
		                   .regions = { { .kind = MAPPING_OWN } } };
	static struct snapshot snapshot;
	struct family family = {
		.members = &process, .count = 1, .snapshot = &snapshot, .whole = true
	};
	const char *name = strrchr(command, '/');

	snapshot_take_file(&file, &snapshot);
	if (snapshot.state != SNAPSHOT_GOOD) {
		if (!WIFEXITED(status) || WEXITSTATUS(status) < EXIT_UNFIT)
			fputs("retrybudget: run: nothing was counted: the library was off in the "
			      "program, or its budget is shared (scope = user or host)\n",
			      stderr);
		return;
	}
	(void)snprintf(process.name, sizeof(process.name), "%s", name ? name + 1 : command);
	/* The program's own output is its own. */
	if (fflush(stdout) == 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
		stat_table.begin();
		stat_table.family(&family);
		stat_table.end(0);
		(void)fflush(stdout);
	}
}

/* Ends as the program did, without another core. */
static int end_by(int number)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(number);
	return 128 + number;
}

int run_and_tell(char **command, int (*start)(char **command))
{
	pid_t own = getpid(), ended;
	int status, fd = region_make_file();

	if (fd < 0)
		return fail("no memory to count in");
	take_signals();
	child = fork();
	if (child < 0)
		return fail("fork");
	if (child == 0) {
		give_signals_back();
		if (!hand(own, fd))
			_exit(fail("nothing can be handed on"));
		status = start(command);
		(void)fflush(stderr);
		_exit(status);
	}
	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return fail("waitpid");
	tell(fd, command[0], status);
	return WIFSIGNALED(status) ? end_by(WTERMSIG(status)) : WEXITSTATUS(status);
}
