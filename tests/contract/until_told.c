/* SPDX-License-Identifier: MIT */
/* Tries a destination that refuses, twenty times a second, until a file appears, or half a minute.
 */
#include "trap.h"

int main(int argc, char **argv)
{
	int held, tries = 0;
	uint16_t bad = refusing_port(&held);

	while (argc > 1 && access(argv[1], F_OK) != 0 && tries++ < 600) {
		attempt(bad, NULL);
		usleep(50000);
	}
	return 0;
}
