/* SPDX-License-Identifier: MIT */
/* The configuration of a process: the environment, and a file that changes, goes and comes back. */
#include "config_fixture.h"
#include "report/refresh.h"
#include "report/record.h"
#include "report/report.h"
#include "region/region.h"
#include "config/current.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

static int64_t now;
static int listener;
static struct log_settings settings = { .target = LOG_TARGET_SYSLOG };

static struct region *region;

static void start(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *why;

	make_folder();
	snprintf(settings.socket, sizeof(settings.socket), "%s/other", folder);
	strcpy(address.sun_path, settings.socket);
	listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	region = region_open(SCOPE_PROCESS, "default", &why);
	cr_assert_not_null(region);
	report_settings(&settings, region);
	setenv("RETRYBUDGET_CONFIG", path, 1);
	unsetenv("RETRYBUDGET");
	unsetenv("RETRYBUDGET_LOG");
}

TestSuite(config_current, .init = start, .fini = remove_folder);

/* The records that have arrived, in said. Returns how many. */
static int records(void)
{
	int n = 0;

	said[0] = '\0';
	for (;;) {
		size_t used = strlen(said);
		ssize_t got = recv(listener, said + used, sizeof(said) - used - 2, 0);

		if (got <= 0)
			return n;
		said[used + (size_t)got] = '\n';
		said[used + (size_t)got + 1] = '\0';
		n++;
	}
}

static void write_text(const char *text)
{
	write_bytes(text, strlen(text));
}

/* Replaces the file as the manual says: a new one is renamed over it. */
static void replace(const char *text)
{
	char next[sizeof(path) + 4];

	snprintf(next, sizeof(next), "%s.n", path);
	write_to(next, text, strlen(text));
	cr_assert_eq(rename(next, path), 0);
}

static const struct config *begin(void)
{
	const struct config *first = config_start(false);

	report_complaints(1);
	cr_assert_eq(first, config_current());
	now = INT64_MAX / 2;
	return first;
}

static bool look_again(void)
{
	bool looked, loaded;

	now += 2 * NS_PER_S;
	loaded = config_refresh(now, &looked);
	if (looked && !loaded)
		report_complaints(now);
	return loaded;
}

static bool refresh_at(int64_t at)
{
	bool looked;

	return config_refresh(at, &looked);
}

Test(config_current, a_changed_file_is_taken_up)
{
	const struct config *first, *second, *third;

	write_text("[log]\ntrace = 1\n");
	first = begin();
	cr_expect_eq(first->log.trace, 1);
	cr_expect_not(look_again(), "nothing changed");
	cr_expect_not(look_again());
	write_text("[log]\ntrace = 2\n");
	cr_expect(look_again());
	second = config_current();
	cr_expect_eq(second->log.trace, 2);
	cr_expect_gt(second->serial, first->serial);
	cr_expect_eq(first->log.trace, 1, "readers of the old one still have it");
	cr_expect_not(look_again());
	replace("[log]\ntrace = 3\n[destination a]\nmatch = x\n");
	cr_expect(look_again());
	third = config_current();
	cr_expect_eq(third->log.trace, 3);
	cr_expect_eq(third->policy_count, 2);
	cr_expect_gt(third->serial, second->serial);
	for (int i = 4; i < 12; i++) {
		char text[64];

		snprintf(text, sizeof(text), "[log]\ntrace = %d\n", i);
		replace(text);
		cr_expect(look_again());
		cr_expect_eq(config_current()->log.trace, i);
		cr_expect_eq(config_current()->policy_count, 1);
	}
	cr_expect_eq(records(), 0, "%s", said);
}

/* The kernel's clock for mtime is coarse: two writes may bear the same time and size. */
Test(config_current, a_second_change_within_one_tick_is_not_lost)
{
	struct stat status;
	struct timespec times[2];

	write_text("[log]\ntrace = 1\n");
	begin();
	cr_assert_eq(stat(path, &status), 0);
	write_text("[log]\ntrace = 2\n");
	times[0] = times[1] = status.st_mtim;
	cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	cr_expect(look_again());
	cr_expect_eq(config_current()->log.trace, 2);
}

Test(config_current, touching_changes_nothing)
{
	const struct config *first;
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	write_text("[log]\ntrace = 1\nbad = 1\n");
	first = begin();
	cr_expect_eq(records(), 1, "%s", said);
	cr_assert_eq(utimensat(AT_FDCWD, path, old, 0), 0);
	cr_expect_not(look_again());
	cr_expect_not(look_again());
	cr_expect_eq(config_current(), first);
	cr_expect_eq(records(), 0, "said again: %s", said);
}

Test(config_current, not_more_often_than_asked)
{
	write_text("[retrybudget]\nreload = 10s\n[log]\ntrace = 1\n");
	begin();
	now += 20 * NS_PER_S;
	cr_expect_not(refresh_at(now));
	replace("[retrybudget]\nreload = 10s\n[log]\ntrace = 2\n");
	cr_expect_not(refresh_at(now + 9 * NS_PER_S));
	cr_expect(refresh_at(now + 11 * NS_PER_S));
	replace("[retrybudget]\nreload = 0\n");
	cr_expect(refresh_at(now + 30 * NS_PER_S));
	replace("[log]\ntrace = 3\n");
	cr_expect_not(refresh_at(now + 60 * NS_PER_S), "reload = 0 is never");
	/* A clock that goes back does not stop it for good. */
	write_text("[log]\ntrace = 1\n");
	begin();
	replace("[log]\ntrace = 2\n");
	refresh_at(1);
	cr_expect(refresh_at(5 * NS_PER_S));
}

Test(config_current, a_file_that_goes_leaves_what_it_said)
{
	write_text("[log]\ntrace = 4\n");
	begin();
	unlink(path);
	for (int i = 0; i < 5; i++)
		cr_expect_not(look_again());
	cr_expect_eq(config_current()->log.trace, 4);
	cr_expect_eq(records(), 1, "%s", said);
	expect_said("event=config-error");
	expect_said("has gone");
	write_text("[log]\ntrace = 5\n");
	cr_expect(look_again());
	cr_expect_eq(config_current()->log.trace, 5);
	unlink(path);
	cr_expect_not(look_again());
	cr_expect_eq(records(), 1, "gone a second time: %s", said);
}

Test(config_current, a_file_that_cannot_be_used_leaves_what_it_said)
{
	const struct config *first;

	write_text("[log]\ntrace = 4\n");
	first = begin();
	unlink(path);
	cr_assert_eq(mkdir(path, 0755), 0);
	for (int i = 0; i < 5; i++)
		cr_expect_not(look_again());
	cr_expect_eq(config_current(), first);
	cr_expect_eq(first->log.trace, 4);
	cr_expect_eq(records(), 1, "%s", said);
	expect_said("is not a regular file");
	rmdir(path);
	write_bytes("[log]\ntrace = 9\n\0", 17);
	cr_expect_not(look_again());
	cr_expect_eq(config_current()->log.trace, 4);
	write_text("[log]\ntrace = 6\nbad = 1\n");
	cr_expect(look_again());
	cr_expect_eq(config_current()->log.trace, 6);
	report_complaints(now);
	cr_expect_eq(records(), 1);
	expect_said("line=3");
	expect_said("unknown key 'bad'");
}

Test(config_current, many_bad_lines_are_counted)
{
	write_text("[log]\na=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1\nh=1\ni=1\nj=1\n");
	begin();
	cr_expect_eq(records(), 9, "%s", said);
	expect_said("2 more; 'retrybudget check' shows them all");
	report_complaints(now);
	cr_expect_eq(records(), 0);
}

Test(config_current, a_missing_file)
{
	const struct config *first = begin();

	cr_expect_eq(records(), 1, "one that was named is missed");
	expect_said("does not exist");
	cr_expect_not(look_again());
	cr_expect_eq(records(), 0);
	write_text("[log]\ntrace = 1\n");
	cr_expect(look_again(), "it may come later");
	cr_expect_eq(config_current()->log.trace, 1);
	cr_expect_gt(config_current()->serial, first->serial);
}

Test(config_current, environment)
{
	write_text("[retrybudget]\nmode = enforce\n[log]\ntarget = none\n");
	setenv("RETRYBUDGET", "observe", 1);
	setenv("RETRYBUDGET_LOG", "stderr", 1);
	begin();
	unsetenv("RETRYBUDGET"); /* read once */
	unsetenv("RETRYBUDGET_LOG");
	cr_expect_eq(config_current()->general.mode, MODE_OBSERVE);
	cr_expect_eq(config_current()->policies[0].mode, MODE_OBSERVE);
	cr_expect_eq(config_current()->log.target, LOG_TARGET_STDERR);
	write_text("[retrybudget]\nmode = off\n[log]\ntarget = journal\ntrace = 2\n");
	cr_expect(look_again());
	cr_expect_eq(config_current()->log.trace, 2);
	cr_expect_eq(config_current()->general.mode, MODE_OBSERVE, "the environment still counts");
	cr_expect_eq(config_current()->log.target, LOG_TARGET_STDERR);
	cr_expect_eq(records(), 0);
}

Test(config_current, wrong_environment)
{
	write_text("");
	setenv("RETRYBUDGET", "on", 1);
	setenv("RETRYBUDGET_LOG", "stdout", 1);
	begin();
	cr_expect_eq(config_current()->general.mode, MODE_ENFORCE);
	cr_expect_eq(records(), 2, "%s", said);
	expect_said("enforce | observe | off");
	expect_said("RETRYBUDGET_LOG");
}

Test(config_current, a_relative_path_outlives_chdir)
{
	write_text("[log]\ntrace = 1\n");
	cr_assert_eq(chdir(folder), 0);
	setenv("RETRYBUDGET_CONFIG", "rb.ini", 1);
	begin();
	cr_assert_eq(chdir("/"), 0);
	write_text("[log]\ntrace = 2\n");
	cr_expect(look_again());
	cr_expect_eq(config_current()->log.trace, 2);
}

Test(config_current, secure_programs_read_no_environment)
{
	write_text("[log]\ntrace = 7\n");
	setenv("RETRYBUDGET", "off", 1);
	setenv("RETRYBUDGET_LOG", "stderr", 1);
	cr_expect_eq(config_start(true)->general.mode == MODE_OFF,
	             access("/etc/retrybudget.ini", F_OK) == 0 &&
	                 config_current()->general.mode == MODE_OFF);
	cr_expect_neq(config_current()->log.trace, 7);
	cr_expect_neq(config_current()->log.target, LOG_TARGET_STDERR);
}

/* Threads that refresh and read while the file changes: one of them loads each version, nobody
 * sees a value that no version had. */
static _Atomic(int64_t) clock_ns;
static atomic_int loads, wrong, done;

static void *hammer(void *arg)
{
	(void)arg;
	while (!atomic_load(&done)) {
		const struct config *seen = config_current();

		if (seen->log.trace < 1 || seen->log.trace > 16)
			atomic_fetch_add(&wrong, 1);
		if (refresh_at(atomic_load(&clock_ns)))
			atomic_fetch_add(&loads, 1);
		usleep(200);
	}
	return NULL;
}

Test(config_current, threads, .timeout = 60)
{
	pthread_t threads[4];
	int changes = 15;

	write_text("[log]\ntrace = 1\n");
	begin();
	atomic_store(&clock_ns, now);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, hammer, NULL), 0);
	for (int i = 0; i < changes; i++) {
		char text[64];

		snprintf(text, sizeof(text), "[log]\ntrace = %d\n", i + 2);
		replace(text);
		for (int tries = 0; tries < 500 && config_current()->log.trace != i + 2; tries++) {
			atomic_fetch_add(&clock_ns, 2 * NS_PER_S);
			usleep(2000);
		}
		cr_expect_eq(config_current()->log.trace, i + 2);
	}
	atomic_store(&done, 1);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(atomic_load(&loads), changes);
	cr_expect_eq(atomic_load(&wrong), 0);
}
