/* SPDX-License-Identifier: MIT */
/* Two lines of /proc/thread-self/status tell it: 0 is none. */
#include "sys/confined.h"

#include "sys/cell.h"
#include "sys/forks.h"
#include "sys/shelter.h"
#include "sys/transient.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define LOOKS 32 /* of half a buffer each: the text has under 2 KiB, and never 8 */

static _Atomic(bool) seen; /* a filter */
static _Atomic(bool) by_itself;

enum answer { FREE, FILTERED, LOCKED, UNREAD };

/* Where the value of a line begins in a piece of the text. NULL: it is not there as a whole, and
 * may be in the next. */
static const char *value_of(const char *text, size_t n, const char *name)
{
	size_t length = strlen(name);

	for (size_t at = 0; at + length < n; at++)
		if (memcmp(text + at, name, length) == 0)
			return memchr(text + at + length, '\n', n - at - length)
			           ? text + at + length
			           : NULL;
	return NULL;
}

/* Of locked memory ("VmLck:      8 kB") the program is told before (it stands further up). */
static enum answer read_piece(const char *text, size_t n)
{
	const char *locked = value_of(text, n, "\nVmLck:\t");
	const char *filtered = value_of(text, n, "\nSeccomp:\t");

	if (locked && locked[strspn(locked, " ")] != '0')
		return LOCKED;
	if (filtered)
		return *filtered == '0' ? FREE : FILTERED;
	return UNREAD;
}

/* A kernel without filters has no such line. */
static enum answer ask(void)
{
	enum answer answer = UNREAD;
	struct transient at;
	char text[512];
	ssize_t n = sizeof(text);

	if (!transient_open_file(&at, "/proc/thread-self/status"))
		return UNREAD;
	for (int i = 0; i < LOOKS && answer == UNREAD && n == (ssize_t)sizeof(text); i++) {
		n = syscall(SYS_pread64, at.fd, text, sizeof(text),
		            (off64_t)i * (off64_t)(sizeof(text) / 2));
		answer = read_piece(text, n > 0 ? (size_t)n : 0);
	}
	transient_close(&at);
	return answer == UNREAD && n >= 0 ? FREE : answer;
}

bool confined_perhaps(void)
{
	struct shelter shelter;
	int saved = errno;
	forks_held held;
	enum answer answer = UNREAD;

	if (LOAD(seen) || LOAD(by_itself))
		return true;
	shelter_enter(&shelter);
	if (forks_hold(&held)) {
		answer = ask();
		forks_let(held);
	}
	shelter_leave(&shelter);
	if (answer == FILTERED)
		STORE(seen, true);
	errno = saved;
	return answer != FREE;
}

void confined_begin(void)
{
	STORE(by_itself, true);
}

bool confined_by_itself(void)
{
	return LOAD(by_itself);
}
