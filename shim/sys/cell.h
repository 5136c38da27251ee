/* SPDX-License-Identifier: MIT */
/*
 * A word that threads and processes share. The alignment is spelt out because in 32-bit processes a
 * 64-bit field has 4 otherwise (HAZARDS 21): shared memory would be laid out differently, and an
 * atomic across two cache lines is a locked bus.
 */
#ifndef RETRYBUDGET_SYS_CELL_H
#define RETRYBUDGET_SYS_CELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Said of a declaration too, and not only by -fvisibility of the definition: reached without a load
 * of its address from the global offset table. */
#define HIDDEN __attribute__((visibility("hidden")))

typedef _Atomic(int64_t) cell64 __attribute__((aligned(8)));
typedef _Atomic(uint64_t) ucell64 __attribute__((aligned(8)));

/* A call into libatomic would be a lock in disguise, and a dependency. */
_Static_assert(__atomic_always_lock_free(sizeof(cell64), 0), "64-bit atomics need no lock");
_Static_assert(sizeof(cell64) == 8, "the same in 32 and 64 bit");
_Static_assert(_Alignof(cell64) == 8, "the same in 32 and 64 bit");

/* Words that decide nothing alone: no order among them is asked for. */
#define LOAD(place)         atomic_load_explicit(&(place), memory_order_relaxed)
#define STORE(place, value) atomic_store_explicit(&(place), value, memory_order_relaxed)

/* Words behind which others are published. */
#define LOAD_ACQUIRE(place)         atomic_load_explicit(&(place), memory_order_acquire)
#define STORE_RELEASE(place, value) atomic_store_explicit(&(place), value, memory_order_release)

/* Of two words, where each side writes one and then reads the other: one of the two sees what the
 * other wrote. The write is a cell_swap_ordered(), or an exchange in the same order. */
#define LOAD_ORDERED(place) atomic_load(&(place))

static inline bool cell_swap_ordered(cell64 *cell, int64_t from, int64_t to)
{
	return atomic_compare_exchange_strong(cell, &from, to);
}

/* True if the caller is the one who changed the cell. */
static inline bool cell_swap(cell64 *cell, int64_t from, int64_t to)
{
	return atomic_compare_exchange_strong_explicit(cell, &from, to, memory_order_relaxed,
	                                               memory_order_relaxed);
}

#endif
