/* SPDX-License-Identifier: MIT */
/* Call sites: their form, and that libunwind leaves no descriptor behind. */
#include "record_fixture.h"
#include "report/callsite.h"
#include "report/report.h"

#include <pthread.h>

static void need_call_sites(void)
{
#ifdef CALLSITE_NONE
	cr_skip_test("built without libunwind");
#endif
}

static bool is_site(const char *site)
{
	while (*site) {
		size_t n = strcspn(site, ",+");

		if (n == 0 || strncmp(site + n, "+0x", 3) != 0)
			return false;
		site += n + 3;
		n = strspn(site, "0123456789abcdef");
		if (n == 0)
			return false;
		site += n;
		if (*site == ',' && site[1])
			site++;
		else if (*site)
			return false;
	}
	return true;
}

Test(callsite, modules_and_offsets)
{
	char site[512];
	int before = open_descriptors();

	need_call_sites();
	cr_assert_eq(callsite_format(site, sizeof(site), 4), 0, "nothing before it was prepared");
	callsite_prepare();
	cr_assert_eq(open_descriptors(), before, "libunwind's pipe was left open");
	errno = 4711;
	cr_assert(callsite_format(site, sizeof(site), CALLSITE_FRAMES) > 0,
	          "no frames: is libunwind.so.8 installed?");
	cr_assert_eq(errno, 4711);
	cr_assert(is_site(site), "%s", site);
	/* Frames of this program are ours here, as the shim's are in a program. */
	cr_assert_null(strstr(site, "unit+"), "%s", site);
	for (size_t size = 0; size < 80; size++) {
		memset(site, 'Z', sizeof(site));
		callsite_format(site, size, 3);
		cr_assert_eq(site[size], 'Z');
		cr_assert(size == 0 || is_site(site));
	}
	callsite_format(site, sizeof(site), 1);
	cr_assert_null(strchr(site, ','), "one frame: %s", site);
	cr_assert_eq(callsite_format(site, sizeof(site), 0), 0);
	cr_assert_eq(open_descriptors(), before);
}

static void *on_small_stack(void *out)
{
	callsite_format(out, 512, 4);
	return NULL;
}

Test(callsite, small_stack_gives_nothing)
{
	pthread_attr_t attributes;
	pthread_t thread;
	char site[512] = "unset";

	callsite_prepare();
	pthread_attr_init(&attributes);
	cr_assert_eq(pthread_attr_setstacksize(&attributes, 16384), 0);
	cr_assert_eq(pthread_create(&thread, &attributes, on_small_stack, site), 0);
	pthread_join(thread, NULL);
	cr_assert(is_site(site), "empty or whole, and no crash: %s", site);
}

/* Frees the numbers that libunwind's pipe would have, and looks for its bytes there. */
Test(callsite, reused_descriptors_stay_untouched)
{
	struct record record;
	char got[2048], byte;
	int ends[2], status;

	need_call_sites();
	listen_at(LOG_TARGET_SYSLOG);
	settings.trace = 4;
	pid_t child = fork();

	if (child == 0) {
		callsite_prepare(); /* the runner has threads: after its fork nobody walks */
		for (int fd = 0; fd < 64; fd++)
			close(fd);
		for (int i = 0; i < 8; i++)
			if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
				_exit(1);
		record = throttled();
		report(&record, NS_PER_S);
		for (int fd = 0; fd < 16; fd++)
			if (recv(fd, &byte, 1, MSG_DONTWAIT) != -1 || errno != EAGAIN)
				_exit(2);
		_exit(fcntl(16, F_GETFD) >= 0 ? 3 : 0);
	}
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
	cr_assert(next_datagram(got, sizeof(got)) > 0);
	cr_assert(strstr(got, " site=") != NULL, "%s", got);
	stop_listening();
}
