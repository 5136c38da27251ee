/* SPDX-License-Identifier: MIT */
/*
 * SO_SNDTIMEO bounds a blocking connect (socket(7)), so it bounds the wait before it.
 * Usage: sndtimeo [never]	so long that it is not to be said in ns, as a program means for ever
 */
#include "probe.h"

int main(int argc, char **argv)
{
	bool never = argc > 1 && strcmp(argv[1], "never") == 0;
	struct timeval limit = { .tv_usec = 300000 }, after = { 0 };
	socklen_t len = sizeof(after);
	int64_t ms;
	int held, fd, err;
	uint16_t port = refusing_port(&held);

	if (never)
		limit.tv_sec = (time_t)10000000000;
	printf("first: %s\n", error_name(attempt(port, NULL)));
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	err = spin_until_held(fd, port, &ms);
	printf("second: %s, %s\n", error_name(err),
	       ms < 100    ? "at once"
	       : ms < 250  ? "too early"
	       : ms < 2000 ? "in time"
	                   : "late");
	getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &after, &len);
	printf("option: %s\n",
	       after.tv_sec == limit.tv_sec && after.tv_usec / 1000 == 300 ? "kept" : "changed");
	return 0;
}
