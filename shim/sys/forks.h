/* SPDX-License-Identifier: MIT */
/*
 * No descriptor of ours is open while another thread forks: close-on-exec does not help a child
 * that never execs, and it would keep the descriptor for life. A fork waits for what is open, which
 * is so for microseconds, and what is to be opened waits for a fork. Neither waits long: a fork
 * goes on after a second, and what was to be opened is given up after a tenth of one. Children of
 * _Fork and clone, which run no handlers, are not covered.
 */
#ifndef RETRYBUDGET_SYS_FORKS_H
#define RETRYBUDGET_SYS_FORKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* From now on forks wait. Call from the constructor. */
void forks_prepare(void);

/* Where it is noted that a thread has something open; NULL: there was no room for that. */
typedef _Atomic(int32_t) *forks_held;

/* Keeps forks away until forks_let(); in a shelter. False: another thread forks, do without.
 * Async-signal-safe; errno may change. */
bool forks_hold(forks_held *held);
void forks_let(forks_held held);

#endif
