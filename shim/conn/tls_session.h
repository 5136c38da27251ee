/* SPDX-License-Identifier: MIT */
/*
 * TLS sessions of the program (tls = on) and the connections that carry them. Which carries which
 * is seen: the first words of a session (ClientHello) go by its carrier while the program is in a
 * call of its TLS library. The library could be asked, but curl, which has a transport of its own,
 * tells OpenSSL of no descriptor.
 *
 * What is sent and received on a carrier inside such a call says nothing by itself, but for its
 * end: a handshake is no reply, and each reply, good or bad, is as many bytes as any other. What
 * the program sends and receives outside of such calls it takes to its library by calls that nobody
 * here sees (BIO_read, a pointer from dlsym). There bytes are an answer, as in clear text: since
 * the replies are never opened before us, no other answer would ever come.
 *
 * Tables by number, mapped once they are asked for. Async-signal-safe; errno is left alone. The
 * mark that a thread is in a call is a plain value, which siglongjmp or an exception may leave
 * behind, and fibers that change inside a call mix up: then too little is judged on carriers, and
 * nothing else is touched.
 */
#ifndef RETRYBUDGET_CONN_TLS_SESSION_H
#define RETRYBUDGET_CONN_TLS_SESSION_H

#include "conn/sockets.h"
#include "sys/thread.h"

#include <sys/uio.h>

/* Maps the tables. Until it has been called nothing is a carrier. */
void session_prepare(void);

/* Bracket of a call of the library. Returns what session_leave() wants: calls nest where one
 * session is carried by another. */
static inline const void *session_enter(const void *session)
{
	const void *outer = thread_facts.session;

	thread_facts.session = session;
	return outer;
}

static inline void session_leave(const void *outer)
{
	thread_facts.session = outer;
}

/* True inside the bracket of any session. */
static inline bool session_is_called(void)
{
	return thread_facts.session;
}

/* Looks at what is about to be sent inside such a call, the first of its parts, for the first words
 * of the session: then fd is its carrier, unless it has one. Nothing is read that the kernel could
 * not read. */
void session_look(int fd, const struct iovec *parts);

/* True if a watched number carries a session. */
static inline bool session_carries(int fd)
{
	const struct socket_entry *entry = socket_find(fd);

	return entry && LOAD(entry->traits) & TRAIT_CARRIER;
}

/* The number of the connection that carries a session, -1 = not known. */
int session_fd(const void *session);

/* What the next send on the carrier is to fail with, so that the library itself finds the words
 * for it; 0 = nothing. An error that ends the connection stays, for what was refused may still lie
 * in the library, and go with its close_notify. */
void session_tell(int fd, int err);
int session_told(int fd);

#endif
