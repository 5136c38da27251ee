/* SPDX-License-Identifier: MIT */
/* How an attempt ends after its call: by what the program asks later, or by its giving the number
 * up. Async-signal-safe. */
#ifndef RETRYBUDGET_CONN_ATTEMPT_END_H
#define RETRYBUDGET_CONN_ATTEMPT_END_H

#include "conn/sockets.h"

/* The program asked SO_ERROR and was told err: the outcome of a non-blocking connect. True: of one
 * that we throttled. */
bool attempt_observed(int fd, int err);

/* True if the outcome is for this process to tell: neither for a vfork child, which runs in our
 * memory, nor for a forked one that ends what it inherited while its parent goes on with it. */
bool attempt_is_ours(const struct socket_entry *entry);

/* The program ends the conversation, or its own half of it, but keeps the number. */
void attempt_hung_up(int fd, int how);

/* True if this thread is inside the real connect of the number: a proxy, preloaded behind us, puts
 * the connection that it has made in the place of the program's socket. */
bool attempt_is_calling(int fd);

/* The program gives a number up, or puts another file on it. */
void attempt_end(int fd);

/* The process ends, and may have connections that it never closed: those that can tell whether a
 * destination which failed is back are asked. Nothing is taken down, for code may run after this.
 * No system call where nothing has failed. Async-signal-safe; errno is left alone. */
void attempts_left_open(void);

#endif
