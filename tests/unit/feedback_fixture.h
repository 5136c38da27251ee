/* SPDX-License-Identifier: MIT */
/* Requests that fail and that work, and what the shim has made of them. */
#ifndef FEEDBACK_FIXTURE_H
#define FEEDBACK_FIXTURE_H

#include "track_fixture.h"

#include "conn/feedback.h"
#include "conn/settle.h"
#include "pace/pace.h"

static inline int64_t retries(void)
{
	return shim_region->tally.retries;
}

static inline int64_t mistaken(void)
{
	return shim_region->tally.mistaken;
}

/* One connection on which a request goes out; the peer takes it and hangs up. */
static inline void fails(const struct server *server, const char *request)
{
	struct talk talk = talk_to(server);

	cr_assert_eq(host_send(talk.host, request), (ssize_t)strlen(request));
	peer_hears(&talk);
	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	host_close(talk.host);
}

static inline void works(const struct server *server, const char *request)
{
	struct talk talk = talk_to(server);

	cr_assert_eq(host_send(talk.host, request), (ssize_t)strlen(request));
	peer_hears(&talk);
	peer_says(&talk, "done");
	cr_assert_eq(host_recv(talk.host, 8, 0), 4);
	host_close(talk.host);
}

/* A server whose destination has failed before: while all is well no request is looked at. */
static inline struct server serve_after_failure(void)
{
	struct server server = serve(8);

	fails(&server, "get ready\r\n");
	works(&server, "get ready\r\n");
	shim_region->tally.retries = 0;
	return server;
}

/* Works through a list: `each` tries for every entry, all in vain. */
static inline void work_through(const struct server *server, int from, int to, int each)
{
	char request[32];

	for (int i = from; i < to; i++) {
		snprintf(request, sizeof(request), "get job_%d\r\n", i);
		for (int n = 0; n < each; n++)
			fails(server, request);
	}
}

/* What the next try is taken for; it is then refused by us. */
static inline enum kind denied(const struct server *server)
{
	struct attempt try;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server->address,
	                                sizeof(server->address)));
	attempt_unanswered(&try, false, monotonic());
	host_close(fd);
	return try.rule->says;
}

#endif
