/* SPDX-License-Identifier: MIT */
/*
 * Each says what it wants before it looks at what the other does, so that of a fork and an opening
 * at the same moment at least one sees the other. No lock: whoever is stopped in here, or has left
 * its mark in a child's memory, must stop nobody.
 */
#include "sys/forks.h"

#include "sys/arithmetic.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HOLDERS 16
#define NAP     50000L          /* ns */
#define FORKS   NS_PER_S        /* so long a fork waits at most: a holder may get no processor */
#define OPENS   (NS_PER_S / 10) /* and an opening */
#define STALE   (5 * NS_PER_S)  /* a fork that began longer ago is none of this process */
#define YIELDS  20              /* naps of a fork for those who have waited for one before */

static _Atomic(int32_t) holders[HOLDERS]; /* their process, 0 = free */
static _Atomic(int32_t) forks, waiting;
static _Atomic(int64_t) forked_at;

/* Neither a cancellation point nor a sleep that a debugger's user would look for. */
static void nap(void)
{
	struct timespec length = { .tv_nsec = NAP };

	syscall(SYS_ppoll, NULL, 0, &length, NULL, sizeof(uint64_t));
}

/* A child of clone() has marks of its parent's threads. */
static void await(_Atomic(int32_t) *holder, int32_t process, int64_t until)
{
	int32_t marked = atomic_load(holder);

	if (marked != 0 && marked != process)
		atomic_compare_exchange_strong(holder, &marked, 0);
	while (atomic_load(holder) == process && monotonic() < until)
		nap();
}

static void before_fork(void)
{
	int saved = errno;
	int64_t until = monotonic() + FORKS;

	for (int i = 0; i < YIELDS && atomic_load(&waiting) > 0; i++)
		nap();
	atomic_store(&forked_at, monotonic());
	atomic_fetch_add(&forks, 1);
	for (int i = 0; i < HOLDERS; i++)
		await(&holders[i], thread_process(), until);
	errno = saved;
}

static void in_parent(void)
{
	atomic_fetch_sub(&forks, 1);
}

static void in_child(void)
{
	for (int i = 0; i < HOLDERS; i++)
		atomic_store(&holders[i], 0);
	atomic_store(&forks, 0);
	atomic_store(&waiting, 0);
}

void forks_prepare(void)
{
	(void)pthread_atfork(before_fork, in_parent, in_child);
}

static bool is_forking(void)
{
	return atomic_load(&forks) > 0 && monotonic() - atomic_load(&forked_at) < STALE;
}

static forks_held take_place(void)
{
	int32_t process = thread_process();

	for (int i = 0; i < HOLDERS; i++) {
		int32_t none = 0;

		if (atomic_compare_exchange_strong(&holders[i], &none, process))
			return &holders[i];
	}
	return NULL;
}

bool forks_hold(forks_held *held)
{
	int64_t until = 0;

	*held = take_place();
	if (!is_forking())
		return true;
	atomic_fetch_add(&waiting, 1);
	do {
		forks_let(*held);
		until = until ? until : monotonic() + OPENS;
		nap();
		*held = take_place();
	} while (is_forking() && monotonic() < until);
	atomic_fetch_sub(&waiting, 1);
	if (!is_forking())
		return true;
	forks_let(*held);
	*held = NULL;
	return false;
}

void forks_let(forks_held held)
{
	if (held)
		atomic_store(held, 0);
}
