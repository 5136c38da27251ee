/* SPDX-License-Identifier: MIT */
/* How every command tells a mistake in a configuration file: as compilers do, for editors. */
#include "tool/tell.h"

#include <stdio.h>

void tell(void *who, const char *file, int line, const char *message)
{
	if (who)
		fprintf(stderr, "%s: ", (const char *)who);
	if (line > 0)
		fprintf(stderr, "%s:%d: %s\n", file, line, message);
	else
		fprintf(stderr, "%s: %s\n", file, message);
}
