/* SPDX-License-Identifier: MIT */
/*
 * Eight children of one parent loop without pause on a port that refuses. They are one family and
 * draw on one budget, so the kernel may see their first tries and the tokens, no more.
 * Usage: fork_budget CHILDREN MILLISECONDS MOST
 */
#include "probe.h"

static int loop(uint16_t port, int64_t ms)
{
	int64_t end = now_ms() + ms;
	int wrong = 0;

	while (now_ms() < end)
		wrong += attempt(port, NULL) != ECONNREFUSED;
	return wrong;
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 8, ms = argc > 2 ? atoi(argv[2]) : 1000;
	long most = argc > 3 ? atol(argv[3]) : 18, connects;
	int held, status, wrong = 0;
	uint16_t port;

	if (!private_network())
		return PROBE_CANNOT;
	port = refusing_port(&held);
	connects = kernel_connects();
	for (int i = 0; i < children; i++)
		if (fork() == 0)
			_exit(loop(port, ms) != 0);
	while (wait(&status) > 0)
		wrong += status != 0;
	connects = kernel_connects() - connects;
	if (getenv("PROBE_VERBOSE") != NULL)
		fprintf(stderr, "connects: %ld\n", connects);
	printf("children with a wrong errno: %d\n", wrong);
	printf("attempts that left the program: %s\n",
	       connects > most              ? "more than first tries and tokens"
	       : connects < most - children ? "fewer than the tokens allow"
	                                    : "first tries and tokens");
	return 0;
}
