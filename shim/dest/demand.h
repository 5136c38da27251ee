/* SPDX-License-Identifier: MIT */
/*
 * Demand: somebody else has asked the program for something, so that what it tries next is new
 * work. A server tells it by accepting connections and by reading requests from them. Times in ns.
 * Thread-safe, async-signal-safe; a count that is lost among threads does no harm.
 */
#ifndef RETRYBUDGET_DEST_DEMAND_H
#define RETRYBUDGET_DEST_DEMAND_H

#include "sys/thread.h"

#include <stdbool.h>
#include <stdint.h>

/* Of struct thread_facts.worked_off. */
static inline uint64_t demand_bit(uint32_t slot)
{
	return UINT64_C(1) << ((slot & 63) < 63 ? slot & 63 : 0);
}

/* The thread accepted a connection, which another thread may be started to serve. */
void demand_accepted(void);

/* The served connection that this thread read a request from last, or -1. */
int demand_last_served(void);

/* The thread read a request from a served connection, fd. another: the one that it read from before
 * is another, and still open. */
void demand_request_read(int fd, bool another);

/* The thread read a datagram, or a batch, from a socket that is asked; for which, as for a
 * connection, another thread may be started. several: nobody can say which of several requests the
 * thread is at. It cannot either if it has not answered the one before. Returns when: now, in ns.
 */
int64_t demand_datagram_read(int fd, bool several);

/* It sent something on that socket. */
void demand_answered(int fd);

/* True if this thread has served several connections at a time, as event loops do: whose request an
 * attempt of its is for cannot be told. */
bool demand_serves_many(void);

/* Some process of the region is refused something at `now` (ns); and whether one ever was. From
 * then on answers are counted as work that is done (demand_count_served()), also those of processes
 * that are given nothing but work that goes well. */
void demand_note_refusal(int64_t now);
bool demand_has_refusals(void);

/* Counts work that this process has done at now (ns): it was asked to serve a request, or had an
 * answer of another destination than the one that fails. */
void demand_count_served(int64_t now);

/* How much of it there was in the second of now, or the one before, whichever is more. */
int64_t demand_served(int64_t now);

/* The arithmetic of both: one more piece of work at `now`, and the most in the second of now or the
 * one before. cells: of odd seconds and of even ones, as in sys/second_count.h: the region's
 * `served` too, where that of all processes is counted, as long as any of them is refused
 * something. */
void demand_count_in(cell64 cells[2], int64_t now);
int64_t demand_most_of(const cell64 cells[2], int64_t now);

/* An attempt at a destination, of that slot, is made: what was asked for is worked off there.
 * Returns what was worked off before. */
static inline uint64_t demand_tried(uint32_t slot)
{
	struct thread_facts *mine = thread_mine();
	uint64_t before = mine->worked_off;

	mine->worked_off = before | demand_bit(slot) | THREAD_TRIED;
	return before;
}

/* As demand_tried(). True, once for each destination, if the attempt is new work: asked for since
 * the failure. Of a thread that makes its first attempt: if the process has accepted a connection
 * since. failed_at: ns, 0 = none is known. */
bool demand_is_new(uint32_t slot, int64_t failed_at);

/* True if this very process, not a parent of it, has accepted a connection. */
bool demand_serves(void);

#endif
