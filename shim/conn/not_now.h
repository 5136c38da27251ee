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

enum said {
	SAID_ANSWER,  /* or nothing that is known here */
	SAID_NOT_NOW, /* the server will not serve now */
	SAID_NOTHING, /* neither: which way to go on, before the server answers */
	SAID_GO_ON,   /* neither, and what is wanted is still to be asked */
};

/* True if servers that greet by a number of three digits, as for mail, listen at this port (host
 * byte order). Pure. */
bool not_now_is_greeted(int64_t port);

/* Bytes that a client of a SOCKS 5 proxy begins with, at most: a version, a number, and the methods
 * that it knows, of which few know four. */
#define NOT_NOW_METHODS 6

/* When the bytes came. asked: the program had sent something before; else they are a greeting.
 * greets: conversations with this server are known to begin with one, or this has; elsewhere a
 * number may be a reading, or an answer. agreed: words before them were neither. */
struct said_when {
	bool asked, greets, agreed;
};

/* What n bytes say, the first of a connection, or those that follow words which were neither. Pure.
 */
enum said not_now_said(const void *bytes, size_t n, struct said_when when);

#endif
