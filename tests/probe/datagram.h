/* SPDX-License-Identifier: MIT */
/*
 * Requests by UDP, sent and heard in one of many ways, and their server: a socket of the program's
 * own, so that what arrives can be counted.
 * Usage of these programs: NAME SCENARIO [connected] [nonblocking|dontwait] [v6]
 *	[message|batch|write|writev] [alias]
 */
#ifndef RETRYBUDGET_TESTS_PROBE_DATAGRAM_H
#define RETRYBUDGET_TESTS_PROBE_DATAGRAM_H

#include "other_names.h"
#include "probe.h"

#define TRIES 6

static bool is_connected, nonblocking, dontwait, v6, message, plain_write, parts;
static bool batch, alias;
static struct sockaddr_storage to;
static socklen_t to_len;
static int server;

static void read_arguments(int argc, char **argv)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "connected", &is_connected },
		{ "nonblocking", &nonblocking },
		{ "dontwait", &dontwait },
		{ "v6", &v6 },
		{ "message", &message },
		{ "write", &plain_write },
		{ "writev", &parts },
		{ "batch", &batch },
		{ "alias", &alias },
	};

	for (int i = 2; i < argc; i++)
		for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++)
			if (strcmp(argv[i], flags[k].name) == 0)
				*flags[k].flag = true;
}

/* A server's socket; its address is where everything goes to from now on. */
static int new_server(void)
{
	struct sockaddr_in in = loopback(0);
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	to_len = v6 ? sizeof(in6) : sizeof(in);
	if (bind(fd, v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in, to_len) != 0)
		exit(PROBE_CANNOT);
	getsockname(fd, (struct sockaddr *)&to, &to_len);
	return fd;
}

static int new_client(void)
{
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | (nonblocking ? SOCK_NONBLOCK : 0), 0);

	if (is_connected && connect(fd, (struct sockaddr *)&to, to_len) != 0)
		give_up("connect");
	return fd;
}

static ssize_t ask(int fd, const char *text)
{
	struct iovec part = { (void *)text, strlen(text) };
	struct msghdr head = { .msg_name = is_connected ? NULL : &to,
		               .msg_namelen = is_connected ? 0 : to_len,
		               .msg_iov = &part,
		               .msg_iovlen = 1 };
	int flags = dontwait ? MSG_DONTWAIT : 0;

	if (batch) {
		struct mmsghdr one = { .msg_hdr = head };

		return sendmmsg(fd, &one, 1, flags) == 1 ? (ssize_t)one.msg_len : -1;
	}
#ifdef __GLIBC__
	if (alias && plain_write)
		return __write(fd, text, part.iov_len);
	if (alias)
		return __send(fd, text, part.iov_len, flags);
#endif
	if (plain_write)
		return write(fd, text, part.iov_len);
	if (parts)
		return writev(fd, &part, 1);
	if (message)
		return sendmsg(fd, &head, flags);
	if (is_connected)
		return send(fd, text, part.iov_len, flags);
	return sendto(fd, text, part.iov_len, flags, (struct sockaddr *)&to, to_len);
}

/* Reads what has come to the server; answers it if it should. */
static int arrived(bool answer)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char data[256];
	ssize_t size;
	int n = 0;

	while ((size = recvfrom(server, data, sizeof(data), 0, (struct sockaddr *)&from, &len)) >=
	       0) {
		n++;
		if (answer) /* past the shim: what a server says is no request */
			syscall(SYS_sendto, server, data, size, 0, &from, len);
		len = sizeof(from);
	}
	return n;
}

/* Waits for a datagram and reads it in the way that goes with the way of asking. */
static ssize_t hear(int fd, int ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char data[256];
	struct iovec part = { data, sizeof(data) };
	struct msghdr head = { .msg_iov = &part, .msg_iovlen = 1 };

	if (poll(&ready, 1, ms) != 1)
		return -1;
	if (batch) {
		struct mmsghdr one = { .msg_hdr = head };

		return recvmmsg(fd, &one, 1, 0, NULL) == 1 ? (ssize_t)one.msg_len : -1;
	}
#ifdef __GLIBC__
	if (alias)
		return __recvfrom_chk(fd, data, sizeof(data), sizeof(data), 0,
		                      (struct sockaddr *)&from, &len);
#endif
	if (plain_write)
		return read(fd, data, sizeof(data));
	if (parts)
		return readv(fd, &part, 1);
	if (message)
		return recvmsg(fd, &head, 0);
	if (is_connected)
		return recv(fd, data, sizeof(data), 0);
	return recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &len);
}

/* One request that is answered. */
static bool exchange(int fd, const char *text)
{
	bool sent = ask(fd, text) == (ssize_t)strlen(text);

	return arrived(true) == 1 && hear(fd, 5000) == (ssize_t)strlen(text) && sent;
}

struct scenario {
	const char *name;
	void (*play)(void);
};

static int play_scenario(const struct scenario *scenarios, size_t count, int argc, char **argv)
{
	read_arguments(argc, argv);
	server = new_server();
	for (size_t i = 0; i < count; i++)
		if (argc > 1 && strcmp(argv[1], scenarios[i].name) == 0) {
			scenarios[i].play();
			return 0;
		}
	return 2;
}

#endif
