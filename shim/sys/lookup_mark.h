/* SPDX-License-Identifier: MIT */
/*
 * Whether a thread is inside a lookup. The mark stands in the frame of the hook, which a jump may
 * leave without a word, and the facts of the thread say where.
 */
#ifndef RETRYBUDGET_SYS_LOOKUP_MARK_H
#define RETRYBUDGET_SYS_LOOKUP_MARK_H

#include "sys/thread.h"

struct lookup_mark { /* in the frame of the hook of a lookup */
	const struct lookup_mark *outer;
	uintptr_t check;
	struct thread_io from; /* where a row of refusals is watched */
};

/* Bracket of a real lookup: connects and lookups made by NSS modules inside it are not the
 * program's attempts. Brackets nest. */
void thread_lookup_begin(struct lookup_mark *mark);
void thread_lookup_end(struct lookup_mark *mark);

/* The slow half of the next. */
bool thread_is_marked(void);

/* True inside the bracket. A mark left behind by siglongjmp or an exception is noticed once its
 * memory has been written over (HAZARDS 13). */
static inline bool thread_in_lookup(void)
{
	return thread_facts.lookup && thread_is_marked();
}

/* For the hook of a connect or a lookup, first of all: drops a mark that cannot lie around it. The
 * next turn of a loop whose alarm() jumped out of a lookup finds the old mark untouched, but in a
 * frame no older than its own. */
static inline __attribute__((always_inline)) void thread_drop_stale_lookup(void)
{
	if (thread_facts.lookup &&
	    (uintptr_t)thread_facts.lookup <= (uintptr_t)__builtin_frame_address(0))
		thread_facts.lookup = NULL;
}

#endif
