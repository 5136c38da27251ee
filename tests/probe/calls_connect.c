/* SPDX-License-Identifier: MIT */
/*
 * Every hooked call that makes, takes or asks about connections, with good and bad arguments. The
 * shim reads addresses before the kernel has checked them: a pointer that gives EFAULT must not
 * kill, and nothing beyond the given length may be read.
 */
#include "calls.h"

#include <stddef.h>

static uint16_t good, bad;

static int tcp(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static void connects(void)
{
	struct sockaddr_in to = loopback(good), nowhere = loopback(bad), *edge;
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	const struct sockaddr *address = (struct sockaddr *)&to;
	int fd = tcp(), file = open("/dev/null", O_RDONLY);

	SAY("connect", "bad descriptor", connect(-1, address, sizeof(to)));
	SAY("connect", "huge descriptor", connect(1 << 29, address, sizeof(to)));
	SAY("connect", "file", connect(file, address, sizeof(to)));
	SAY("connect", "no address", connect(fd, NULL, sizeof(to)));
	SAY("connect", "address nowhere", connect(fd, NOWHERE, sizeof(to)));
	SAY("connect", "length 0", connect(fd, address, 0));
	SAY("connect", "length 1", connect(fd, address, 1));
	SAY("connect", "length 2", connect(fd, address, 2));
	SAY("connect", "length 15", connect(fd, address, 15));
	SAY("connect", "length 4096", connect(fd, address, 4096));
	SAY("connect", "length -1", connect(fd, address, (socklen_t)-1));
	edge = at_the_edge(2);
	memcpy(edge, &to, 2);
	SAY("connect", "two bytes at the edge", connect(fd, (struct sockaddr *)edge, 2));
	SAY("connect", "another family", connect(fd, (struct sockaddr *)&six, sizeof(six)));
	SAY("connect", "refused", connect(fd, (struct sockaddr *)&nowhere, sizeof(nowhere)));
	SAY("connect", "refused again", connect(fd, (struct sockaddr *)&nowhere, sizeof(nowhere)));
	close(fd);
	fd = tcp();
	edge = at_the_edge(sizeof(to) + 1);
	memcpy(edge, &to, sizeof(to));
	SAY("connect", "at the edge", connect(fd, (struct sockaddr *)edge, sizeof(to)));
	SAY("connect", "twice", connect(fd, address, sizeof(to)));
	SAY("connect", "no family", connect(fd, &none, sizeof(none)));
	SAY("connect", "after that", connect(fd, address, sizeof(to)));
	printf("echo: %d\n", echo(fd, "word"));
	close(fd);
	close(file);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	SAY("connect", "datagram", connect(fd, address, sizeof(to)));
	SAY("connect", "datagram dissolved", connect(fd, &none, sizeof(none)));
	close(fd);
	fd = socket(AF_NETLINK, SOCK_RAW, 0);
	SAY("connect", "netlink",
	    connect(fd, (struct sockaddr *)&(struct sockaddr_storage) { .ss_family = AF_NETLINK },
	            12));
	close(fd);
}

/* Unix addresses need no terminator and may be cut anywhere. */
static void unix_connects(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	socklen_t head = offsetof(struct sockaddr_un, sun_path), len = sizeof(to);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char *edge;

	memset(to.sun_path, 'x', sizeof(to.sun_path));
	memcpy(to.sun_path, "/tmp/no-such-directory/", 23);
	SAY("connect", "path without end", connect(fd, (struct sockaddr *)&to, sizeof(to)));
	edge = at_the_edge(head + 5);
	memcpy(edge, &to, head + 5);
	SAY("connect", "path at the edge", connect(fd, (struct sockaddr *)edge, head + 5));
	SAY("connect", "empty path", connect(fd, (struct sockaddr *)&to, head));
	bind(listener, (struct sockaddr *)&(struct sockaddr_un) { .sun_family = AF_UNIX }, head);
	getsockname(listener, (struct sockaddr *)&to, &len); /* an abstract name of the kernel's */
	SAY("connect", "abstract, refused", connect(fd, (struct sockaddr *)&to, len));
	listen(listener, 4);
	pause_ms(20); /* the backoff of the driver's policy is over */
	SAY("connect", "abstract", connect(fd, (struct sockaddr *)&to, len));
	SAY("connect", "abstract twice", connect(fd, (struct sockaddr *)&to, len));
	close(fd);
	close(listener);
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	memset(&to, 0, sizeof(to));
	to.sun_family = AF_UNIX;
	strcpy(to.sun_path, "/dev/null");
	SAY("connect", "not a socket", connect(fd, (struct sockaddr *)&to, sizeof(to)));
	strcpy(to.sun_path, "/tmp/no-such-socket");
	SAY("connect", "missing", connect(fd, (struct sockaddr *)&to, sizeof(to)));
	close(fd);
}

static void options(void)
{
	struct sockaddr_in nowhere = loopback(bad);
	struct pollfd entry;
	struct tcp_info info;
	socklen_t len = sizeof(int), info_len = sizeof(info);
	int fd = connected(good), file = open("/dev/null", O_RDONLY), value = -1;
	char *edge = at_the_edge(1);

	SAY("getsockopt", "bad descriptor", getsockopt(-1, SOL_SOCKET, SO_ERROR, &value, &len));
	SAY("getsockopt", "file", getsockopt(file, SOL_SOCKET, SO_ERROR, &value, &len));
	SAY("getsockopt", "no error", getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &len));
	printf("value: %d, length %u\n", value, len);
	SAY("getsockopt", "value nowhere", getsockopt(fd, SOL_SOCKET, SO_ERROR, NOWHERE, &len));
	SAY("getsockopt", "no value", getsockopt(fd, SOL_SOCKET, SO_ERROR, NULL, &len));
	SAY("getsockopt", "length nowhere", getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, NOWHERE));
	SAY("getsockopt", "no length", getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, NULL));
	len = (socklen_t)-1;
	SAY("getsockopt", "negative length", getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &len));
	len = 0;
	SAY("getsockopt", "length 0", getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &len));
	SAY("getsockopt", "bad name", getsockopt(fd, SOL_SOCKET, 9999, &value, &len));
	SAY("getsockopt", "bad level", getsockopt(fd, 9999, SO_ERROR, &value, &len));
	SAY("getsockopt", "TCP_INFO", getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &info_len));
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	SAY("connect", "non-blocking", connect(fd, (struct sockaddr *)&nowhere, sizeof(nowhere)));
	entry = (struct pollfd) { .fd = fd, .events = POLLOUT };
	poll(&entry, 1, 5000);
	len = 1;
	SAY("getsockopt", "one byte", getsockopt(fd, SOL_SOCKET, SO_ERROR, edge, &len));
	printf("value: %s, length %u\n", error_name((unsigned char)*edge), len);
	close(fd);
	close(file);
}

static void sockets(void)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	int listener, fd, file = open("/dev/null", O_RDONLY);
	uint16_t port = refusing_port(&listener);

	SAY("socket", "bad domain", socket(999, SOCK_STREAM, 0));
	SAY("socket", "bad type", socket(AF_INET, 99, 0));
	SAY("socket", "bad flags", socket(AF_INET, SOCK_STREAM | 0x40000000, 0));
	SAY("socket", "bad protocol", socket(AF_INET, SOCK_STREAM, 999));
	SAY("socket", "flags", fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	printf("flags: %d %d\n", fcntl(fd, F_GETFD), (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	close(fd);
	SAY("accept", "bad descriptor", accept(-1, NULL, NULL));
	SAY("accept", "file", accept(file, NULL, NULL));
	SAY("accept", "not listening", accept(listener, NULL, NULL));
	listen(listener, 8);
	fcntl(listener, F_SETFL, O_NONBLOCK);
	SAY("accept", "nobody", accept(listener, NULL, NULL));
	SAY("accept4", "nobody", accept4(listener, NULL, NULL, 0));
	SAY("accept4", "bad flags", accept4(listener, NULL, NULL, 0x40000000));
	for (int i = 0; i < 4; i++)
		connected(port);
	SAY("accept", "address", accept(listener, (struct sockaddr *)&address, &len));
	printf("length: %u\n", len);
	SAY("accept", "address without length",
	    accept(listener, (struct sockaddr *)&address, NULL));
	SAY("accept", "address nowhere", accept(listener, NOWHERE, &len));
	len = 2;
	SAY("accept4", "short address",
	    fd = accept4(listener, (struct sockaddr *)&address, &len, SOCK_CLOEXEC));
	printf("length: %u, flags: %d\n", len, fcntl(fd, F_GETFD));
	SAY("shutdown", "bad how", shutdown(fd, 99));
	SAY("shutdown", "one way", shutdown(fd, SHUT_WR));
	SAY("shutdown", "both ways", shutdown(fd, SHUT_RDWR));
	SAY("shutdown", "bad descriptor", shutdown(-1, SHUT_RD));
	SAY("shutdown", "file", shutdown(file, SHUT_RD));
	fd = tcp();
	SAY("shutdown", "not connected", shutdown(fd, SHUT_RD));
	close(file);
}

static void lookups(void)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *found = NULL;

	SAY("getaddrinfo", "number", getaddrinfo("127.0.0.1", "80", &hints, &found));
	freeaddrinfo(found);
	SAY("getaddrinfo", "not a number", getaddrinfo("not.a.number", "80", &hints, &found));
	SAY("getaddrinfo", "nothing", getaddrinfo(NULL, NULL, NULL, &found));
	SAY("getaddrinfo", "bad service", getaddrinfo("127.0.0.1", "no-such", NULL, &found));
	hints.ai_flags = 0x40000000;
	SAY("getaddrinfo", "bad flags", getaddrinfo("127.0.0.1", "80", &hints, &found));
	hints = (struct addrinfo) { .ai_family = 999 };
	SAY("getaddrinfo", "bad family", getaddrinfo("127.0.0.1", "80", &hints, &found));
	hints = (struct addrinfo) { .ai_socktype = 999 };
	SAY("getaddrinfo", "bad type", getaddrinfo("127.0.0.1", "80", &hints, &found));
}

int main(void)
{
	int held;

	good = start_server(SERVER_ECHO, NULL);
	bad = refusing_port(&held);
	connects();
	unix_connects();
	options();
	sockets();
	lookups();
	return 0;
}
