/* SPDX-License-Identifier: MIT */
/*
 * A server that fails, and sockets whose non-blocking connect to it fails: made, started, asked
 * what became of it, and compared with what they were before.
 */
#ifndef RETRYBUDGET_TESTS_PROBE_THROTTLED_H
#define RETRYBUDGET_TESTS_PROBE_THROTTLED_H

#include "probe.h"

#ifndef IPV6_MINHOPCOUNT
#define IPV6_MINHOPCOUNT 73
#endif

static bool refused, v6, mapped, bound, port;
static int held;                     /* the server's socket */
static struct sockaddr_storage to;   /* where it is for the program */
static struct sockaddr_storage from; /* what the program binds to */
static socklen_t len;

static const struct {
	const char *name;
	int level, option;
} options[] = {
	{ "IP_MINTTL", IPPROTO_IP, IP_MINTTL },
	{ "IP_TTL", IPPROTO_IP, IP_TTL },
	{ "IP_TOS", IPPROTO_IP, IP_TOS },
	{ "IPV6_MINHOPCOUNT", IPPROTO_IPV6, IPV6_MINHOPCOUNT },
	{ "IPV6_UNICAST_HOPS", IPPROTO_IPV6, IPV6_UNICAST_HOPS },
	{ "IPV6_V6ONLY", IPPROTO_IPV6, IPV6_V6ONLY },
	{ "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT },
	{ "TCP_SYNCNT", IPPROTO_TCP, TCP_SYNCNT },
	{ "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY },
	{ "TCP_FASTOPEN_CONNECT", IPPROTO_TCP, TCP_FASTOPEN_CONNECT },
	{ "SO_BINDTODEVICE", SOL_SOCKET, SO_BINDTODEVICE },
	{ "SO_MARK", SOL_SOCKET, SO_MARK },
	{ "SO_DONTROUTE", SOL_SOCKET, SO_DONTROUTE },
	{ "SO_RCVTIMEO", SOL_SOCKET, SO_RCVTIMEO },
	{ "SO_SNDTIMEO", SOL_SOCKET, SO_SNDTIMEO },
	{ "SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR },
	{ "SO_LINGER", SOL_SOCKET, SO_LINGER },
};

#define OPTIONS (sizeof(options) / sizeof(*options))

static unsigned char before[OPTIONS][32];

static void read_options(int fd, unsigned char found[OPTIONS][32])
{
	memset(found, 0, OPTIONS * 32);
	for (size_t i = 0; i < OPTIONS; i++) {
		socklen_t size = 32;

		getsockopt(fd, options[i].level, options[i].option, found[i], &size);
	}
}

static void compare_options(int fd)
{
	unsigned char now[OPTIONS][32];
	bool same = true;

	read_options(fd, now);
	for (size_t i = 0; i < OPTIONS; i++)
		if (memcmp(now[i], before[i], 32) != 0) {
			printf(" %s has changed", options[i].name);
			same = false;
		}
	printf(" options %s;", same ? "as before" : "LEFT BEHIND");
}

static void address(struct sockaddr_storage *storage, bool six, const char *host)
{
	memset(storage, 0, sizeof(*storage));
	storage->ss_family = six ? AF_INET6 : AF_INET;
	len = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	inet_pton(storage->ss_family, host,
	          six ? (void *)&((struct sockaddr_in6 *)storage)->sin6_addr
	              : (void *)&((struct sockaddr_in *)storage)->sin_addr);
}

static uint16_t *port_of(struct sockaddr_storage *storage)
{
	return storage->ss_family == AF_INET6 ? &((struct sockaddr_in6 *)storage)->sin6_port
	                                      : &((struct sockaddr_in *)storage)->sin_port;
}

/* Takes one connection and no more: the kernel drops every other SYN until somebody accepts. Filled
 * by raw calls, which are not the program's own attempts. */
static void fill(const struct sockaddr_storage *at, socklen_t size)
{
	if (listen(held, 0) != 0)
		give_up("listen");
	for (int i = 0; i < 2; i++) {
		int fd = socket(at->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

		syscall(SYS_connect, fd, at, size);
	}
	pause_ms(50);
}

static void start_failing_server(void)
{
	struct sockaddr_storage at;
	socklen_t size;
	uint16_t number;

	address(&at, v6 && !mapped, v6 && !mapped ? "::1" : "127.0.0.1");
	size = len;
	held = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (held < 0 || bind(held, (struct sockaddr *)&at, size) != 0 ||
	    getsockname(held, (struct sockaddr *)&at, &size) != 0)
		give_up("server");
	number = *port_of(&at);
	if (!refused)
		fill(&at, size);
	address(&to, v6, mapped ? "::ffff:127.0.0.1" : v6 ? "::1" : "127.0.0.1");
	*port_of(&to) = number;
}

static int new_socket(void)
{
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	address(&from, v6, mapped ? "::ffff:127.0.0.2" : v6 ? "::1" : "127.0.0.2");
	if (port) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		*port_of(&from) = htons(20000 + getpid() % 10000);
	}
	if ((bound || port) && bind(fd, (struct sockaddr *)&from, len) != 0)
		give_up("bind");
	read_options(fd, before);
	return fd;
}

static int start(int fd)
{
	return connect(fd, (struct sockaddr *)&to, len) == 0 ? 0 : errno;
}

static int pending_error(int fd)
{
	socklen_t size = sizeof(int);
	int err = -1;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size);
	return err;
}

/* Waits until the connect is over; the events that say so. */
static int over(int fd)
{
	struct pollfd entry = { .fd = fd, .events = POLLIN | POLLOUT | POLLPRI };

	return poll(&entry, 1, 15000) == 1 ? entry.revents : 0;
}

/* Its connect is throttled. */
static int stormy_socket(void)
{
	if (!refused)
		storm_at(&to, len);
	return new_socket();
}

/* The connect that is throttled. */
static int begin(void)
{
	int fd = stormy_socket();

	printf(" %s;", error_name(start(fd)));
	return fd;
}

static void ask(int fd)
{
	printf(" events 0x%x,", over(fd));
	printf(" error %s,", error_name(pending_error(fd)));
	printf(" then %s;", error_name(pending_error(fd)));
	compare_options(fd);
}

/* Connects the same socket until the kernel starts anew; what it says on the way. */
static void again(int fd)
{
	int err, calls = 0;

	printf(" again:");
	do
		printf(" %s", error_name(err = start(fd)));
	while (err != EINPROGRESS && err != 0 && calls++ < 3);
	printf(";");
}

/* One that fails for real. settled: in time for storm_at, as the gate that it shuts is open a
 * second later. */
static void fail(bool settled)
{
	int fd = new_socket(), ms = 700, err;

	if (!refused) { /* sooner than the kernel's own end, which is three seconds away */
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
		if (settled)
			pause_ms((int)((2000 - ms + 50 - now_ms() % 1000) % 1000));
	}
	err = start(fd);
	if (err == EINPROGRESS && over(fd))
		err = pending_error(fd);
	if (err != (refused ? ECONNREFUSED : ETIMEDOUT))
		give_up("an attempt that must fail");
	close(fd);
}

#endif
