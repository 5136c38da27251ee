/* SPDX-License-Identifier: MIT */
/* What a thread has read and written, as the kernel counts it. */
#ifndef RETRYBUDGET_SYS_THREAD_IO_H
#define RETRYBUDGET_SYS_THREAD_IO_H

#include <stdint.h>

enum { THREAD_IO_READ = 1, THREAD_IO_WROTE = 2 };

/* Bytes read and written so far, and calls that did, as far as 32 bits go. reads 0: not known. */
struct thread_io {
	uint32_t read, written, reads, writes;
};

/* Whether this thread has moved bytes by read() and write() and their kin since *mark was set:
 * files, pipes and terminals, whatever library or raw call did it, but for what only wakes an event
 * loop. Sets *mark anew: to not known, which is told as none moved, where it cannot be told (no
 * /proc, a sandbox, a program that may not look at itself). Some ten system calls, with a
 * descriptor of ours open between the first and the last. Async-signal-safe; errno is left alone.
 */
unsigned int thread_io_moved(struct thread_io *mark);

/* What happens between the two is left out of what has moved since *mark: a lookup reads files of
 * its own. Likewise. */
void thread_io_pause(struct thread_io *from);
void thread_io_resume(struct thread_io *mark, const struct thread_io *from);

#endif
