/* SPDX-License-Identifier: MIT */
/*
 * The replies of connections that speak HTTP/1: for each number how far its reply has been read,
 * and what one says of the request. Replies are looked at from the first read after a request until
 * their status is known, and that of a failure until Retry-After is; bodies never are. Of replies
 * to requests that were sent together (pipelining) it is the first that tells.
 *
 * A fixed table beside the socket table, mapped for the first connection whose replies are read; if
 * it cannot be, none are.
 * Async-signal-safe, and no more thread-safe than reading one connection in two threads is: the
 * worst is a status not seen.
 */
#ifndef RETRYBUDGET_CONN_HTTP_REPLY_H
#define RETRYBUDGET_CONN_HTTP_REPLY_H

#include "conn/sockets.h"
#include "dest/destinations.h"

#include <sys/uio.h>

enum reply_said {
	REPLY_MORE,     /* its status is still to come */
	REPLY_OTHER,    /* it is no HTTP/1 */
	REPLY_SWITCHED, /* what follows is another protocol */
	REPLY_GOOD,     /* a status that is no failure */
	REPLY_FAILED,   /* one that is */
};

struct http_reply {
	int64_t later; /* ns from now, what Retry-After asks for; 0 = nothing */
	int status;    /* the one that failed; 0: it is no HTTP */
	bool is_whole; /* nothing more is to be learned of it: it has come as far as Retry-After */
};

/* TRAIT_HTTP for a connection whose replies are to be read, until one is not HTTP/1; else 0. */
uint32_t reply_trait(int fd, const struct policy *policy);

/* Reads the n bytes that lie in these parts: more of what came first after a request, or (policy
 * NULL) more of the head of a reply that said REPLY_FAILED. reply: of zeroes. */
enum reply_said reply_read(int fd, const struct policy *policy, const struct iovec *parts,
                           size_t count, size_t n, struct http_reply *reply);

/* What comes next on this number is the beginning of a reply. */
void reply_forget(int fd);

/* Puts down what a reply asked for. */
void reply_note_retry_after(struct destination *destination, const struct http_reply *reply);

#endif
