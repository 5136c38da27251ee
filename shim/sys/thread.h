/* SPDX-License-Identifier: MIT */
/*
 * The few facts kept per thread. Thread-local memory of the initial-exec model: no lazy
 * allocation, usable in a handler (HAZARDS 65). Raw clone() threads may share it; everything here
 * is a hint that may be wrong without harm.
 */
#ifndef RETRYBUDGET_SYS_THREAD_H
#define RETRYBUDGET_SYS_THREAD_H

#include "sys/cell.h"
#include "sys/thread_io.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The thread has made an attempt. Not a field of its own: every thread of the program has these
 * facts, in memory of which libc keeps little for libraries. */
#define THREAD_TRIED (UINT64_C(1) << 63)

/* Refusals in a row from which a thread is watched (dest/tries.h). */
#define THREAD_ROW 10

/* Destinations whose last try a thread remembers (dest/tries.h). */
#define THREAD_TRIES 8

struct lookup_mark; /* sys/lookup_mark.h */

struct thread_facts {
	const struct lookup_mark *lookup; /* on the stack of the lookup this thread is in */
	uint64_t random;                  /* state of the jitter's generator */
	uint64_t looked_up;               /* hash of the name that a lookup here found last, or 0 */
	int32_t process;                  /* the pid for which the rest holds */
	int32_t id;
	int64_t asked_at;     /* ns, it last accepted a connection or read a request from one */
	uint64_t worked_off;  /* a bit per destination: tried since then; THREAD_TRIED */
	const void *session;  /* the TLS session in a call of which it is (conn/tls_session.h) */
	const int *error;     /* where its errno is, once asked: that is a call each time */
	int32_t served;       /* the served connection that it read from last, + 1; 0 = none */
	bool serves_many : 1; /* it has had two of them open at a time: an event loop */
	bool owes : 1;     /* `served` is a socket of datagrams, and nothing was sent there since */
	bool deferred : 1; /* since asked_at a connect of its went as deferred (pace/defer.h) */
	/* What it has tried lately: dest/tries.h. */
	bool stuck : 1;       /* a try failed, and it has done nothing else since */
	bool never_waits : 1; /* it has been seen not to wait for its connects (pace/ahead.h) */
	bool spun : 1;        /* the last refusal of the row looked like a spin */
	uint8_t tried;        /* tries in all */
	int16_t row;          /* refusals in a row */
	uint32_t back_at;     /* ms, when it would be back had its refusals been real failures */
	int32_t refused; /* the socket of the last of them, + 1; negative: parked (pace/ahead.h) */
	int64_t row_at;  /* ns, the last refusal of the row */
	int64_t row_spent;      /* ns of a processor that it had used by then */
	struct thread_io moved; /* what it had read and written */
	uint64_t tries[THREAD_TRIES];
	uint64_t
	    swept; /* bits of destinations that it has failed at, beyond those (dest/tries.h) */
};

extern HIDDEN __thread struct thread_facts thread_facts;

/* What no memory of the program holds by chance, from the kernel; set by thread_setup(). */
extern HIDDEN uint64_t thread_seed;

/* Prepares fork detection and the seed. Call from the constructor. False: the kernel does not help
 * to tell forks, and each look costs a system call. */
bool thread_setup(void);

/* True in the process that thread_setup() was called in, and in its vfork children: not in one that
 * was forked, nor where the kernel does not help to tell. */
bool thread_is_of_first(void);

/* Wiped by fork; NULL where the kernel cannot (before 4.14): then the kernel is asked each time. */
extern HIDDEN _Atomic(int32_t) *thread_page;

/* The slow half of thread_process(), and of thread_mine(). */
int32_t thread_ask_process(void);
struct thread_facts *thread_renew(int32_t process);

/* The process that this memory belongs to: the parent's in a vfork child. */
static inline int32_t thread_process(void)
{
	int32_t process = thread_page ? LOAD(*thread_page) : 0;

	return process ? process : thread_ask_process();
}

/* The facts of this thread, for this process: what was of a parent is gone. */
static inline struct thread_facts *thread_mine(void)
{
	int32_t process = thread_process();

	return thread_facts.process == process ? &thread_facts : thread_renew(process);
}

/* The kernel's id of this thread, also right after fork. Async-signal-safe. */
static inline int32_t thread_id(void)
{
	return thread_mine()->id;
}

/* True in a vfork child, which runs in its parent's memory with descriptors of its own. One system
 * call. False where it cannot be told. */
bool thread_is_borrowed(void);

/* As thread_process(), or 0 in a forked process of which nothing has been noted yet: what it has
 * then is all its parent's. Notes nothing itself, for who closes an inherited descriptor may be a
 * vfork child, and would put its own number in the place of its parent's, for good. */
static inline int32_t thread_process_noted(void)
{
	return thread_page ? LOAD(*thread_page) : thread_ask_process();
}

/* The generator of this thread, seeded from the kernel, reseeded in a forked child, so that
 * children do not jitter in lock-step. */
uint64_t *thread_random(void);

/* What this thread reads from here to its next try is not looked at: a library that is loaded is
 * read, and is no work. rsyslog loads its network stream anew for each try. */
static inline void thread_reads_unknown(void)
{
	if (thread_facts.row >= THREAD_ROW)
		thread_facts.moved.reads = 0;
}

#endif
