/* SPDX-License-Identifier: MIT */
/*
 * What the kernel knows of a connection (TCP_INFO), said in our words: asked where the program's
 * own calls do not tell. Async-signal-safe; errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_TCP_INFO_H
#define RETRYBUDGET_CONN_TCP_INFO_H

#include "conn/sockets.h"

/* What became of a tracked socket whose outcome is open, as the kernel knows it (TCP_INFO):
 * counts it and moves the entry on. Called when the host is about to give the number up. */
void tcp_info_ask(int fd, struct socket_entry *entry);

/* True if the host has waited long enough for an answer to call it a timeout: a second since it
 * last sent, or since it connected, or far longer than answers take. One system call. */
bool tcp_info_waited(int fd, const struct socket_entry *entry);

/* True if the peer's kernel has acknowledged all that was sent (also where nobody can tell): then
 * the peer had the request when it closed, otherwise it had closed before. One system call. */
bool tcp_info_taken(int fd);

/* ns that the first answer on a connection took, which has just come; -1 = nobody knows. A system
 * call where it is older than a second. */
int64_t tcp_info_answer_time(int fd, const struct socket_entry *entry);

/* True if the peer has answered the connect (also where nobody can tell). Not so at first where a
 * connect reports success before it has sent anything, and its outcome comes from a later call
 * (TCP_FASTOPEN_CONNECT), or where a request left with it (MSG_FASTOPEN). One system call. */
bool tcp_info_met(int fd);

/* True if the connection is up and the peer has acknowledged data on it. One system call. */
bool tcp_info_alive(int fd);

/* True if the server of a unix socket is this very process: it listened, and it accepts. What such
 * a connection comes to is the program's own doing, and no server's failure. One system call. */
bool tcp_info_is_own(int fd);

#endif
