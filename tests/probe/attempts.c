/* SPDX-License-Identifier: MIT */
/*
 * Tries a port of loopback that refuses, without pause, for so long. The script that runs it counts
 * what the kernel was asked for.
 * Usage: attempts PORT MILLISECONDS
 */
#include "probe.h"

int main(int argc, char **argv)
{
	uint16_t port = (uint16_t)(argc > 1 ? atoi(argv[1]) : 9);
	int64_t end = now_ms() + (argc > 2 ? atoi(argv[2]) : 500);
	int made = 0, wrong = 0;

	for (; now_ms() < end && made < 20000; made++)
		wrong += attempt(port, NULL) != ECONNREFUSED;
	printf("%d bits: %s\n", (int)sizeof(void *) * 8,
	       wrong == 0 && made > 1 ? "refused each time" : "something else");
	return wrong != 0;
}
