/* SPDX-License-Identifier: MIT */
/*
 * The failures are real ones: the kernel is given another address, on this machine, that refuses or
 * that never answers, so that a socket which does not block, its poll and its SO_ERROR say what
 * they would say in an outage. It stands in the table of real calls: without the option no call of
 * the program passes here.
 */
#include "hook/inject.h"

#include "conn/park_options.h"
#include "conn/sockets.h"
#include "dest/destinations.h"
#include "pace/sinkhole.h"
#include "region/state.h"
#include "sys/real.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static struct inject_plan plans[INJECT_LINES];
static _Atomic(int32_t) made[INJECT_LINES];
static int plan_count;

static bool is_stream(int fd)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return real.getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM;
}

/* The program asks how its last connect went: that is no other attempt. */
static bool is_question(int fd)
{
	const struct socket_entry *entry = socket_find(fd);

	return entry && LOAD(entry->state) != SOCKET_NONE && !LOAD(entry->calling);
}

static enum inject_kind next_for(int fd, const struct sockaddr *to, socklen_t len)
{
	const struct destination *destination;
	char name[REGION_NAME];
	struct address address;
	struct name_hit hit;

	if (!shim_ready() || !address_read(&address, to, len) || !is_stream(fd) || is_question(fd))
		return INJECT_NOTHING;
	destination = destination_of(&address, &hit, monotonic());
	memcpy(name, destination->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < plan_count; i++)
		if (inject_means(&plans[i], name)) {
			int32_t number = atomic_load(&made[i]);

			if (number < INT32_MAX)
				number = atomic_fetch_add(&made[i], 1);
			return inject_step(&plans[i], number);
		}
	return INJECT_NOTHING;
}

static int fail(int fd, const struct sockaddr *to, socklen_t len, bool hang)
{
	struct sockaddr_in6 nowhere;
	socklen_t nowhere_len = to->sa_family == AF_UNIX ? 0 : sinkhole_find(fd, to, len, &nowhere);

	if (nowhere_len == 0) { /* of a unix socket: it is refused at once by nature */
		errno = ECONNREFUSED;
		return -1;
	}
	if (hang)
		(void)park_options_deafen(fd, nowhere.sin6_family == AF_INET6);
	return libc_own.connect(fd, (const struct sockaddr *)&nowhere, nowhere_len);
}

static int inject_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	int saved = errno;
	enum inject_kind kind = next_for(fd, to, len);

	if (kind == INJECT_UNREACHABLE) {
		errno = EHOSTUNREACH;
		return -1;
	}
	if (kind != INJECT_NOTHING) {
		park_options_hear(fd); /* it may have hung before */
		errno = saved;
		return fail(fd, to, len, kind == INJECT_HANG);
	}
	if (!is_question(fd))
		park_options_hear(fd);
	errno = saved;
	return libc_own.connect(fd, to, len);
}

void inject_prepare(void)
{
	const char *line = getenv(INJECT_VARIABLE), *end; /* in the constructor alone */

	for (; line && *line && plan_count < INJECT_LINES; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		if (!inject_parse(line, &plans[plan_count]))
			plan_count++;
	}
	if (plan_count == 0)
		return;
	real.connect = inject_connect;
#ifdef __GLIBC__
	real.__connect = inject_connect;
#endif
}
