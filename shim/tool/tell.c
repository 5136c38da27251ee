/* SPDX-License-Identifier: MIT */
/* How every subcommand tells a mistake in a configuration file: as compilers do, for editors. */
#include "tool/tell.h"

#include <stdio.h>

void tell(void *arg, const char *file, int line, const char *message)
{
	(void)arg;
	if (line > 0)
		fprintf(stderr, "%s:%d: %s\n", file, line, message);
	else
		fprintf(stderr, "%s: %s\n", file, message);
}
