/* SPDX-License-Identifier: MIT */
/*
 * A non-blocking connect that is refused, tried again, and tried a third time on the same socket
 * when the server is back. No kernel refuses such a call at once (haproxy spins on it, aria2 gives
 * up), so a retry that is throttled must look like a connect in progress that fails later, and
 * must leave the socket fit for use.
 * loop: three tries that are refused, each on a socket of its own, and nothing else.
 * storm: the second try is made again and again without a pause, each on a socket of its own, until
 * one is not refused in no time; the last one is shown.
 * beyond: the second one has a number beyond the shim's table of sockets, where nothing can be
 * kept. Usage: nonblock [v6] [v6only] [bound] [timeout] [unprivileged] [edge|late-edge] [loop]
 * [beyond] [storm]
 */
#include "probe.h"

#include <grp.h>
#include <sys/epoll.h>

#ifndef BEYOND
#define BEYOND 65600
#endif

static bool v6, v6only, bound, timeout, unprivileged, edge, late_edge, loop, beyond, storm;
static struct sockaddr_storage to;
static socklen_t to_len;
static int epoll = -1;

static void read_arguments(int argc, char **argv)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "v6", &v6 },
		{ "v6only", &v6only },
		{ "bound", &bound },
		{ "timeout", &timeout },
		{ "edge", &edge },
		{ "unprivileged", &unprivileged },
		{ "late-edge", &late_edge },
		{ "loop", &loop },
		{ "beyond", &beyond },
		{ "storm", &storm },
	};

	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++)
			if (strcmp(argv[i], flags[k].name) == 0)
				*flags[k].flag = true;
	v6 = v6 || v6only;
}

/* A bound, not listening socket; its address is what refuses. */
static int refusing_address(void)
{
	struct sockaddr_in in = loopback(0);
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int held = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);

	to_len = v6 ? sizeof(in6) : sizeof(in);
	if (bind(held, v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in, to_len) != 0)
		exit(PROBE_CANNOT);
	getsockname(held, (struct sockaddr *)&to, &to_len);
	return held;
}

static void watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = fd };

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int new_socket(void)
{
	struct sockaddr_in in = loopback(0);
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int on = 1, ms = 12345;

	if (v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, v6only ? &on : &(int) { 0 }, sizeof(on));
	if (bound && bind(fd, v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in, to_len) != 0)
		give_up("bind");
	if (timeout)
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	if (edge)
		watch(fd);
	return fd;
}

static bool move_beyond(int *fd)
{
	struct rlimit limit = { BEYOND + 2, BEYOND + 2 };
	int high = setrlimit(RLIMIT_NOFILE, &limit) == 0 ? fcntl(*fd, F_DUPFD, BEYOND) : -1;

	close(*fd);
	*fd = high;
	return high >= 0;
}

static int second_socket(void)
{
	int fd = new_socket();

	if (beyond && !move_beyond(&fd))
		exit(PROBE_CANNOT);
	return fd;
}

static int start(int fd)
{
	return connect(fd, (struct sockaddr *)&to, to_len) == 0 ? 0 : errno;
}

/* Waits until the socket is ready for writing or in error. Edge-triggered where asked. */
static bool ready(int fd, int ms)
{
	struct pollfd entry = { .fd = fd, .events = POLLIN | POLLOUT };
	struct epoll_event event;
	int64_t end = now_ms() + ms;

	if (!edge && !late_edge)
		return poll(&entry, 1, ms) == 1;
	do {
		if (epoll_wait(epoll, &event, 1, (int)(end - now_ms())) == 1 &&
		    poll(&entry, 1, 0) == 1 && event.data.fd == fd)
			return true;
	} while (now_ms() < end);
	return false;
}

static int pending_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = -1;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	return err;
}

/* What one attempt is told at once; *quick: it is over in no time. */
static int begin(int fd, bool *quick)
{
	int err = start(fd);

	if (late_edge)
		watch(fd);
	*quick = ready(fd, 200);
	return err;
}

/* One attempt up to its error. Says whether the error took its time. */
static void failing(const char *name, int *fd, int (*another)(void))
{
	int64_t began = now_ms();
	bool quick;
	int err = begin(*fd, &quick);

	/* Of twenty in one second, and its end may come in between. */
	for (int i = 0; another != NULL && quick && i < 60; i++) {
		close(*fd);
		*fd = another();
		began = now_ms();
		err = begin(*fd, &quick);
	}
	printf("%s: %s", name, error_name(err));
	if (!quick) {
		printf(", pending, connect again: %s", error_name(start(*fd)));
		if (!ready(*fd, 8000))
			printf(", never ready");
	}
	err = pending_error(*fd);
	printf(", %s after %s\n", error_name(err),
	       now_ms() - began >= 500 ? "a second" : "no time");
}

static void options(int fd)
{
	char device[IFNAMSIZ] = "";
	socklen_t len = sizeof(device);
	int ms = -1;

	getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, &len);
	printf("device: \"%s\"", device);
	len = sizeof(ms);
	getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, &len);
	printf(", user timeout: %d\n", ms);
}

/* The same socket again, to the server that is back. After an error was read the kernel may give
 * ECONNABORTED once; that is its own habit and is not shown. */
static void succeeding(int fd, int listener)
{
	struct sockaddr_storage peer = { 0 };
	socklen_t len = sizeof(peer);
	int err = start(fd), other;
	char data[5];

	if (err == ECONNABORTED)
		err = start(fd);
	printf("third: %s", error_name(err));
	if (!ready(fd, 5000))
		printf(", never ready");
	printf(", then %s\n", error_name(pending_error(fd)));
	printf("peer: %s\n", getpeername(fd, (struct sockaddr *)&peer, &len) != 0
	                         ? error_name(errno)
	                     : memcmp(&peer, &to, to_len) == 0 ? "the server"
	                                                       : "somebody else");
	other = accept(listener, NULL, NULL);
	fcntl(fd, F_SETFL, 0);
	printf("data: %zd", send(other, "hello", 5, 0));
	printf(" %zd\n", recv(fd, data, sizeof(data), MSG_WAITALL));
	close(other);
}

static void fail_in_a_loop(void)
{
	static const char *const names[] = { "first", "second", "third" };

	for (int i = 0; i < 3; i++) {
		int fd = new_socket();

		failing(names[i], &fd, NULL);
		close(fd);
		past_the_gate();
	}
}

int main(int argc, char **argv)
{
	int held, fd;

	read_arguments(argc, argv);
	if (unprivileged && geteuid() == 0 &&
	    (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
	     setresuid(65534, 65534, 65534) != 0))
		return PROBE_CANNOT;
	epoll = epoll_create1(0);
	held = refusing_address();
	if (loop) {
		fail_in_a_loop();
		return 0;
	}
	fd = new_socket();
	failing("first", &fd, NULL);
	printf("close: %d\n", close(fd));
	fd = second_socket();
	failing("second", &fd, storm ? second_socket : NULL);
	/* The delay that is due must be over now, so that the next one goes. */
	pause_ms(1200);
	listen(held, 8);
	fcntl(held, F_SETFL, O_NONBLOCK);
	succeeding(fd, held);
	options(fd);
	printf("close: %d\n", close(fd));
	return 0;
}
