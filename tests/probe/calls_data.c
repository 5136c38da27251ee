/* SPDX-License-Identifier: MIT */
/*
 * Every hooked call that carries data, with good and bad arguments, on a connection that the shim
 * follows and on descriptors that it does not. An empty read is not the end of a connection, and a
 * peek is not a reply: at the end the destination must still count as healthy.
 */
#include "calls.h"

#include <limits.h>

#define LARGE ((size_t)(sizeof(size_t) > 4 ? 3 : 1) << 30) /* as far as the address space goes */

static int sock, file, null;
static char data[256];

/* Has the server send back n bytes of its own, and waits until they are here. */
static void fill(size_t n)
{
	static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	struct pollfd entry = { .fd = sock, .events = POLLIN };
	int here = 0;

	syscall(SYS_sendto, sock, text, n, 0, NULL, 0);
	for (int i = 0; i < 100 && here < (int)n; i++) {
		poll(&entry, 1, 1000);
		ioctl(sock, FIONREAD, &here);
	}
}

static void sends(void)
{
	struct sockaddr_in nowhere = loopback(9);
	/* So many, since whoever traces this looks beyond the first. */
	static struct iovec bad[64] = { { NOWHERE, 4 } }, words[IOV_MAX + 1] = { { "word", 4 } };
	struct iovec part = { .iov_base = "word", .iov_len = 4 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	SAY("send", "bad descriptor", send(-1, "x", 1, 0));
	SAY("send", "file", send(file, "x", 1, 0));
	SAY("send", "nowhere", send(sock, NOWHERE, 4, 0));
	SAY("send", "nothing", send(sock, "", 0, 0));
	SAY("send", "word", send(sock, "word", 4, 0));
	SAY("sendto", "bad descriptor", sendto(-1, "x", 1, 0, NULL, 0));
	SAY("sendto", "word", sendto(sock, "word", 4, 0, NULL, 0));
	SAY("sendto", "address ignored",
	    sendto(sock, "word", 4, 0, (struct sockaddr *)&nowhere, sizeof(nowhere)));
	SAY("sendto", "address nowhere", sendto(sock, "word", 4, 0, NOWHERE, 16));
	SAY("sendto", "bad length", sendto(sock, "word", 4, 0, (struct sockaddr *)&nowhere, 9999));
	SAY("sendmsg", "bad descriptor", sendmsg(-1, &message, 0));
	SAY("sendmsg", "no message", sendmsg(sock, NULL, 0));
	SAY("sendmsg", "nowhere", sendmsg(sock, NOWHERE, 0));
	SAY("sendmsg", "word", sendmsg(sock, &message, 0));
	message.msg_iov = bad;
	SAY("sendmsg", "part nowhere", sendmsg(sock, &message, 0));
	message.msg_iovlen = 99999;
	SAY("sendmsg", "too many parts", sendmsg(sock, &message, 0));
	message.msg_iovlen = 0;
	SAY("sendmsg", "no parts", sendmsg(sock, &message, 0));
	SAY("write", "bad descriptor", write(-1, "x", 1));
	SAY("write", "nowhere", write(sock, NOWHERE, 4));
	SAY("write", "nothing", write(sock, "", 0));
	SAY("write", "word", write(sock, "word", 4));
	SAY("write", "read-only", write(file, "x", 1));
	SAY("write", "null", write(null, "x", 1));
	SAY("writev", "bad descriptor", writev(-1, &part, 1));
	SAY("writev", "word", writev(sock, &part, 1));
	SAY("writev", "no parts", writev(sock, &part, 0));
	SAY("writev", "negative parts", writev(sock, words, -1));
	SAY("writev", "too many parts", writev(sock, words, IOV_MAX + 1));
	SAY("writev", "parts nowhere", writev(sock, NOWHERE, 1));
	SAY("writev", "part nowhere", writev(sock, bad, 1));
	/* Six words went out; they must come back as they were sent, and nothing else. */
	SAY("recv", "echo", recv(sock, data, 24, MSG_WAITALL));
	data[24] = '\0';
	printf("text: %s\n", data);
}

static void receives(void)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	static struct iovec many[64];
	struct iovec parts[2] = { { data, 2 }, { data + 100, 2 } }, bad = { NOWHERE, 4 };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	SAY("recv", "bad descriptor", recv(-1, data, 1, 0));
	SAY("recv", "file", recv(file, data, 1, 0));
	SAY("recv", "nothing there", recv(sock, data, 1, MSG_DONTWAIT));
	SAY("recv", "error queue", recv(sock, data, 1, MSG_ERRQUEUE));
	fill(30);
	SAY("recv", "length 0", recv(sock, data, 0, 0));
	SAY("recv", "nowhere", recv(sock, NOWHERE, 4, 0));
	SAY("recv", "peek", recv(sock, data, 4, MSG_PEEK));
	SAY("recv", "peek and cut", recv(sock, data, 4, MSG_PEEK | MSG_TRUNC));
	SAY("recv", "word", recv(sock, data, 4, 0));
	SAY("recvfrom", "bad descriptor", recvfrom(-1, data, 1, 0, NULL, NULL));
	SAY("recvfrom", "length 0", recvfrom(sock, data, 0, 0, NULL, NULL));
	SAY("recvfrom", "word", recvfrom(sock, data, 4, 0, (struct sockaddr *)&from, &len));
	SAY("recvfrom", "length nowhere",
	    recvfrom(sock, data, 1, 0, (struct sockaddr *)&from, NOWHERE));
	SAY("recvmsg", "bad descriptor", recvmsg(-1, &message, 0));
	SAY("recvmsg", "no message", recvmsg(sock, NULL, 0));
	SAY("recvmsg", "word", recvmsg(sock, &message, 0));
	message.msg_iov = &bad;
	message.msg_iovlen = 0;
	SAY("recvmsg", "no parts", recvmsg(sock, &message, 0));
	message.msg_iovlen = 1;
	SAY("recvmsg", "part nowhere", recvmsg(sock, &message, 0));
	SAY("read", "bad descriptor", read(-1, data, 1));
	SAY("read", "length 0", read(sock, data, 0));
	SAY("read", "nowhere", read(sock, NOWHERE, 4));
	SAY("read", "word", read(sock, data, 4));
	SAY("read", "end of file", read(null, data, 4));
	SAY("read", "zero", read(file, data, 4));
	SAY("readv", "bad descriptor", readv(-1, parts, 2));
	SAY("readv", "no parts", readv(sock, parts, 0));
	SAY("readv", "negative parts", readv(sock, many, -1));
	SAY("readv", "parts nowhere", readv(sock, NOWHERE, 1));
	SAY("readv", "word", readv(sock, parts, 2));
	SAY("readv", "part nowhere", readv(sock, &bad, 1));
	SAY("recv", "the rest", recv(sock, data, sizeof(data), MSG_DONTWAIT));
}

/* Counts that do not fit an int must go through whole. */
static void large(void)
{
	char *space = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct iovec part = { space, LARGE };
	int ends[2];

	if (space == MAP_FAILED || pipe(ends) != 0)
		give_up("large");
	SAY("write", "large", write(null, space, LARGE));
	SAY("writev", "large", writev(null, &part, 1));
	SAY("write", "pipe", write(ends[1], "word", 4));
	SAY("read", "large", read(ends[0], space, LARGE));
	SAY("write", "pipe", write(ends[1], "word", 4));
	SAY("readv", "large", readv(ends[0], &part, 1));
	fill(10);
	SAY("recv", "large", recv(sock, space, LARGE, 0));
#ifdef __LP64__ /* a 64-bit kernel finds nothing wrong with 4 GiB of a 32-bit program */
	SAY("read", "more than there is", read(ends[0], data, SIZE_MAX));
	SAY("write", "more than there is", write(ends[1], data, SIZE_MAX));
#endif
	close(ends[0]);
	SAY("write", "broken pipe", write(ends[1], "word", 4));
	SAY("writev", "broken pipe", writev(ends[1], &(struct iovec) { "word", 4 }, 1));
	close(ends[1]);
	munmap(space, LARGE);
}

static void datagrams(void)
{
	struct sockaddr_in to = loopback(0), from = { 0 };
	socklen_t len = sizeof(to);
	int one = socket(AF_INET, SOCK_DGRAM, 0), two = socket(AF_INET, SOCK_DGRAM, 0);

	bind(one, (struct sockaddr *)&to, len);
	getsockname(one, (struct sockaddr *)&to, &len);
	SAY("sendto", "datagram", sendto(two, "word", 4, 0, (struct sockaddr *)&to, len));
	SAY("recvfrom", "datagram", recvfrom(one, data, 9, 0, (struct sockaddr *)&from, &len));
	printf("from: %s\n", inet_ntoa(from.sin_addr));
	SAY("sendto", "empty datagram", sendto(two, "", 0, 0, (struct sockaddr *)&to, len));
	SAY("recv", "empty datagram", recv(one, data, 9, 0));
	close(one);
	connect(two, (struct sockaddr *)&to, len);
	SAY("send", "to nobody", send(two, "word", 4, 0));
	SAY("send", "to nobody again", send(two, "word", 4, 0));
	close(two);
}

/* A descriptor passed over a unix socket arrives whole. */
static void passed(void)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control = { 0 };
	struct iovec part = { "x", 1 };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = &control,
		                  .msg_controllen = sizeof(control) };
	int ends[2], got;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		give_up("socketpair");
	control.head = (struct cmsghdr) { .cmsg_len = CMSG_LEN(sizeof(int)),
		                          .cmsg_level = SOL_SOCKET,
		                          .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), &sock, sizeof(sock));
	SAY("sendmsg", "descriptor", sendmsg(ends[0], &message, 0));
	memset(&control, 0, sizeof(control));
	part.iov_base = data;
	SAY("recvmsg", "descriptor", recvmsg(ends[1], &message, 0));
	memcpy(&got, CMSG_DATA(&control.head), sizeof(got));
	printf("echo: %d\n", echo(got, "passed"));
	close(got);
	SAY("shutdown", "pair", shutdown(ends[0], SHUT_WR));
	SAY("recv", "end", recv(ends[1], data, 1, 0));
	SAY("send", "after the end", send(ends[0], "x", 1, MSG_NOSIGNAL));
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	uint16_t port = start_server(SERVER_ECHO, NULL);
	struct timeval limit = { .tv_usec = 50000 };
	int64_t ms;

	signal(SIGPIPE, SIG_IGN);
	file = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_RDWR);
	sock = connected(port);
	sends();
	receives();
	large();
	datagrams();
	passed();
	close(sock);
	for (int i = 0; i < 3; i++) {
		int err = attempt(port, &ms);

		printf("healthy: %s, %s\n", error_name(err), length_of(ms, 1000));
	}
	sock = connected(port);
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	SAY("recv", "time limit", recv(sock, data, 1, 0));
	SAY("read", "time limit", read(sock, data, 1));
	close(sock);
	return 0;
}
