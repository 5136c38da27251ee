/* SPDX-License-Identifier: MIT */
/*
 * Somebody asks by a datagram between two connects that are refused: the second is new work where
 * the program is a service, which answers, and a retry where what came was a reply, or a line of a
 * log. Usage: asked WAY
 *   recvfrom, recvmsg, recvmmsg   a service reads by this call
 *   dup, fork, vfork              by another number; in a child; after a vfork child closed it all
 *   log                           nothing is ever answered
 *   read                          by read(), which does not say whom to answer
 *   client, connected             it is the client, which sends first, or connects first
 *   reused                        the service's socket is closed unseen, and its number is a pipe's
 */
#include "probe.h"

static int service, client;
static struct sockaddr_in from;
static bool is_connected;

static int bound(void)
{
	struct sockaddr_in own = loopback(0);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof(own)) != 0)
		give_up("socket");
	return fd;
}

static struct sockaddr_in name_of(int fd)
{
	struct sockaddr_in name;
	socklen_t len = sizeof(name);

	if (getsockname(fd, (struct sockaddr *)&name, &len) != 0)
		give_up("getsockname");
	return name;
}

/* By raw calls: nobody else's datagrams are looked at. */
static void goes(int fd, struct sockaddr_in to)
{
	printf("goes: %ld\n",
	       syscall(SYS_sendto, fd, "word", 4, 0, (struct sockaddr *)&to, sizeof(to)));
}

static ssize_t take(const char *way, int fd)
{
	char text[16];
	struct iovec part = { text, sizeof(text) };
	struct mmsghdr many = { .msg_hdr = { .msg_name = &from,
		                             .msg_namelen = sizeof(from),
		                             .msg_iov = &part,
		                             .msg_iovlen = 1 } };
	socklen_t len = sizeof(from);

	if (strcmp(way, "recvmsg") == 0)
		return recvmsg(fd, &many.msg_hdr, 0);
	if (strcmp(way, "recvmmsg") == 0)
		return recvmmsg(fd, &many, 1, 0, NULL) == 1 ? (ssize_t)many.msg_len : -1;
	if (strcmp(way, "read") == 0)
		return read(fd, text, sizeof(text));
	return recvfrom(fd, text, sizeof(text), 0, (struct sockaddr *)&from, &len);
}

static void asked(const char *way, int fd)
{
	goes(client, name_of(service));
	printf("asked: %zd\n", take(way, fd));
}

static void answer(int fd)
{
	printf("answers: %zd\n",
	       sendto(fd, "answer", 6, 0, (struct sockaddr *)&from, sizeof(from)));
}

/* A question and its reply, as the program's own client sees them. */
static void exchange(void)
{
	struct sockaddr_in to = name_of(service), own = name_of(client);
	char text[16];
	ssize_t sent = is_connected
	                   ? send(client, "word", 4, 0)
	                   : sendto(client, "word", 4, 0, (struct sockaddr *)&to, sizeof(to));

	printf("sent: %zd\n", sent);
	printf("served: %ld\n", syscall(SYS_recvfrom, service, text, sizeof(text), 0, NULL, NULL));
	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	goes(service, own);
	printf("reply: %zd\n", take("recvfrom", client));
}

static void try_at(uint16_t port)
{
	printf("connect: %s\n", error_name(attempt(port, NULL)));
}

static void as_client(uint16_t port)
{
	struct sockaddr_in to = name_of(service);

	if (is_connected && connect(client, (struct sockaddr *)&to, sizeof(to)) != 0)
		give_up("connect");
	exchange();
	try_at(port);
	exchange();
	try_at(port);
}

static void as_pipe(uint16_t port)
{
	int ends[2];
	char byte;

	try_at(port);
	syscall(SYS_close, service);
	if (pipe(ends) != 0)
		give_up("pipe");
	printf("same number: %s\n", ends[0] == service ? "yes" : "no");
	printf("write: %zd\n", write(ends[1], "p", 1));
	printf("read: %zd\n", read(ends[0], &byte, 1));
	try_at(port);
}

static void close_all_in_a_child(void)
{
	pid_t child = vfork();

	if (child == 0) {
		for (int i = 3; i < 64; i++)
			close(i);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "recvfrom";
	bool answers = strcmp(way, "log") != 0 && strcmp(way, "read") != 0;
	int held, by;
	uint16_t port = refusing_port(&held);

	service = by = bound();
	client = bound();
	is_connected = strcmp(way, "connected") == 0;
	if (is_connected || strcmp(way, "client") == 0) {
		as_client(port);
		return 0;
	}
	asked(way, by);
	if (answers)
		answer(by);
	if (strcmp(way, "reused") == 0) {
		as_pipe(port);
		return 0;
	}
	if (strcmp(way, "dup") == 0) {
		by = dup(service);
		close(service);
		service = by;
	}
	if (strcmp(way, "vfork") == 0)
		close_all_in_a_child();
	fflush(stdout);
	if (strcmp(way, "fork") == 0) {
		pid_t child = fork();

		if (child != 0) {
			waitpid(child, NULL, 0);
			return 0;
		}
	}
	try_at(port);
	asked(way, by);
	try_at(port);
	if (answers)
		answer(by);
	close(by);
	return 0;
}
