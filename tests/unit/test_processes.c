/* SPDX-License-Identifier: MIT */
/* Which processes live. */
#include "tool/processes.h"

#include "region/identity.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(processes, .timeout = 30);

static void *sleep_on(void *nothing)
{
	for (;;)
		pause();
	return nothing;
}

static void end_main_alone(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_on, NULL) != 0)
		_exit(1);
	pthread_exit(NULL);
}

static void read_text(const struct process *process, char *text, size_t size)
{
	ssize_t n = process_read(process->pid, "stat", text, size - 1);

	text[n > 0 ? n : 0] = '\0';
}

/* Until its first thread has ended. */
static void await_zombie(const struct process *process)
{
	char text[1024];

	do {
		usleep(1000);
		read_text(process, text, sizeof(text));
	} while (!strstr(text, ") Z "));
}

Test(processes, one_whose_main_has_ended_lives_by_its_other_threads)
{
	struct process process = { .pid = fork() };
	char text[1024];

	if (process.pid == 0)
		end_main_alone();
	cr_assert_gt(process.pid, 0);
	read_text(&process, text, sizeof(text));
	process.started = identity_start_time(text);
	await_zombie(&process);
	cr_expect(process_lives(&process));
	kill(process.pid, SIGKILL);
	for (int i = 0; i < 10000 && process_lives(&process); i++)
		usleep(1000);
	cr_expect_not(process_lives(&process));
	waitpid(process.pid, NULL, 0);
	cr_expect_not(process_lives(&process));
}
