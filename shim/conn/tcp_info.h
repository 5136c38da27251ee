/* SPDX-License-Identifier: MIT */
/*
 * What the kernel knows of a connection (TCP_INFO), said in our words: asked where the program's
 * own calls do not tell. Async-signal-safe; errno is left alone.
 */
#ifndef RETRYBUDGET_CONN_TCP_INFO_H
#define RETRYBUDGET_CONN_TCP_INFO_H

#include "conn/sockets.h"
#include "sys/arithmetic.h"

#include <linux/tcp.h>

/* A program that waited this long (ns) for an answer and then hung up has met a timeout:
 * such ends leave no error behind. */
#define TCP_INFO_LONG_WAIT NS_PER_S

/* A connection is idle once nothing has come for so long (ms), and an end that comes so soon after
 * a message is its answer. */
#define TCP_INFO_IDLE_MS 1000

/* Of tcpi_state, which only the kernel's own headers name. */
enum { TCP_ESTABLISHED_ = 1, TCP_SYN_SENT_ = 2, TCP_CLOSE_ = 7, TCP_CLOSE_WAIT_ = 8 };

/* True if the peer has ended the connection, which the program has not closed yet. */
static inline bool tcp_info_is_ended(const struct tcp_info *info)
{
	return info->tcpi_state == TCP_CLOSE_WAIT_ || info->tcpi_state == TCP_CLOSE_;
}

/* Asks it all. False: this is no TCP, or nothing may be asked. One system call; errno may change.
 */
bool tcp_info(int fd, struct tcp_info *info);

/* True if the peer has acknowledged every byte sent; the SYN counts as one more. */
bool tcp_info_has_taken(const struct tcp_info *info);

/* ns from what was sent last to what came last, -1 = nobody knows: something was sent since. */
int64_t tcp_info_answered_in(const struct tcp_info *info);

/* True if the program has waited long enough for an answer to call it a timeout: a second since it
 * last sent, or since it connected, or far longer than answers take. One system call. */
bool tcp_info_waited(int fd, const struct socket_entry *entry);

/* True if the kernel knows the connection, or its connect, to go on: a call that says it has ended
 * was about another. One system call. */
bool tcp_info_goes_on(int fd);

/* True if what was sent last may have been a goodbye, whose only answer is the end: nothing came
 * for a second before it, and the end at once. Of a connection that has ended, and whose peer has
 * taken all. */
bool tcp_info_says_goodbye(const struct tcp_info *info);

enum idle {
	IDLE_NOT,    /* a message was under way */
	IDLE_CLOSED, /* the peer had closed before the last message came; or something between the
	              * two, as a NAT, had forgotten the connection meanwhile */
	IDLE_GOODBYE /* that message was one */
};

/* How idle a connection was, on which the peer has answered, when it ended by this error (0: in
 * order). asks: the last message is known to ask for something. One system call. */
enum idle tcp_info_idle(int fd, int err, bool asks);

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
