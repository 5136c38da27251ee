/* SPDX-License-Identifier: MIT */
/*
 * A server that rejects requests inside TLS, and what the programs of both libraries print. Each
 * library's program gives it the session of an accepted connection as two functions.
 */
#ifndef RETRYBUDGET_TESTS_PROBE_TLS_H
#define RETRYBUDGET_TESTS_PROBE_TLS_H

#include "probe.h"

#define ASK "GET / HTTP/1.1\r\nHost: here\r\n\r\n"
#define BAD "HTTP/1.1 503 Busy\r\nContent-Length: 5\r\nRetry-After: %s\r\nX-Last: x\r\n\r\nnever"
#define OK  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Last: x\r\n\r\nworld"

/* What a server makes of a connection: a session, or NULL. Its reading and writing, as recv and
 * send. */
struct tls_server {
	void *(*welcome)(int peer);
	int (*receive)(void *session, void *data, int n);
	int (*reply)(void *session, const void *data, int n);
};

static volatile int *asked, *accepted; /* by the server: requests, connections */
static const char *later = "2";        /* seconds, in the Retry-After */
static int rejected = 2;

/* Each request is known by its empty line. */
static inline void tls_answer(const struct tls_server *server, int peer)
{
	void *session = server->welcome(peer);
	char data[4096], reply[256];
	int have = 0;

	while (session != NULL) {
		int got = server->receive(session, data + have, (int)sizeof(data) - 1 - have);
		char *end;

		if (got <= 0)
			return;
		have += got;
		data[have] = '\0';
		while ((end = strstr(data, "\r\n\r\n")) != NULL) {
			int n =
			    snprintf(reply, sizeof(reply), ++*asked <= rejected ? BAD : OK, later);

			have -= (int)(end + 4 - data);
			memmove(data, end + 4, (size_t)have + 1);
			server->reply(session, reply, n);
		}
	}
}

/* A child serves, with a child of its own for each connection. */
static inline uint16_t start_tls_server(const struct tls_server *server)
{
	int listener;
	uint16_t port = refusing_port(&listener);

	asked = shared_memory(sizeof(*asked));
	accepted = shared_memory(sizeof(*accepted));
	if (listen(listener, 16) != 0)
		give_up("server");
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGCHLD, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		for (;;) {
			int peer = accept(listener, NULL, NULL);

			++*accepted;
			if (fork() == 0) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				tls_answer(server, peer);
				_exit(0);
			}
			close(peer);
		}
	}
	close(listener);
	return port;
}

/* The status in the head of a reply; 0: there is none. */
static inline int tls_status(const char *reply)
{
	return strncmp(reply, "HTTP/1.1 ", 9) == 0 ? (int)strtol(reply + 9, NULL, 10) : 0;
}

/* True if all of a reply has come, with the body that belongs to its status. */
static inline bool tls_complete(const char *reply)
{
	const char *end = strstr(reply, "\r\n\r\n");

	return end != NULL && strlen(end + 4) == 5;
}

static inline const char *tls_seen(const char *reply)
{
	static char text[64];
	const char *body = strstr(reply, "\r\n\r\n");
	int status = tls_status(reply);

	if (body == NULL)
		return "half a reply";
	snprintf(text, sizeof(text), "%d %s", status, body + 4);
	return text;
}

#endif
