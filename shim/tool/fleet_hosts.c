/* SPDX-License-Identifier: MIT */
/* Names first, of all hosts of the server; then one question each. */
#ifndef WITHOUT_HIREDIS
#include "tool/fleet_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

struct hosts {
	char (*names)[WIRE_KEY];
	size_t count, room;
	bool failed;
};

static void add_host(void *arg, const char *host)
{
	struct hosts *hosts = arg;

	if (hosts->count == hosts->room) {
		size_t room = hosts->room ? 2 * hosts->room : 256;
		char(*names)[WIRE_KEY] = reallocarray(hosts->names, room, sizeof(*names));

		if (!names) {
			hosts->failed = true;
			return;
		}
		hosts->names = names;
		hosts->room = room;
	}
	snprintf(hosts->names[hosts->count++], WIRE_KEY, "%s", host);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* False, told: the server does not answer. */
static bool tell_host(struct fleet_server *server, const char *prefix, const char *label,
                      char *name, fleet_host *found, void *arg)
{
	int64_t numbers[FLEET_HOST_SHOWN];
	struct wire_call call;

	if (!wire_begin(&call, "retrybudget_1_show_host", prefix, name, label))
		return true;
	if (fleet_ask(server, &call, numbers, FLEET_HOST_SHOWN) != FLEET_HOST_SHOWN)
		return false;
	if (numbers[0] == 0)
		return true;
	/* A name out of the server, not of ours. */
	for (char *at = name; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	found(arg, name, numbers);
	return true;
}

bool fleet_each_host(struct fleet_server *server, const char *prefix, const char *label,
                     fleet_host *found, void *arg)
{
	struct hosts hosts = { 0 };
	bool good = fleet_ask_hosts(server, prefix, add_host, &hosts) && !hosts.failed;

	if (good && hosts.count > 0)
		qsort(hosts.names, hosts.count, sizeof(*hosts.names), by_name);
	/* SCAN may name one twice. */
	for (size_t i = 0; good && i < hosts.count; i++)
		if (i == 0 || strcmp(hosts.names[i - 1], hosts.names[i]) != 0)
			good = tell_host(server, prefix, label, hosts.names[i], found, arg);
	free(hosts.names);
	return good;
}
#else
typedef int fleet_has_no_hosts;
#endif
