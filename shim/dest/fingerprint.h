/* SPDX-License-Identifier: MIT */
/*
 * The fingerprint of a request: what of it, hashed, tells whether two are the same. It covers the
 * body, read as it is written in pieces of any size; of a request that is not whole there is none.
 * Of one with a head (HTTP/1, RTSP, SIP) it covers the first line and the body; the other lines of
 * the head vary from try to try: a date, a trace id, the number of the try, their order.
 * Pure: no I/O, no allocation.
 */
#ifndef RETRYBUDGET_DEST_FINGERPRINT_H
#define RETRYBUDGET_DEST_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FINGERPRINT_MOST 65536 /* bytes that are looked at; a longer request has no fingerprint */
/* Set of a request with a head, which wants an answer. Tables go by the last bits. */
#define FINGERPRINT_HEAD  (UINT32_C(1) << 31)
#define FINGERPRINT_FIELD 40 /* as much of a line of the head as tells how long the body is */

/* How far a request has been read. All-zero: not at all. */
struct fingerprint_reader {
	uint64_t hash;
	uint64_t left; /* bytes of the body, or of its chunk, that are still to come */
	uint32_t seen;
	uint8_t place; /* enum fingerprint_place of fingerprint.c */
	uint8_t len;   /* of what line holds */
	bool chunked;
	bool method; /* it begins like a first line with a head behind it */
	bool length; /* all that was written is a number, the length of what follows */
	char line[FINGERPRINT_FIELD];
};

enum fingerprint_said {
	FINGERPRINT_NONE,    /* it tells nothing: a greeting, or too long a request */
	FINGERPRINT_PARTIAL, /* more of it is still to be written */
	FINGERPRINT_WHOLE,
};

/* Reads n more bytes of it. */
void fingerprint_read(struct fingerprint_reader *reader, const void *data, size_t n);

/* What has come of it with the last byte of a write. *fingerprint: of a whole one, neither 0 nor
 * UINT32_MAX; else 0. */
enum fingerprint_said fingerprint_said(const struct fingerprint_reader *reader,
                                       uint32_t *fingerprint);

/* The fingerprint of a request that the program wrote at once; 0: there is none. */
uint32_t fingerprint_of(const void *data, size_t n);

#endif
