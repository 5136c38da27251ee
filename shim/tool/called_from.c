/* SPDX-License-Identifier: MIT */
/* Call sites as function names, where the program's files tell them. */
#include "tool/called_from.h"

#include "region/sites.h"
#include "tool/logs_site.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the stack is our own here */

/* Where the program lies, "" if that is not known. */
static void directory_of(const struct family *family, char *out, size_t size)
{
	char link[64], *slash;
	ssize_t n;

	out[0] = '\0';
	if (family->count == 0)
		return;
	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)family->members[0].pid);
	n = readlink(link, out, size - 1);
	if (n < 0)
		return;
	out[n] = '\0';
	slash = strrchr(out, '/');
	if (slash)
		*slash = '\0';
}

bool called_from_print(FILE *out, const char *indent, const struct family *family,
                       const struct destination *of)
{
	char directory[PATH_MAX], site[4 * REGION_SITE];
	bool any = false;

	directory_of(family, directory, sizeof(directory));
	for (int i = 0; i < REGION_SITES; i++) {
		const char *kept = site_get(of, i), *name;

		if (!kept)
			continue;
		(void)snprintf(site, sizeof(site), "%s", family_text(kept, REGION_SITE));
		name = log_site_name(site, directory[0] ? directory : NULL);
		fprintf(out, "%scalled from %s%s%s%s\n", indent, name, *name ? " (" : "", site,
		        *name ? ")" : "");
		any = true;
	}
	return any;
}
