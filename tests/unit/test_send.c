/* SPDX-License-Identifier: MIT */
/* Where records go: the three targets, and what happens when nobody takes them. */
#include "record_fixture.h"
#include "report/send.h"
#include "report/report.h"

#include <signal.h>

Test(send, syslog_datagram)
{
	static struct pairs pairs;
	struct record record;
	char got[2048], header[64];
	int before;

	listen_at(LOG_TARGET_SYSLOG);
	record = throttled();
	before = open_descriptors();
	errno = 4711;
	report(&record, NS_PER_S);
	cr_assert_eq(errno, 4711);
	cr_assert_eq(open_descriptors(), before);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	snprintf(header, sizeof(header), "<%d>retrybudget[%d]: ", LOG_DAEMON | LOG_WARNING,
	         getpid());
	cr_assert_eq(strncmp(got, header, strlen(header)), 0, "%s", got);
	cr_assert(parse(got + strlen(header), &pairs), "%s", got);
	cr_assert_str_eq(value_of(&pairs, "prog"), program_invocation_short_name);

	record.event = EVENT_RECOVERED;
	report(&record, 2 * NS_PER_S);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	snprintf(header, sizeof(header), "<%d>", LOG_DAEMON | LOG_NOTICE);
	cr_assert_eq(strncmp(got, header, strlen(header)), 0, "%s", got);
	record.event = EVENT_ATTEMPT;
	report(&record, 2 * NS_PER_S);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	snprintf(header, sizeof(header), "<%d>", LOG_DAEMON | LOG_INFO);
	cr_assert_eq(strncmp(got, header, strlen(header)), 0, "%s", got);
	cr_assert_eq(region.lost_records, 0);
	stop_listening();
}

Test(send, journal_datagram)
{
	struct record record;
	char got[2048], expected[2048];
	char line[RECORD_MAX];

	listen_at(LOG_TARGET_JOURNAL);
	record = throttled();
	strcpy(destination.name, "a\nPRIORITY=0");
	record_format(line, sizeof(line), &record, program_invocation_short_name,
	              &(struct told) { 0 }, NULL);
	report(&record, NS_PER_S);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	snprintf(expected, sizeof(expected),
	         "MESSAGE=%s\nPRIORITY=4\nSYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER=retrybudget\n"
	         "SYSLOG_PID=%d\nRETRYBUDGET_EVENT=throttled\nRETRYBUDGET_DEST=a\\x0aPRIORITY=0\n",
	         line, getpid());
	cr_assert_str_eq(got, expected);
	stop_listening();
}

Test(send, sums_through_report)
{
	struct record record;
	char got[2048];

	listen_at(LOG_TARGET_SYSLOG);
	record = throttled();
	for (int i = 0; i < 101; i++) {
		count(&destination.untold[0].throttled);
		report(&record, i < 100 ? NS_PER_S + i : 32 * NS_PER_S);
	}
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	cr_assert(strstr(got, " throttled=1 ") != NULL, "%s", got);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	cr_assert(strstr(got, " throttled=100 ") != NULL, "%s", got);
	cr_assert(next_datagram(got, sizeof(got)) < 0);
	stop_listening();
}

/* An operator has set another mode, and set it back. */
Test(send, a_sum_for_each_mode)
{
	struct record record;
	char got[2048];

	listen_at(LOG_TARGET_SYSLOG);
	record = throttled();
	destination.untold[0].throttled = 3;
	report(&record, NS_PER_S);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	destination.untold[0].throttled = 5;
	destination.untold[1].throttled = 7;
	record.observe = record.in_observe = true;
	report(&record, 40 * NS_PER_S);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	cr_assert(strstr(got, "event=throttled ") && strstr(got, " throttled=5 "), "%s", got);
	cr_assert_null(strstr(got, "why="), "of another attempt: %s", got);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	cr_assert(strstr(got, "event=would-throttle ") && strstr(got, " throttled=7 "), "%s", got);
	destination.untold[1].throttled = 2;
	record.observe = record.in_observe = false;
	record.event = EVENT_RECOVERED;
	report(&record, 41 * NS_PER_S);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	cr_assert(strstr(got, "event=would-throttle ") && strstr(got, " throttled=2 "), "%s", got);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	cr_assert(strstr(got, "event=recovered ") && !strstr(got, " throttled="), "%s", got);
	cr_assert(next_datagram(got, sizeof(got)) < 0);
	stop_listening();
}

Test(send, nobody_listens)
{
	struct record record;

	listen_at(LOG_TARGET_SYSLOG);
	stop_listening();
	record = throttled();
	destination.untold[0].throttled = 7;
	errno = 4711;
	report(&record, NS_PER_S);
	cr_assert_eq(errno, 4711);
	cr_assert_eq(region.lost_records, 1);
	cr_assert_eq(destination.untold[0].throttled, 7, "for the next to tell");
	settings.target = LOG_TARGET_NONE;
	report(&record, 100 * NS_PER_S);
	cr_assert_eq(region.lost_records, 1, "nothing is lost where nothing is wanted");
}

Test(send, a_full_queue_never_blocks, .timeout = 20)
{
	struct record record = { .event = EVENT_ATTEMPT };

	listen_at(LOG_TARGET_SYSLOG);
	for (int i = 0; i < 200000 && region.lost_records == 0; i++)
		report(&record, 1);
	cr_assert_eq(region.lost_records, 1);
	stop_listening();
}

static ssize_t sendmsg_from_3_up(int fd, const struct msghdr *message, int flags)
{
	return fd < 3 ? -1 : sendmsg(fd, message, flags);
}

Test(send, descriptors_0_to_2_stay_closed)
{
	struct record record = { .event = EVENT_ATTEMPT };
	char got[2048];
	int status;
	pid_t child;

	listen_at(LOG_TARGET_SYSLOG);
	child = fork();
	if (child == 0) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		real.sendmsg = sendmsg_from_3_up;
		report(&record, 1);
		for (int fd = 0; fd < 3; fd++)
			if (fcntl(fd, F_GETFD) >= 0)
				_exit(1);
		_exit(region.lost_records != 0);
	}
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	stop_listening();
}

/* --- stderr --- */

/* Runs `how` in a child whose stderr is a pipe; returns what it wrote and its wait status. */
static int with_stderr(void (*how)(int reader), char *out, size_t size)
{
	int ends[2], status;
	pid_t child;
	ssize_t n;

	cr_assert_eq(pipe(ends), 0);
	settings = (struct log_settings) { .target = LOG_TARGET_STDERR };
	report_settings(&settings, &region);
	child = fork();
	if (child == 0) {
		signal(SIGPIPE, SIG_DFL);
		dup2(ends[1], 2);
		close(ends[1]);
		send_remember_stderr();
		how(ends[0]);
		_exit((int)region.lost_records);
	}
	close(ends[1]);
	waitpid(child, &status, 0);
	n = read(ends[0], out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	return status;
}

static const struct record short_record = { .event = EVENT_LOADED, .text = "hello" };

static void write_one(int reader)
{
	(void)reader;
	report(&short_record, 1);
}

static void write_to_full(int reader)
{
	static char block[4096];

	(void)reader;
	fcntl(2, F_SETFL, O_NONBLOCK);
	while (write(2, block, sizeof(block)) > 0)
		continue;
	fcntl(2, F_SETFL, 0);
	alarm(5); /* should it block after all */
	report(&short_record, 1);
}

static void write_without_stderr(int reader)
{
	(void)reader;
	close(2);
	report(&short_record, 1);
	if (fcntl(2, F_GETFD) >= 0)
		_exit(99);
}

static int reader_of_child;

static ssize_t writev_after_reader_left(int fd, const struct iovec *parts, int n)
{
	close(reader_of_child);
	return writev(fd, parts, n);
}

static void write_as_reader_leaves(int reader)
{
	reader_of_child = reader;
	real.writev = writev_after_reader_left;
	report(&short_record, 1);
	sigset_t pending;
	sigpending(&pending);
	if (sigismember(&pending, SIGPIPE))
		_exit(99);
}

Test(send, to_stderr, .timeout = 20)
{
	char got[70000], expected[256];

	cr_assert_eq(with_stderr(write_one, got, sizeof(got)), 0);
	snprintf(expected, sizeof(expected), "]: event=loaded prog=%s msg=hello\n",
	         program_invocation_short_name);
	cr_assert_eq(strncmp(got, "retrybudget[", 12), 0);
	cr_assert_str_eq(strchr(got, ']'), expected);
	cr_assert_eq(WEXITSTATUS(with_stderr(write_to_full, got, sizeof(got))), 1);
	cr_assert_null(strstr(got, "retrybudget"));
	cr_assert_eq(WEXITSTATUS(with_stderr(write_without_stderr, got, sizeof(got))), 1);
}

static int status_of_leaving(void)
{
	int ends[2], go[2], status;
	pid_t child;
	char byte;

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(pipe(go), 0);
	child = fork();
	if (child == 0) {
		close(go[1]);
		(void)!read(go[0], &byte, 1); /* until it has the only reader */
		signal(SIGPIPE, SIG_DFL);
		dup2(ends[1], 2);
		close(ends[1]);
		write_as_reader_leaves(ends[0]);
		_exit((int)region.lost_records);
	}
	close(ends[0]);
	close(ends[1]);
	close(go[0]);
	close(go[1]);
	waitpid(child, &status, 0);
	return status;
}

Test(send, reader_of_stderr_leaves, .timeout = 20)
{
	settings = (struct log_settings) { .target = LOG_TARGET_STDERR };
	report_settings(&settings, &region);
	int status = status_of_leaving();

	cr_assert(WIFEXITED(status), "killed by %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), 1);
}
