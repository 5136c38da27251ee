/* SPDX-License-Identifier: MIT */
/*
 * Resets, ends of stream and 503s.
 *
 * Closing a socket with unread bytes makes the kernel send a reset instead of the end of the stream
 * (RFC 2525, section 2.17), which destroys what the peer has not read yet, except on Linux. So what
 * has come is read first, as far as it is there: to wait for more would hold up the program, unless
 * it has nothing else to do. The kernel's own way (TCP_DEFER_ACCEPT) would change the listening
 * socket for everybody; where the server has set that itself, the request is always there.
 */
#include "admission/reject.h"

#include "sys/real.h"
#include "sys/text.h"
#include "sys/transient.h"

#include <errno.h>
#include <poll.h>

#define READ_AT_ONCE 512
#define READS_MOST   32 /* 16 KiB: a longer request ends in a reset */

/* A client sends its request on the heels of its handshake; one that does not has less claim to the
 * program's time than the next one. */
#define AT_LEAST_MS 2
#define AT_MOST_MS  20

static void let_it_arrive(int peer, int listener)
{
	struct pollfd at[] = { { .fd = peer, .events = POLLIN },
		               { .fd = listener, .events = POLLIN } };

	if (listener >= 0 && poll(at, 1, AT_LEAST_MS) == 0)
		(void)poll(at, 2, AT_MOST_MS - AT_LEAST_MS);
}

static void drain(int peer)
{
	char unread[READ_AT_ONCE];

	for (int i = 0; i < READS_MOST; i++)
		if (real.recv(peer, unread, sizeof(unread), MSG_DONTWAIT) < (ssize_t)sizeof(unread))
			return;
}

static void say_http(int peer, const struct admission_rule *rule)
{
	char reply[160];
	struct text text;

	text_start(&text, reply, sizeof(reply));
	text_string(&text, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: ");
	text_decimal(&text, admission_seconds(rule));
	text_string(&text, "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	(void)real.send(peer, reply, text.used, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void answer(int peer, const struct admission_rule *rule, int listener)
{
	/* Accepted sockets inherit this from the listening one: the close might wait. */
	struct linger linger = { .l_onoff = rule->reply == REPLY_RESET };

	(void)real.setsockopt(peer, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	if (rule->reply == REPLY_RESET)
		return;
	let_it_arrive(peer, listener);
	drain(peer);
	if (rule->reply == REPLY_HTTP)
		say_http(peer, rule);
	/* Not left to the close: a child that another thread forks just now holds the socket too.
	 */
	(void)real.shutdown(peer, SHUT_WR);
	drain(peer);
}

void reject(int peer, const struct admission_rule *rule, int listener)
{
	struct transient at;
	int saved = errno;

	transient_take(&at, peer);
	answer(peer, rule, listener);
	if (at.identity != 0)
		transient_close(&at);
	else
		real.close(peer); /* a sandbox that answers no getsockopt */
	errno = saved;
}

bool reject_interrupted(const struct shelter *shelter)
{
	int saved = errno;
	bool interrupts = false;
	sigset_t pending;

	if (sigpending(&pending) != 0)
		sigemptyset(&pending);
	for (int signal = 1; signal < NSIG && !interrupts; signal++) {
		struct sigaction action;

		interrupts = sigismember(&pending, signal) == 1 &&
		             sigismember(&shelter->signals, signal) == 0 &&
		             shelter_is_handled(signal, &action) && !(action.sa_flags & SA_RESTART);
	}
	errno = saved;
	return interrupts;
}
