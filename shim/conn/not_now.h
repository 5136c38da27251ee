/* SPDX-License-Identifier: MIT */
/*
 * Servers that answer a connection only to say "not now": the first bytes of one, by protocol. A
 * client that takes them for an answer connects again at once, and each time the bytes that came
 * would pay for the next. HTTP/1 has a reader of its own (conn/http.h).
 */
#ifndef RETRYBUDGET_CONN_NOT_NOW_H
#define RETRYBUDGET_CONN_NOT_NOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum said {
	SAID_ANSWER,  /* or nothing that is known here */
	SAID_NOT_NOW, /* the server will not serve now */
	SAID_NOTHING, /* neither: the peers agree how to go on, and the answer is still to come */
	SAID_GO_ON,   /* neither, and the program's request is still to be sent */
};

/* True if servers that greet by a number of three digits, as for mail, listen at this port (host
 * byte order). Pure. */
bool not_now_is_greeted(int64_t port);

/* Bytes that a client of a SOCKS 5 proxy begins with: a version, a number, and the methods that it
 * knows, one at least, of which few know four. */
static inline bool not_now_may_be_offer(ssize_t n)
{
	return n >= 3 && n <= 6;
}

/* True if n bytes, the first that a program writes on a connection, are those of such a client.
 * Pure. */
bool not_now_is_offer(const void *bytes, size_t n);

/* When the bytes came. asked: the program had sent something before; else they are a greeting.
 * greets: conversations with this server are known to begin with one, or this has; elsewhere a
 * number may be a reading, or an answer. offered: what the program sent began as above. agreed:
 * words before them were neither. */
struct said_when {
	bool asked, greets, offered, agreed;
};

/* What n bytes say, the first of a connection, or those that follow words which were neither. Pure.
 */
enum said not_now_said(const void *bytes, size_t n, struct said_when when);

#endif
