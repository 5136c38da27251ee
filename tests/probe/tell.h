/* SPDX-License-Identifier: MIT */
/*
 * The server and the cases of the programs that show what a call tells of a connection. Every case
 * has an address of its own, so that its attempts can be told apart in the records; each line
 * printed names the call, the address, and the attempts that must have been recorded if the call
 * was seen: f a first try, r a retry.
 *
 * The server answers what it is sent, but closes the connection when it gets a "d", and at every
 * other "t". A failure is told by the call or not at all: the connection stays open until the next
 * attempt was made.
 */
#ifndef RETRYBUDGET_TESTS_PROBE_TELL_H
#define RETRYBUDGET_TESTS_PROBE_TELL_H

#include "other_names.h"
#include "probe.h"

static uint16_t port;
static int number;
static int ends[2]; /* of a pipe, not blocking */

static struct sockaddr_in address_of(int last, uint16_t at)
{
	struct sockaddr_in address = loopback(at);

	address.sin_addr.s_addr = htonl(0x7f000100u + (uint32_t)last);
	return address;
}

static void begin(const char *name)
{
	printf("%s 127.0.1.%d ", name, ++number);
}

static int joined(void)
{
	struct sockaddr_in to = address_of(number, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	past_the_gate();
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		give_up("connect");
	return fd;
}

static bool is_dropped(char byte, int *turns)
{
	return byte == 'd' ||
	       (byte == 't' && __atomic_fetch_add(turns, 1, __ATOMIC_SEQ_CST) % 2 == 0);
}

static void serve_words(int listener)
{
	int *turns = shared_memory(sizeof(*turns));

	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int peer = accept(listener, NULL, NULL);
		char byte;

		if (peer < 0)
			continue;
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (recv(peer, &byte, 1, 0) == 1 && !is_dropped(byte, turns) &&
			       send(peer, &byte, 1, MSG_NOSIGNAL) == 1)
				;
			_exit(0);
		}
		close(peer);
	}
}

static uint16_t start(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	socklen_t len = sizeof(any);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(listener, (struct sockaddr *)&any, len) != 0 || listen(listener, 64) != 0 ||
	    getsockname(listener, (struct sockaddr *)&any, &len) != 0)
		give_up("listen");
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve_words(listener);
	}
	close(listener);
	return ntohs(any.sin_port);
}

static void start_telling(void)
{
	setvbuf(stdout, NULL, _IOFBF, 65536);
	signal(SIGPIPE, SIG_IGN);
	port = start();
	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
		give_up("pipe");
}

#endif
