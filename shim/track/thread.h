/* SPDX-License-Identifier: MIT */
/*
 * The few facts kept per thread. Thread-local memory of the initial-exec model: no lazy
 * allocation, usable in a handler (TRAPS A8.6). Raw clone() threads may share it; everything here
 * is a hint that may be wrong without harm.
 */
#ifndef RETRYBUDGET_TRACK_THREAD_H
#define RETRYBUDGET_TRACK_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lookup_mark { /* in the frame of the hook of a lookup */
	const struct lookup_mark *outer;
	uintptr_t check;
};

struct thread_facts {
	const struct lookup_mark *lookup; /* on the stack of the lookup this thread is in */
	uint64_t random;                  /* state of the jitter's generator */
	uint64_t looked_up;               /* hash of the name that a lookup here found last, or 0 */
	int32_t process;                  /* the pid for which the two below hold */
	int32_t id;
	bool tried;          /* it has made an attempt */
	int64_t asked_at;    /* ns, it last accepted a connection or read a request from one */
	uint64_t worked_off; /* a bit per destination: tried since then */
};

extern __thread struct thread_facts thread_facts;

/* Prepares fork detection and the seed. Call from the constructor. */
void thread_setup(void);

/* The kernel's id of this thread, also right after fork. Async-signal-safe. */
int32_t thread_id(void);

/* True in a vfork child, which runs in its parent's memory with descriptors of its own. One system
 * call. False where it cannot be told. */
bool thread_is_borrowed(void);

/* The process that this memory belongs to: the parent's in a vfork child. */
int32_t thread_process(void);

/* Somebody asked this thread for something: it accepted a connection (which another thread may be
 * started to serve), or read a request from one. */
void thread_asked(bool accepted);

/* True, once for each destination, if an attempt at it is new work: asked for since the failure. Of
 * a thread that makes its first attempt: if the process has accepted a connection since. slot: of
 * the destination; failed_at: ns, 0 if it answers none, then only noted. */
bool thread_is_asked(uint32_t slot, int64_t failed_at);

/* The generator of this thread, seeded from the kernel, reseeded in a forked child, so that
 * children do not jitter in lock-step. */
uint64_t *thread_random(void);

/* Bracket of a real lookup: connects and lookups made by NSS modules inside it are not the host's
 * attempts. Brackets nest. */
void thread_lookup_begin(struct lookup_mark *mark);
void thread_lookup_end(struct lookup_mark *mark);

/* True inside the bracket. A mark left behind by siglongjmp or an exception is noticed once its
 * memory has been written over (A2.4). */
bool thread_in_lookup(void);

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
