/* SPDX-License-Identifier: MIT */
/*
 * What this thread has tried lately, and whether it has done anything else since: a thread whose
 * last try somewhere failed, and that comes back having done nothing else, is in a loop. Something
 * else is what brings bytes: a reply of another destination, a request on a connection that it
 * serves. A pause is nothing else, nor are lookups, files and log lines: loops do all of these.
 *
 * Kept in thread-local memory; a handler that runs in the middle of a change at worst loses one
 * entry. All functions: async-signal-safe. Times in ns.
 */
#ifndef RETRYBUDGET_DEST_TRIES_H
#define RETRYBUDGET_DEST_TRIES_H

#include "sys/thread.h"

#define TRIES_NOWHERE UINT32_MAX

/* The thread tried a destination (its slot), or its try there failed, or was refused by us. Before
 * tries_note() the caller has called thread_mine(). */
void tries_note(uint32_t slot, int64_t now);
void tries_failed(uint32_t slot, int64_t now);
void tries_denied(uint32_t slot, int64_t now);

/* True if it has tried there, as far as it remembers. */
bool tries_knows(uint32_t slot);

/* True if its last two tries there were refused. */
bool tries_is_denied(uint32_t slot);

/* The thread learned how a try there that went has ended: well, or in vain. */
void tries_ended(uint32_t slot, bool well);

/* True if the last fifteen or more tries there that went ended in vain. */
bool tries_are_vain(uint32_t slot);

/* True if its last try there failed, not before `since`, and it has done nothing else. */
bool tries_loop(uint32_t slot, int64_t since);

/* True if it has not tried there within horizon, and its last try somewhere else failed. Of the
 * destinations that no longer fit in the thread's words one bit each remembers, for about a minute,
 * that a try failed: each is swept once in that time, and two that share a bit count as one. */
bool tries_sweep(uint32_t slot, int64_t horizon, int64_t now);

/* The slow half of tries_heard(). */
void tries_something_else(uint32_t slot);

/* Bytes came from a destination, or from who is served (TRIES_NOWHERE). Cheap where nothing has
 * failed. */
static inline void tries_heard(uint32_t slot)
{
	if (thread_facts.stuck)
		tries_something_else(slot);
}

/* A refusal at `now`. Where it is one of a row, with no pause in between: the ns since the one
 * before; else -1. */
int64_t tries_refused(int64_t now);

/* What the thread has done in these ns, and since this was asked last: true if it may be work. It
 * read something, or took a millisecond or more in which it wrote something, or slept. Otherwise,
 * seen twice running, it spins. Asks the kernel: some ten system calls. */
bool tries_may_be_work(int64_t own);

/* True if the process, or with any_thread this thread, has made no try but the one at hand: a loop
 * of a shell has a process for each, curl a thread for each lookup. A pool's new thread is no loop.
 */
bool tries_is_first(bool any_thread);

/* It tried something new, which ends a row. */
static inline void tries_new(void)
{
	thread_facts.row = 0;
}

/* It was held until `now`: that was no pause of its own. */
void tries_held(int64_t now);

#endif
