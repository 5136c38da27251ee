/* SPDX-License-Identifier: MIT */
/* The counts of /proc/thread-self/io, read by hand. */
#include "sys/thread_io.h"

#include "sys/confined.h"
#include "sys/forks.h"
#include "sys/shelter.h"
#include "sys/text.h"
#include "sys/transient.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The number after a name of the text, 0 if there is none. */
static uint32_t number_after(const char *text, size_t n, const char *name)
{
	size_t length = strlen(name);
	uint32_t number = 0;

	for (size_t at = 0; at + length < n; at++) {
		if (memcmp(text + at, name, length) != 0)
			continue;
		for (at += length; at < n && is_digit(text[at]); at++)
			number = number * 10 + (uint32_t)(text[at] - '0');
		return number;
	}
	return 0;
}

/* An eventfd moves eight bytes a call, a pipe that wakes an event loop one; either may be asked
 * once more, in vain. Nobody's work comes or goes by them. */
static bool only_woke(uint32_t bytes, uint32_t calls)
{
	return bytes == 1 || (bytes % 8 == 0 && bytes / 8 <= calls && calls <= bytes / 4 + 1);
}

static bool has_moved(uint32_t bytes, uint32_t calls)
{
	return bytes > 0 && !only_woke(bytes, calls);
}

/* Sets *now, and *own to what the kernel counts for reading it, once it has told. */
static bool read_counts(struct thread_io *now, uint32_t *own)
{
	struct transient at;
	char text[256];
	ssize_t n;

	if (!transient_open_file(&at, "/proc/thread-self/io"))
		return false;
	n = syscall(SYS_pread64, at.fd, text, sizeof(text), (off64_t)0);
	transient_close(&at);
	if (n <= 0)
		return false;
	*own = (uint32_t)n;
	now->read = number_after(text, (size_t)n, "rchar: ");
	now->written = number_after(text, (size_t)n, "wchar: ");
	now->reads = number_after(text, (size_t)n, "syscr: ") + 1; /* with this one */
	now->writes = number_after(text, (size_t)n, "syscw: ");
	return true;
}

/* errno is left alone. */
static bool look(struct thread_io *now, uint32_t *own)
{
	struct shelter shelter;
	int saved = errno;
	forks_held held;
	bool known = false;

	*now = (struct thread_io) { 0 };
	if (confined_by_itself())
		return false;
	shelter_enter(&shelter);
	if (forks_hold(&held)) {
		known = read_counts(now, own);
		forks_let(held);
	}
	shelter_leave(&shelter);
	errno = saved;
	return known;
}

unsigned int thread_io_moved(struct thread_io *mark)
{
	struct thread_io before = *mark, now;
	uint32_t own = 0;
	bool known = look(&now, &own);

	*mark = now;
	if (!known)
		return 0;
	mark->read += own;
	if (before.reads == 0)
		return 0;
	return (has_moved(now.read - before.read, now.reads - 1 - before.reads) ? THREAD_IO_READ
	                                                                        : 0U) |
	       (has_moved(now.written - before.written, now.writes - before.writes)
	            ? THREAD_IO_WROTE
	            : 0U);
}

void thread_io_pause(struct thread_io *from)
{
	uint32_t own;

	look(from, &own);
}

void thread_io_resume(struct thread_io *mark, const struct thread_io *from)
{
	struct thread_io now;
	uint32_t own;

	if (mark->reads == 0 || from->reads == 0 || !look(&now, &own))
		return;
	mark->read += now.read + own - from->read;
	mark->reads += now.reads + 1 - from->reads;
	mark->written += now.written - from->written;
	mark->writes += now.writes - from->writes;
}
