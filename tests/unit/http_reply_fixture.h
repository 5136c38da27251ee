/* SPDX-License-Identifier: MIT */
/* Requests and replies of HTTP/1, as the hooks see them. */
#ifndef RETRYBUDGET_TESTS_HTTP_REPLY_FIXTURE_H
#define RETRYBUDGET_TESTS_HTTP_REPLY_FIXTURE_H

#include "conn/http_reply.h"
#include "budget/streak.h"
#include "pace/pace.h"
#include "track_fixture.h"
#include "dest/demand.h"
#include "conn/kept.h"
#include "dest/tries.h"
#include "config/current.h"

#define BUSY  "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
#define LATER "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
#define FINE  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define ASK   "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OTHER "GET /other HTTP/1.1\r\nHost: a\r\n\r\n"

/* The program sends a request as the hooks do, but without a wait. Returns whether it was taken for
 * a retry. */
static inline bool asks(const struct talk *talk, const char *text)
{
	size_t n = strlen(text);
	uint32_t fingerprint = traffic_look(talk->host, text, n);
	struct attempt try;
	bool retry = traffic_may_retry(talk->host, fingerprint) &&
	             attempt_begin_request(&try, talk->host, fingerprint, 0);

	cr_assert(socket_watched(talk->host) & WATCH_WRITE);
	if (retry)
		attempt_start_request(&try);
	fingerprint = traffic_begin(talk->host, fingerprint);
	cr_assert_eq(traffic_sent(talk->host, send(talk->host, text, n, 0), 0, fingerprint),
	             (ssize_t)n);
	peer_hears(talk);
	return retry;
}

/* The peer replies, and the program reads in pieces of n, everything there is. */
static inline void replies(const struct talk *talk, const char *text, size_t n)
{
	size_t left = strlen(text);

	peer_says(talk, text);
	while (left > 0) {
		ssize_t got = host_recv(talk->host, n < left ? n : left, 0);

		cr_assert(got > 0);
		left -= (size_t)got;
	}
}

#endif
