/* SPDX-License-Identifier: MIT */
/*
 * The head of an HTTP/1 reply, read as it comes in pieces of any size: its status, and Retry-After.
 * Pure: no I/O, no clock, no allocation; 48 bytes of state for each connection.
 *
 * Why no parser library. Debian's are http-parser (given up by its authors in 2022) and, inside
 * Node, llhttp. Both find the next status line by following every body, so all reads of a
 * connection would have to pass through them: http-parser takes 6,000 instructions for a common
 * reply of 230 bytes, where the data path of the shim has some tens for the whole exchange. The
 * socket table already knows where a reply begins (conn/sockets.h), and nearly every reply is
 * settled by its first 13 bytes. What is left is two short grammars, the status line and one header
 * field.
 */
#ifndef RETRYBUDGET_CONN_HTTP_H
#define RETRYBUDGET_CONN_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HTTP_LINE_LEN 13 /* "HTTP/1.1 200 ", all that most replies are looked at for */
#define HTTP_VALUE    40 /* of Retry-After: the longest date has 33 characters */
#define HTTP_HEAD_MAX 65536

/* Where in a reply the reader is. All-zero: before its first byte. */
struct http_reader {
	uint32_t passed; /* bytes of the head so far, for giving up on it */
	uint16_t status; /* 0 = not known yet */
	uint8_t place;   /* enum http_place of http.c */
	uint8_t matched; /* characters of the status line, or of the name of the field */
	char value[HTTP_VALUE];
};

enum http_said {
	HTTP_MORE,   /* nothing yet: go on with the bytes that come next */
	HTTP_NOT,    /* no HTTP/1 */
	HTTP_STATUS, /* reader->status is that of the reply; read on from *taken for Retry-After */
	HTTP_LATER,  /* reader->value holds the text of Retry-After */
	HTTP_END,    /* the head is over, or too long to be one; there was none */
};

/* Reads n more bytes, up to the first thing there is to say; *taken: how many of them. Interim
 * replies (1xx) are passed over, but for 101, which is a status: what follows is another protocol.
 * After HTTP_NOT, HTTP_LATER and HTTP_END begin again with a reader of zeroes. */
enum http_said http_read(struct http_reader *reader, const void *data, size_t n, size_t *taken);

/* True if n bytes begin a final reply with a status below 400: by far the commonest, and never a
 * failure. */
static inline bool http_is_fine(const void *data, size_t n)
{
	const unsigned char *bytes = data;
	uint64_t version, line;

	if (n < HTTP_LINE_LEN)
		return false;
	memcpy(&version, bytes, sizeof(version));
	memcpy(&line, "HTTP/1.1", sizeof(line));
	/* Version 1.0 differs in one bit. */
	return (version == line || memcmp(bytes, "HTTP/1.0", 8) == 0) && bytes[8] == ' ' &&
	       (bytes[9] == '2' || bytes[9] == '3') && (unsigned char)(bytes[10] - '0') < 10 &&
	       (unsigned char)(bytes[11] - '0') < 10 && bytes[12] <= ' ';
}

#endif
