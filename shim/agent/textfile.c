/* SPDX-License-Identifier: MIT */
/* A temporary file on the same file system, and a rename. Its name ends otherwise than the
 * collector looks for. */
#include "agent/textfile.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool complain(const char *directory, const char *what)
{
	fprintf(stderr, "retrybudgetd: --textfile %s: cannot %s: %s\n", directory, what,
	        strerror(errno));
	return false;
}

/* A disk that was full for a moment leaves a gap, of which fclose() does not know. */
static bool close_whole(FILE *out)
{
	const bool was_whole = !ferror(out);

	if (fclose(out) != 0)
		return false;
	if (!was_whole)
		errno = EIO; /* what it was nobody knows any more */
	return was_whole;
}

bool textfile_write(const char *directory, const struct totals *totals, const struct round *round)
{
	static char next[PATH_MAX], name[PATH_MAX]; /* one thread */
	FILE *out;
	int fd;

	if ((size_t)snprintf(next, sizeof(next), "%s/.retrybudget.XXXXXX", directory) >=
	        sizeof(next) ||
	    (size_t)snprintf(name, sizeof(name), "%s/retrybudget.prom", directory) >=
	        sizeof(name)) {
		errno = ENAMETOOLONG;
		return complain(directory, "write there");
	}
	fd = mkstemp(next);
	if (fd < 0)
		return complain(directory, "make a file");
	(void)fchmod(fd, 0644);
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		unlink(next);
		return complain(directory, "write");
	}
	exposition_write(totals, round, out);
	if (!close_whole(out) || rename(next, name) != 0) {
		int saved = errno;

		unlink(next);
		errno = saved;
		return complain(directory, "write");
	}
	return true;
}
