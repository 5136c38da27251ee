/* SPDX-License-Identifier: MIT */
/*
 * The guess that an attempt was a retry, held against its request once that goes out. A wrong guess
 * is put right (tokens given back, the failure left for whoever answers it) and remembered
 * (track/habit.h). Async-signal-safe.
 */
#ifndef RETRYBUDGET_TRACK_HINDSIGHT_H
#define RETRYBUDGET_TRACK_HINDSIGHT_H

#include "track/sockets.h"

#include <stddef.h>

/* The first request of a connection went out. data: n bytes that the host has written. */
void hindsight_first(struct socket_entry *entry, const void *data, size_t n);

/* Another request on a kept connection did: it is nobody's retry. */
void hindsight_next(struct socket_entry *entry, const void *data, size_t n);

#endif
