/* SPDX-License-Identifier: MIT */
/*
 * Outcomes that no call has told: the program gives a connection up, and the kernel knows what
 * became of it. Async-signal-safe; errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_UNSEEN_H
#define RETRYBUDGET_CONN_UNSEEN_H

#include "conn/sockets.h"

/* What became of a tracked socket whose outcome is open, as the kernel knows it (TCP_INFO): counts
 * it and moves the entry on. Called when the program is about to give the number up. */
void unseen_ask(int fd, struct socket_entry *entry);

#endif
