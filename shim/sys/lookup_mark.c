/* SPDX-License-Identifier: MIT */
/* The mark that a lookup leaves on its stack, and what of it still holds. */
#include "sys/lookup_mark.h"

/* A value that old stack contents will not hold by chance. */
static uintptr_t check_of(const struct lookup_mark *mark)
{
	return (uintptr_t)mark ^ (uintptr_t)thread_seed ^ (uintptr_t)0x6c6f6f6b75704d6bULL;
}

void thread_lookup_begin(struct lookup_mark *mark)
{
	mark->outer = thread_in_lookup() ? thread_facts.lookup : NULL;
	mark->check = check_of(mark);
	thread_facts.lookup = mark;
	mark->from.reads = 0;
	if (thread_facts.row >= THREAD_ROW)
		thread_io_pause(&mark->from);
}

void thread_lookup_end(struct lookup_mark *mark)
{
	mark->check = 0;
	thread_facts.lookup = mark->outer;
	thread_io_resume(&thread_facts.moved, &mark->from);
}

bool thread_is_marked(void)
{
	const struct lookup_mark *mark = thread_facts.lookup;

	/* The lookup's frame must be older, which is higher, than ours; if it is, its memory is
	 * part of this stack and can be read. */
	if ((uintptr_t)mark > (uintptr_t)__builtin_frame_address(0) &&
	    mark->check == check_of(mark))
		return true;
	thread_facts.lookup = NULL;
	return false;
}
