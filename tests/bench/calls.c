/* SPDX-License-Identifier: MIT */
/*
 * Makes one kind of call over and over, for pair (times), callgrind (instructions) and strace
 * (system calls). Usage:
 *
 *   calls OP COUNT		the calls, once
 *   calls OP COUNT worker	the calls once per byte on stdin, each time writing the ns per call
 *				as a double to stdout
 *
 * The other end of each connection lives in this process too, so that no scheduler stands between
 * the ends, but is driven by raw system calls, which a preloaded library cannot see; with
 *CALLS_END=libc by libc's, for a library that carries only what both ends hand to it. A lookup is
 *of the name in CALLS_NAME.
 */
#include "bench.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#define CHUNK 64 /* calls between two visits to the other end */

struct link {
	int client, server;
};

static bool by_libc; /* the other end's calls */
static struct sockaddr_in listening;
static int listener, null_fd, zero_fd;
static struct link links[2];
static char bytes[CHUNK];

static void raw_send(int fd, size_t n)
{
	if (by_libc)
		MUST(send(fd, bytes, n, MSG_NOSIGNAL));
	else
		MUST(RAW(SYS_sendto, fd, bytes, n, MSG_NOSIGNAL, NULL, 0));
}

static void raw_receive(int fd, size_t n)
{
	if (by_libc)
		MUST(recv(fd, bytes, n, MSG_WAITALL));
	else
		MUST(RAW(SYS_recvfrom, fd, bytes, n, MSG_WAITALL, NULL, NULL));
}

static int accept_there(void)
{
	return (int)(by_libc ? MUST(accept(listener, NULL, NULL))
	                     : MUST(RAW(SYS_accept4, listener, NULL, NULL, 0)));
}

static void close_there(int fd)
{
	if (by_libc)
		MUST(close(fd));
	else
		MUST(RAW(SYS_close, fd));
}

static int listen_there(uint16_t port, struct sockaddr_in *bound)
{
	socklen_t len = sizeof(*bound);
	int fd;

	if (!by_libc)
		return raw_listener(port, bound);
	*bound = loopback(port);
	fd = (int)MUST(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	MUST(bind(fd, (struct sockaddr *)bound, len));
	MUST(listen(fd, CHUNK * 2));
	MUST(getsockname(fd, (struct sockaddr *)bound, &len));
	return fd;
}

/* A connection past its first request and reply, so that its outcome is known. */
static struct link open_link(void)
{
	struct link link = { .client = (int)MUST(socket(AF_INET, SOCK_STREAM, 0)) };
	int one = 1;

	MUST(setsockopt(link.client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)));
	MUST(connect(link.client, (struct sockaddr *)&listening, sizeof(listening)));
	link.server = accept_there();
	MUST(send(link.client, bytes, 1, 0));
	raw_receive(link.server, 1);
	raw_send(link.server, 1);
	MUST(recv(link.client, bytes, 1, 0));
	return link;
}

/* Each op returns the ns that its count calls took. */

static int64_t receive_none(const struct link *link, int flags, long count)
{
	int64_t start = now_ns();
	char byte;

	for (long i = 0; i < count; i++)
		if (recv(link->client, &byte, 1, flags) != -1)
			die("recv found a byte");
	return now_ns() - start;
}

static int64_t receive_nothing(const struct link *link, long count)
{
	return receive_none(link, MSG_DONTWAIT, count);
}

static int64_t receive_empty(long count)
{
	return receive_nothing(&links[0], count);
}

/* While the reply to its request is still due. */
static int64_t receive_before_reply(int flags, long count)
{
	int64_t took;

	MUST(send(links[0].client, bytes, 1, 0));
	took = receive_none(&links[0], flags, count);
	raw_receive(links[0].server, 1);
	raw_send(links[0].server, 1);
	MUST(recv(links[0].client, bytes, 1, 0));
	return took;
}

static int64_t receive_due(long count)
{
	return receive_before_reply(MSG_DONTWAIT, count);
}

/* As an event loop does. */
static int64_t receive_due_nonblock(long count)
{
	int flags = MUST(fcntl(links[0].client, F_GETFL));
	int64_t took;

	MUST(fcntl(links[0].client, F_SETFL, flags | O_NONBLOCK));
	took = receive_before_reply(0, count);
	MUST(fcntl(links[0].client, F_SETFL, flags));
	return took;
}

/* On the serving side: the number comes from accept. */
static int64_t receive_accepted(long count)
{
	struct link link = { .server = (int)MUST(RAW(SYS_socket, AF_INET, SOCK_STREAM, 0)) };
	int64_t took;

	MUST(RAW(SYS_connect, link.server, &listening, sizeof(listening)));
	link.client = (int)MUST(accept(listener, NULL, NULL));
	took = receive_nothing(&link, count);
	MUST(close(link.client));
	MUST(RAW(SYS_close, link.server));
	return took;
}

static void *receive_beside(void *count)
{
	receive_nothing(&links[1], *(long *)count);
	return NULL;
}

/* Two threads at once, each on its own socket: shows a cache line that both write. */
static int64_t receive_empty_twice(long count)
{
	pthread_t beside;
	int64_t took;

	if (pthread_create(&beside, NULL, receive_beside, &count))
		die("pthread_create");
	took = receive_nothing(&links[0], count);
	pthread_join(beside, NULL);
	return took;
}

static int64_t receive_bytes(long count)
{
	int64_t took = 0;

	for (long done = 0; done < count; done += CHUNK) {
		raw_send(links[0].server, CHUNK);
		took -= now_ns();
		for (int i = 0; i < CHUNK; i++)
			MUST(recv(links[0].client, bytes, 1, 0));
		took += now_ns();
	}
	return took;
}

static int64_t send_bytes(long count)
{
	int64_t took = 0;

	for (long done = 0; done < count; done += CHUNK) {
		took -= now_ns();
		for (int i = 0; i < CHUNK; i++)
			MUST(send(links[0].client, bytes, 1, 0));
		took += now_ns();
		raw_receive(links[0].server, CHUNK);
	}
	return took;
}

/* The same by read() and write(), and by recv() and send() on a socket that nobody saw begin. */
static int64_t read_bytes(long count)
{
	int64_t took = 0;

	for (long done = 0; done < count; done += CHUNK) {
		raw_send(links[0].server, CHUNK);
		took -= now_ns();
		for (int i = 0; i < CHUNK; i++)
			MUST(read(links[0].client, bytes, 1));
		took += now_ns();
	}
	return took;
}

static int64_t write_bytes(long count)
{
	int64_t took = 0;

	for (long done = 0; done < count; done += CHUNK) {
		took -= now_ns();
		for (int i = 0; i < CHUNK; i++)
			MUST(write(links[0].client, bytes, 1));
		took += now_ns();
		raw_receive(links[0].server, CHUNK);
	}
	return took;
}

static int64_t pass_unseen(bool sends, long count)
{
	int ends[2];
	int64_t took = 0;

	MUST(RAW(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends));
	for (long done = 0; done < count; done += CHUNK) {
		if (!sends)
			raw_send(ends[1], CHUNK);
		took -= now_ns();
		for (int i = 0; i < CHUNK; i++)
			MUST(sends ? send(ends[0], bytes, 1, 0) : recv(ends[0], bytes, 1, 0));
		took += now_ns();
		if (sends)
			raw_receive(ends[1], CHUNK);
	}
	MUST(RAW(SYS_close, ends[0]));
	MUST(RAW(SYS_close, ends[1]));
	return took;
}

static int64_t receive_unseen(long count)
{
	return pass_unseen(false, count);
}

static int64_t send_unseen(long count)
{
	return pass_unseen(true, count);
}

/* One byte there and one byte back. */
static int64_t exchange_bytes(long count)
{
	int64_t start = now_ns();

	for (long i = 0; i < count; i++) {
		MUST(send(links[0].client, bytes, 1, 0));
		raw_receive(links[0].server, 1);
		raw_send(links[0].server, 1);
		MUST(recv(links[0].client, bytes, 1, 0));
	}
	return now_ns() - start;
}

/* A request and a reply of HTTP/1.1, on a connection whose replies are read for their status. */
static int64_t exchange_http(long count)
{
	static const char ask[] = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
	static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	int client = (int)MUST(socket(AF_INET, SOCK_STREAM, 0)), server;
	char data[sizeof(reply)];
	int64_t start;

	MUST(connect(client, (struct sockaddr *)&listening, sizeof(listening)));
	server = (int)MUST(RAW(SYS_accept4, listener, NULL, NULL, 0));
	start = now_ns();
	for (long i = 0; i < count; i++) {
		MUST(send(client, ask, sizeof(ask) - 1, 0));
		MUST(RAW(SYS_recvfrom, server, data, sizeof(ask) - 1, MSG_WAITALL, NULL, NULL));
		MUST(RAW(SYS_sendto, server, reply, sizeof(reply) - 1, MSG_NOSIGNAL, NULL, 0));
		MUST(recv(client, data, sizeof(data), 0));
	}
	return now_ns() - start;
}

static int64_t write_null(long count)
{
	int64_t start = now_ns();

	for (long i = 0; i < count; i++)
		MUST(write(null_fd, bytes, 1));
	return now_ns() - start;
}

static int64_t read_zero(long count)
{
	int64_t start = now_ns();

	for (long i = 0; i < count; i++)
		MUST(read(zero_fd, bytes, 1));
	return now_ns() - start;
}

static int64_t ask_flags(long count)
{
	int64_t start = now_ns();

	for (long i = 0; i < count; i++)
		MUST(fcntl(zero_fd, F_GETFD));
	return now_ns() - start;
}

/* To what is no connection, from an empty file. */
static int64_t send_file(long count)
{
	int from = (int)MUST(memfd_create("empty", MFD_CLOEXEC));
	int64_t start = now_ns();

	for (long i = 0; i < count; i++)
		MUST(sendfile(null_fd, from, NULL, 1));
	return now_ns() - start;
}

/* As a child does before exec, with nothing there to close. */
static int64_t close_ranges(long count)
{
	int64_t start = now_ns();

	for (long i = 0; i < count; i++)
		MUST(close_range(1000, ~0U, 0));
	return now_ns() - start;
}

static int64_t open_itself(long count)
{
	int64_t start = now_ns();

	for (long i = 0; i < count; i++)
		dlclose(dlopen(NULL, RTLD_NOW));
	return now_ns() - start;
}

/* socket, connect, close; the accepting is done between the chunks and is not timed. */
static int64_t connect_close(long count)
{
	int64_t took = 0;

	for (long done = 0; done < count; done += CHUNK) {
		took -= now_ns();
		for (int i = 0; i < CHUNK; i++) {
			int fd = (int)MUST(socket(AF_INET, SOCK_STREAM, 0));

			MUST(connect(fd, (struct sockaddr *)&listening, sizeof(listening)));
			MUST(close(fd));
		}
		took += now_ns();
		for (int i = 0; i < CHUNK; i++) {
			int fd = accept_there();

			close_there(fd);
		}
	}
	return took;
}

/* To a port where nobody listens: a failure, and the first tries that the library lets go. */
static int64_t connect_refused(long count)
{
	struct sockaddr_in nobody;
	int64_t start;

	close(listen_there(0, &nobody)); /* a number that was free just now */
	start = now_ns();
	for (long i = 0; i < count; i++) {
		int fd = (int)MUST(socket(AF_INET, SOCK_STREAM, 0));

		if (connect(fd, (struct sockaddr *)&nobody, sizeof(nobody)) == 0)
			die("somebody listens");
		MUST(close(fd));
	}
	return now_ns() - start;
}

static int64_t look_up(long count)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	const char *name = getenv("CALLS_NAME");
	struct addrinfo *found;
	int64_t start = now_ns();

	for (long i = 0; i < count; i++) {
		if (!name || getaddrinfo(name, "80", &hints, &found))
			die("the name in CALLS_NAME is not found");
		freeaddrinfo(found);
	}
	return now_ns() - start;
}

static const struct {
	const char *name;
	int64_t (*run)(long count);
} ops[] = {
	{ "recv-empty", receive_empty },
	{ "recv-due", receive_due },
	{ "recv-due-nonblock", receive_due_nonblock },
	{ "recv-accepted", receive_accepted },
	{ "recv-empty-twice", receive_empty_twice },
	{ "recv", receive_bytes },
	{ "send", send_bytes },
	{ "read", read_bytes },
	{ "write", write_bytes },
	{ "recv-untracked", receive_unseen },
	{ "send-untracked", send_unseen },
	{ "exchange", exchange_bytes },
	{ "exchange-http", exchange_http },
	{ "write-null", write_null },
	{ "read-zero", read_zero },
	{ "connect-close", connect_close },
	{ "connect-refused", connect_refused },
	{ "lookup", look_up },
	{ "fcntl", ask_flags },
	{ "sendfile-null", send_file },
	{ "close-range", close_ranges },
	{ "dlopen", open_itself },
};

static void work(int64_t (*run)(long), long count)
{
	char go;

	while (read(STDIN_FILENO, &go, 1) == 1) {
		double each = (double)run(count) / (double)count;

		MUST(write(STDOUT_FILENO, &each, sizeof(each)));
	}
}

int main(int argc, char **argv)
{
	long count;

	if (argc < 3)
		goto usage;
	count = (number(argv[2], 1) + CHUNK - 1) / CHUNK * CHUNK;
	/* Port 8080: where replies are read. */
	by_libc = getenv("CALLS_END") && strcmp(getenv("CALLS_END"), "libc") == 0;
	listener = listen_there(strcmp(argv[1], "exchange-http") == 0 ? 8080 : 0, &listening);
	links[0] = open_link();
	links[1] = open_link();
	null_fd = (int)MUST(open("/dev/null", O_WRONLY));
	zero_fd = (int)MUST(open("/dev/zero", O_RDONLY));
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		if (strcmp(argv[1], ops[i].name) != 0)
			continue;
		if (argc == 3)
			ops[i].run(count);
		else
			work(ops[i].run, count);
		return 0;
	}
usage:
	fputs("usage: calls OP COUNT [worker]\n", stderr);
	return 2;
}
