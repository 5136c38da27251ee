/* SPDX-License-Identifier: MIT */
/* The kernel, a limit or a sandbox keeps something from the shim: the program must not notice, and
 * the region must say that it happened. */
#include "run.h"
#include "shares.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CANNOT 77

static void clean_up(void)
{
	share_discard("test-faults");
	discard_scratch();
}

TestSuite(faults, .fini = clean_up);

static const char *configuration(enum how how, const char *general, const char *log)
{
	static char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/faults.ini", scratch());
	file = fopen(path, "we");
	cr_assert(file != NULL);
	fprintf(file,
	        "[retrybudget]\nmode = %s\nreload = 0\n%s\n"
	        "[log]\n%s\nattempts = on\ninterval = 0\n"
	        "[destination default]\nbase = 100ms\nfactor = 1\ncap = 100ms\njitter = none\n"
	        "hold = 300ms\nprobe = 500ms\nnonblocking = redirect\n",
	        how == BARE ? "off" : way_name(how), general, log);
	cr_assert(fclose(file) == 0);
	chmod(path, 0644);
	return path;
}

/* Takes the lines that begin with '#' out of what was printed. */
static const char *without_numbers(const struct result *result, char *numbers, size_t size)
{
	static char text[sizeof(result->out)];
	size_t used = 0;

	*numbers = '\0';
	for (const char *line = result->out; *line != '\0';) {
		size_t length = strcspn(line, "\n") + 1;

		if (*line == '#') {
			snprintf(numbers, size, "%.*s", (int)length, line);
		} else {
			memcpy(text + used, line, length);
			used += length;
		}
		line += length;
	}
	text[used] = '\0';
	return text;
}

static long lost; /* records, as the region counted them */

/* Every way must print what bare prints. Returns the faults that the region counted under enforce;
 * -1 where there was no region. */
static long same_as_bare(const char *kind, const char *general, const char *log)
{
	static struct result result;
	static char bare[sizeof(result.out)];
	char numbers[256] = "";
	long faults = -1;

	for (enum how how = BARE; how < WAYS; how++) {
		struct probe probe = { .program = "faults",
			               .arguments = { kind },
			               .configuration = configuration(how, general, log),
			               .seconds = 60 };
		const char *text;

		run_probe(&probe, how, &result);
		if (result.exited && result.code == CANNOT)
			cr_skip_test("faults %s: this machine does not allow it", kind);
		cr_assert(result.exited && result.code == 0, "%s %s: %s %d\n%s\n%s", kind,
		          way_name(how), result.exited ? "exit" : "signal", result.code, result.out,
		          result.err);
		text = without_numbers(&result, numbers, sizeof(numbers));
		if (how == BARE)
			strcpy(bare, text);
		cr_assert(strstr(bare, "healthy: works") != NULL, "%s: %s", kind, bare);
		cr_expect_str_eq(text, bare, "%s %s: %s\nbare: %s", kind, way_name(how), text,
		                 bare);
		cr_expect_str_eq(result.err, "", "%s %s: %s", kind, way_name(how), result.err);
	}
	sscanf(numbers, "# faults=%ld lost=%ld", &faults, &lost);
	return faults;
}

#define SYSLOG "socket = /nowhere/log"

Test(faults, nobody_listens)
{
	cr_expect_eq(same_as_bare("none", "", SYSLOG), 0);
	cr_expect_gt(lost, 5);
}

/* A listener that hangs: its queue takes no more, and nobody waits for it. */
Test(faults, nobody_reads)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char log[sizeof(at.sun_path) + 16];

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/hangs", scratch());
	snprintf(log, sizeof(log), "socket = %s", at.sun_path);
	cr_assert(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0);
	while (sendto(sender, "", 1, 0, (struct sockaddr *)&at, sizeof(at)) == 1)
		;
	cr_assert(errno == EAGAIN);
	cr_expect_eq(same_as_bare("none", "", log), 0);
	cr_expect_gt(lost, 5);
	close(listener);
	close(sender);
}

Test(faults, anonymous_files_are_not_to_be_had)
{
	cr_expect_geq(same_as_bare("memfd", "", SYSLOG), 1);
}

Test(faults, shared_memory_is_not_to_be_had)
{
	cr_expect_geq(same_as_bare("shared", "", SYSLOG), 1);
	cr_expect_geq(same_as_bare("shm-segments", "scope = user\nshare = test-faults", SYSLOG), 1);
	cr_expect_geq(same_as_bare("attach", "scope = user\nshare = test-faults", SYSLOG), 1);
}

Test(faults, no_memory_for_the_region)
{
	cr_expect_eq(same_as_bare("region", "", SYSLOG), -1);
}

Test(faults, forks_cannot_be_told)
{
	cr_expect_geq(same_as_bare("wipe", "", SYSLOG), 1);
}

/* The shim asks for neither. */
Test(faults, what_it_does_not_need)
{
	cr_expect_eq(same_as_bare("getrandom", "", SYSLOG), 0);
	cr_expect_eq(same_as_bare("timerfd", "", SYSLOG), 0);
	cr_expect_eq(same_as_bare("signals", "", SYSLOG), 0);
}

Test(faults, waiting_is_forbidden)
{
	cr_expect_geq(same_as_bare("wait", "", SYSLOG), 1);
}

Test(faults, own_memory_cannot_be_asked_for)
{
	same_as_bare("readv", "", SYSLOG "\ntrace = 8");
}

Test(faults, sockets_cannot_be_told_apart)
{
	cr_expect_geq(same_as_bare("cookie", "", SYSLOG), 1);
	cr_expect_eq(same_as_bare("nocookie", "", SYSLOG), 0);
}

Test(faults, options_cannot_be_set)
{
	cr_expect_geq(same_as_bare("options", "", SYSLOG), 1);
}

Test(faults, tcp_tells_nothing)
{
	same_as_bare("questions", "", SYSLOG);
}

Test(faults, no_socket_for_records)
{
	cr_expect_geq(same_as_bare("datagram", "", SYSLOG), 1);
}

Test(faults, shared_memory_file_system)
{
	cr_expect_geq(same_as_bare("shm-read-only", "scope = user\nshare = test-faults", SYSLOG),
	              1);
	/* A link needs no room. */
	cr_expect_eq(same_as_bare("shm-full", "scope = user\nshare = test-faults", SYSLOG), 0);
	cr_expect_geq(same_as_bare("shm-no-inodes", "scope = user\nshare = test-faults", SYSLOG),
	              1);
	cr_expect_geq(same_as_bare("shm-absent", "scope = user\nshare = test-faults", SYSLOG), 1);
}

Test(faults, clock_jumps)
{
	cr_expect_eq(same_as_bare("clock", "", SYSLOG), 0);
}
