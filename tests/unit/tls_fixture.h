/* SPDX-License-Identifier: MIT */
/* TLS sessions and what carries them. A session is only ever compared, so any pointer will do; what
 * goes over the carrier is sent by a call inside the session, as a library does. */
#ifndef RETRYBUDGET_TESTS_TLS_FIXTURE_H
#define RETRYBUDGET_TESTS_TLS_FIXTURE_H

#include "conn/tls_session.h"
#include "conn/exchange_begin.h"
#include "conn/tls_traffic.h"
#include "track_fixture.h"
#include "conn/settle.h"
#include "conn/kept.h"
#include "config/current.h"

#include <sys/wait.h>

#define ASK       "GET / HTTP/1.1\r\n\r\n"
#define FINE      "HTTP/1.1 200 OK\r\n\r\n"
#define BUSY      "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n"
#define HELLO     "\x16\x03\x01\x40\x05\x01hello" /* a record with the beginning of a ClientHello */
#define ENCRYPTED "\x17\x03\x03\x40\x05cipher"

static const char first[1], second[1];

static inline struct policy *policy_of_all(void)
{
	return (struct policy *)&config_current()->policies[0];
}

/* As the hooks on the socket do. */
static inline void carry(const struct talk *talk, const char *text)
{
	uint32_t fingerprint = traffic_look(talk->host, text, strlen(text));
	ssize_t sent;

	fingerprint = session_carries(talk->host) ? 0 : traffic_begin(talk->host, fingerprint);
	sent = send(talk->host, text, strlen(text), MSG_NOSIGNAL);
	traffic_sent(talk->host, sent, MSG_NOSIGNAL, fingerprint);
}

static inline void carry_out(const struct talk *talk)
{
	carry(talk, ENCRYPTED);
}

static inline void carry_in(const struct talk *talk)
{
	peer_says(talk, ENCRYPTED);
	cr_assert_gt(host_recv(talk->host, 64, 0), 0);
}

static inline void shake_hands(const struct talk *talk, const void *session)
{
	const void *outer = session_enter(session);

	carry(talk, HELLO);
	peer_hears(talk);
	carry_in(talk);
	session_leave(outer);
}

static inline void send_close_notify(const struct talk *talk)
{
	const void *outer;

	tls_traffic_close_notify(talk->host);
	outer = session_enter(first);
	carry_out(talk);
	session_leave(outer);
}

/* A read that brings nothing. */
static inline void wait_inside(const struct talk *talk)
{
	tls_traffic_received(talk->host, NULL, -1);
}

static inline void open_session(const struct talk *talk, const void *session)
{
	shake_hands(talk, session);
	cr_assert_eq(session_fd(session), talk->host);
	tls_traffic_opened(talk->host);
}

static inline struct talk talk_inside(void)
{
	struct talk talk = talk_start();

	open_session(&talk, first);
	return talk;
}

/* The program hands a request to its library. */
static inline void ask_inside(const struct talk *talk, const void *session)
{
	uint32_t fingerprint =
	    exchange_begin(talk->host, tls_traffic_look(talk->host, ASK, strlen(ASK)));
	const void *outer = session_enter(session);

	carry_out(talk);
	session_leave(outer);
	tls_traffic_sent(talk->host, true, fingerprint);
	peer_hears(talk);
}

static inline void reply_inside(const struct talk *talk, const void *session, const char *text)
{
	const void *outer = session_enter(session);

	carry_in(talk);
	session_leave(outer);
	tls_traffic_received(talk->host, text, (ssize_t)strlen(text));
}

#endif
