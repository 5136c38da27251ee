// SPDX-License-Identifier: MIT
/*
 * A server that fails on order and counts at its own side. Healthy, it speaks whatever the client
 * begins with: HTTP (a page with BODY), the redis protocol (+PONG), or lines (sent back).
 *
 * Usage: server PORT MODE[:SECONDS]...    the modes one after the other, the last one for good
 *   healthy     answers
 *   reset       accepts, then resets the connection
 *   close       accepts, then closes
 *   read-close  reads the request, then closes
 *   half        sends the first part of the answer, then closes
 *   half-reset  sends the first part of the answer, then resets
 *   error       answers that it cannot: HTTP status 503, a redis error, "error" for a line
 *   loading     the same, but that its redis is not ready to serve anybody yet
 *   hang        accepts and reads, but never answers
 *   silent      nobody there: the kernel drops every segment, so a SYN is never answered
 *   backlog     never accepts: two connections wait for it, further SYNs are dropped
 *   down        does not listen: the kernel refuses
 * Orders on stdin: mode MODE | ill PERCENT (of the connections, drawn one by one, end as with
 * read-close while it is healthy) | unix PATH (listens there too) | stats | count INDEX SINCE
 * (connections accepted in that mode, counted from 0 in the order above). Each change of mode is a
 * line: "mode NAME NANOSECONDS".
 */
#include "control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BODY        "the server is well\n"
#define CONNECTIONS 4096

enum mode {
	HEALTHY,
	RESET,
	CLOSE,
	READ_CLOSE,
	HALF,
	HALF_RESET,
	ERROR,
	LOADING,
	HANG,
	SILENT,
	BACKLOG,
	DOWN,
	MODES
};

static const char *const mode_names[MODES] = { "healthy", "reset",      "close",   "read-close",
	                                       "half",    "half-reset", "error",   "loading",
	                                       "hang",    "silent",     "backlog", "down" };

struct tally {
	long accepted, requests;
	long long bytes_in, bytes_out;
};

struct connection {
	size_t length; /* of what was read and not yet answered */
	int ill;
	char text[4096];
};

static struct tally tallies[MODES];
static struct connection *connections[CONNECTIONS]; /* by descriptor */
static enum mode mode;
static uint16_t port;
static int listener = -1;
static int unix_listener = -1;
static int events;
static int ill; /* percent */

static void watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	epoll_ctl(events, EPOLL_CTL_ADD, fd, &event);
}

/* With reset, the peer gets a RST instead of an orderly end. */
static void hang_up(int fd, int reset)
{
	struct linger now = { 1, 0 };

	if (reset)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
	free(connections[fd]);
	connections[fd] = NULL;
}

static int open_port(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(port) };
	int one = 1;

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&here, sizeof(here)) || listen(listener, 4096)) {
		perror("server: listen");
		exit(1);
	}
	watch(listener);
	return listener;
}

static void open_path(const char *path)
{
	struct sockaddr_un here = { .sun_family = AF_UNIX };

	unix_listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	(void)snprintf(here.sun_path, sizeof(here.sun_path), "%.100s", path);
	if (bind(unix_listener, (struct sockaddr *)&here, sizeof(here)) || chmod(path, 0777) ||
	    listen(unix_listener, 4096)) {
		perror("server: unix listen");
		exit(1);
	}
	watch(unix_listener);
	printf("unix healthy %lld\n", (long long)now_ns());
}

/* A filter on a listening socket sees the SYNs before TCP does: no RST tells that it is there. */
static void drop_segments(int drop)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = { 1, &nothing };

	if (setsockopt(listener, SOL_SOCKET, drop ? SO_ATTACH_FILTER : SO_DETACH_FILTER, &program,
	               sizeof(program))) {
		perror("server: filter");
		exit(1);
	}
}

/* The queue of a listener holds one connection more than it was told. */
static void stop_accepting(int stop)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };

	listen(listener, stop ? 1 : 4096);
	epoll_ctl(events, stop ? EPOLL_CTL_DEL : EPOLL_CTL_ADD, listener, &event);
}

/* What was connected under the old mode ends with it, by a reset unless the server was well. */
static void set_mode(enum mode new)
{
	for (int fd = 0; fd < CONNECTIONS; fd++)
		if (connections[fd])
			hang_up(fd, mode != HEALTHY);
	if (mode == SILENT)
		drop_segments(0);
	if (mode == BACKLOG)
		stop_accepting(0);
	mode = new;
	if (mode == DOWN && listener >= 0) {
		close(listener);
		listener = -1;
	} else if (mode != DOWN && listener < 0) {
		open_port();
	}
	if (mode == SILENT)
		drop_segments(1);
	if (mode == BACKLOG)
		stop_accepting(1);
	printf("mode %s %lld\n", mode_names[mode], (long long)now_ns());
}

static int mode_by_name(const char *name, size_t length)
{
	for (int m = 0; m < MODES; m++)
		if (strlen(mode_names[m]) == length && !strncmp(mode_names[m], name, length))
			return m;
	return -1;
}

static void print_stats(void)
{
	printf("{\"mode\": \"%s\"", mode_names[mode]);
	for (int m = 0; m < MODES; m++)
		printf(", \"%s\": {\"accepted\": %ld, \"requests\": %ld, \"bytes_in\": %lld, "
		       "\"bytes_out\": %lld}",
		       mode_names[m], tallies[m].accepted, tallies[m].requests, tallies[m].bytes_in,
		       tallies[m].bytes_out);
	puts("}");
}

static void obey(const char *order)
{
	int m;

	if (journal_order(order))
		return;
	if (!strcmp(order, "stats"))
		print_stats();
	else if (!strncmp(order, "ill ", 4))
		printf("ill %d\n", ill = (int)strtol(order + 4, NULL, 10));
	else if (!strncmp(order, "unix ", 5))
		open_path(order + 5);
	else if (!strncmp(order, "mode ", 5) &&
	         (m = mode_by_name(order + 5, strlen(order + 5))) >= 0)
		set_mode((enum mode)m);
	else
		printf("what is '%s'?\n", order);
}

static void reply(int fd, const char *text, size_t length)
{
	int half = mode == HALF || mode == HALF_RESET;
	ssize_t sent = send(fd, text, half ? length - 5 : length, MSG_NOSIGNAL);

	tallies[mode].requests++;
	tallies[mode].bytes_out += sent > 0 ? sent : 0;
}

/* The length of the first whole redis command in text, 0 if it is not whole yet. */
static size_t redis_command(const char *text)
{
	const char *at = strstr(text, "\r\n");
	long words = strtol(text + 1, NULL, 10);

	while (at && words-- > 0) {
		long size = at[2] == '$' ? strtol(at + 3, NULL, 10) : -1;

		at = strstr(at + 2, "\r\n");
		if (!at || size < 0 || strlen(at + 2) < (size_t)size + 2)
			return 0;
		at += 2 + size;
	}
	return at ? (size_t)(at + 2 - text) : 0;
}

/*
 * Answers the first whole request in text. Returns its length; 0 if there is none yet; -1 if the
 * connection is to be closed after the answer.
 */
static long answer(int fd, const char *text)
{
	const char *status = mode == ERROR ? "503 Service Unavailable" : "200 OK";
	const char *pong = mode == ERROR     ? "-ERR not yet\r\n"
	                   : mode == LOADING ? "-LOADING not yet\r\n"
	                                     : "+PONG\r\n";
	const char *body = mode == ERROR ? "the server is ill\n" : BODY;
	char page[256];
	const char *end;
	int last, n;

	if (text[0] == '*') {
		size_t length = redis_command(text);

		if (length)
			reply(fd, pong, strlen(pong));
		return (long)length;
	}
	if (strncmp(text, "GET ", 4) != 0) {
		end = strchr(text, '\n');
		if (!end)
			return 0;
		if (!strncmp(text, "PING\r", 5))
			reply(fd, pong, strlen(pong));
		else if (mode == ERROR)
			reply(fd, "error\n", 6);
		else
			reply(fd, text, (size_t)(end + 1 - text));
		return end + 1 - text;
	}
	end = strstr(text, "\r\n\r\n");
	if (!end)
		return 0;
	last = strcasestr(text, "\r\nConnection: close") || strstr(text, "HTTP/1.0\r\n");
	n = snprintf(page, sizeof(page),
	             "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
	             "Connection: %s\r\n\r\n%s",
	             status, strlen(body), last ? "close" : "keep-alive", body);
	reply(fd, page, (size_t)n);
	return last ? -1 : end + 4 - text;
}

static void serve(int fd)
{
	struct connection *c = connections[fd];
	ssize_t got = recv(fd, c->text + c->length, sizeof(c->text) - 1 - c->length, 0);

	if (got < 0 && errno == EAGAIN)
		return;
	if (got == 0 && mode == HANG) { /* a client that has said all is not answered either */
		struct epoll_event event = { .events = 0, .data.fd = fd };

		epoll_ctl(events, EPOLL_CTL_MOD, fd, &event);
		return;
	}
	if (got <= 0) {
		hang_up(fd, 0);
		return;
	}
	tallies[mode].bytes_in += got;
	c->length += (size_t)got;
	c->text[c->length] = 0;
	if (mode == READ_CLOSE || c->ill) {
		tallies[mode].requests++;
		hang_up(fd, 0);
		return;
	}
	if (mode == HANG) {
		c->length = 0;
		return;
	}
	for (long used; (used = answer(fd, c->text)) != 0;) {
		if (used < 0 || mode == HALF || mode == HALF_RESET) {
			/* A reset throws away what the peer has not read, so it is late. */
			if (mode == HALF_RESET)
				usleep(2000);
			hang_up(fd, mode == HALF_RESET);
			return;
		}
		c->length -= (size_t)used;
		memmove(c->text, c->text + used, c->length + 1);
	}
	if (c->length == sizeof(c->text) - 1)
		hang_up(fd, 1);
}

static void welcome(int from)
{
	int fd, one = 1;

	while (from >= 0 && (fd = accept4(from, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		tallies[mode].accepted++;
		journal_add((int)mode);
		if (mode == RESET || mode == CLOSE) {
			hang_up(fd, mode == RESET);
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		connections[fd] = calloc(1, sizeof(struct connection));
		if (!connections[fd])
			exit(1);
		connections[fd]->ill = mode == HEALTHY && random() % 100 < ill;
		watch(fd);
	}
}

/* Goes to the next "MODE[:SECONDS]"; returns when the one after it is due, or -1 for never. */
static int64_t next_step(char **step)
{
	size_t length = strcspn(*step, ":");
	int m = mode_by_name(*step, length);

	if (m < 0) {
		(void)fprintf(stderr, "server: no mode '%s'\n", *step);
		exit(2);
	}
	set_mode((enum mode)m);
	(void)fflush(stdout);
	return (*step)[length] ? now_ns() + (int64_t)(strtod(*step + length + 1, NULL) * 1e9) : -1;
}

int main(int argc, char **argv)
{
	struct rlimit files = { CONNECTIONS, CONNECTIONS };
	struct epoll_event ready[64];
	char **step = argv + 2;
	int64_t due;

	if (argc < 3 || (port = (uint16_t)strtol(argv[1], NULL, 10)) == 0) {
		(void)fputs("usage: server PORT MODE[:SECONDS]...\n", stderr);
		return 2;
	}
	if (setrlimit(RLIMIT_NOFILE, &files)) { /* descriptors are indexes */
		perror("server: setrlimit");
		return 1;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	events = epoll_create1(EPOLL_CLOEXEC);
	watch(0);
	due = next_step(step);
	for (;;) {
		int64_t left = due < 0 ? -1 : due - now_ns();
		int n = epoll_wait(events, ready, 64,
		                   due < 0    ? -1
		                   : left < 0 ? 0
		                              : (int)(left / 1000000) + 1);

		for (int i = 0; i < n; i++) {
			int fd = ready[i].data.fd;

			if (fd == 0) {
				if (!control_read(obey))
					return 0;
			} else if (fd == listener || fd == unix_listener) {
				welcome(fd);
			} else if (connections[fd]) {
				serve(fd);
			}
		}
		if (due >= 0 && now_ns() >= due && step[1])
			due = next_step(++step);
		else if (due >= 0 && now_ns() >= due)
			due = -1;
	}
}
