/* SPDX-License-Identifier: MIT */
/*
 * reply_timeout: a read that would wait for a reply, or for the greeting of a new connection, for
 * as long as the peer likes ends after the time that the policy says. Asked before the real call,
 * only on numbers with WATCH_TIMED. Not in mode = observe, which changes nothing.
 *
 * It is poll() that waits, so that nothing has to be taken off the socket again where siglongjmp or
 * cancellation leaves the call, and other threads and processes with the same socket see nothing of
 * it. Async-signal-safe; a cancellation point.
 */
#ifndef RETRYBUDGET_PACE_REPLY_TIMEOUT_H
#define RETRYBUDGET_PACE_REPLY_TIMEOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* wanted: bytes asked for, flags: as for recv, 0 for read. False: the program gets -1, and errno is
 * set: the time is over, which has been counted as a failure (once until an answer comes), or a
 * handler ended the call that would have ended the real one. */
bool reply_comes(int fd, size_t wanted, int flags);

/* The same for a read into parts, which are looked at only if they are there. */
bool reply_comes_in_parts(int fd, const struct iovec *parts, int n);

#endif
