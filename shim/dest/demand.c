/* SPDX-License-Identifier: MIT */
/* Who was asked for something, and when: per thread, and for the process. */
#include "dest/demand.h"

#include "dest/handed.h"
#include "region/state.h"
#include "sys/arithmetic.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/second_count.h"
#include "sys/thread.h"

#define LASTING 10 /* seconds after a refusal for which work that all have done is counted */

/* ns, when any thread of this process, or of its parent before, last accepted a connection or read
 * a datagram that asks */
static cell64 accepted_at;
static _Atomic(int32_t) accepted_in; /* the process that did */
static cell64 served[2]; /* requests, of odd seconds and of even ones (sys/second_count.h) */

static struct thread_facts *note_demand(void)
{
	struct thread_facts *mine = thread_mine();

	mine->asked_at = monotonic();
	mine->worked_off &= THREAD_TRIED;
	mine->deferred = false;
	return mine;
}

void demand_note_refusal(int64_t now)
{
	int64_t second = now / NS_PER_S + 1;

	if (LOAD(shim_region->refused_in) != second)
		STORE(shim_region->refused_in, second);
}

bool demand_has_refusals(void)
{
	return LOAD(shim_region->refused_in) != 0;
}

/* A lost count among threads does no harm. */
void demand_count_in(cell64 cells[2], int64_t now)
{
	int64_t second = now / NS_PER_S;
	cell64 *cell = &cells[second & 1];

	STORE(*cell, second_count_add(LOAD(*cell), second));
}

int64_t demand_most_of(const cell64 cells[2], int64_t now)
{
	int64_t second = now / NS_PER_S, most = 0;

	for (int i = 0; i < 2; i++) {
		int64_t seen = LOAD(cells[i]);
		int64_t of_it = count_of(seen), age = second - second_of(seen);

		if (age >= -1 && age <= 1 && of_it > most)
			most = of_it;
	}
	return most;
}

void demand_count_served(int64_t now)
{
	demand_count_in(served, now);
	/* No line is shared as long as all is well. */
	if (LOAD(shim_region->refused_in) > now / NS_PER_S - LASTING)
		demand_count_in(shim_region->served, now);
}

int64_t demand_served(int64_t now)
{
	return demand_most_of(served, now);
}

void demand_accepted(void)
{
	struct thread_facts *mine = note_demand();

	STORE(accepted_at, mine->asked_at);
	STORE(accepted_in, mine->process);
}

int demand_last_served(void)
{
	return thread_mine()->served - 1;
}

void demand_request_read(int fd, bool another)
{
	struct thread_facts *mine = note_demand();

	demand_count_served(mine->asked_at);
	handed_read(mine->asked_at);
	mine->served = fd + 1;
	if (another)
		mine->serves_many = true;
}

int64_t demand_datagram_read(int fd, bool several)
{
	struct thread_facts *mine = thread_mine();

	demand_request_read(fd, several || (mine->owes && mine->served == fd + 1));
	mine->owes = true;
	STORE(accepted_at, mine->asked_at);
	return mine->asked_at;
}

void demand_answered(int fd)
{
	struct thread_facts *mine = thread_mine();

	if (mine->served == fd + 1)
		mine->owes = false;
}

bool demand_serves_many(void)
{
	return thread_mine()->serves_many;
}

bool demand_serves(void)
{
	return LOAD(accepted_in) == thread_process();
}

bool demand_is_new(uint32_t slot, int64_t failed_at)
{
	uint64_t before = demand_tried(slot);
	int64_t asked_at = thread_mine()->asked_at;

	if (failed_at == 0)
		return false;
	if (asked_at > failed_at)
		return !(before & demand_bit(slot));
	/* A thread, or a process, for each connection: it often connects before it reads. */
	return !(before & THREAD_TRIED) && LOAD(accepted_at) > failed_at;
}
