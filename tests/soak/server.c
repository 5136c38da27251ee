// SPDX-License-Identifier: MIT
/*
 * A server that fails on order, a share of its connections at a time.
 *
 * Usage: server STYLE PORT [SEED]
 *   fork    a process for each connection
 *   thread  a thread for each
 *   epoll   all in one
 * Orders on stdin: fault KIND PERCENT | stats; its end ends the server. Kinds:
 *   none, reset (at once), close (at once), half (of the answer, then the end), hang (reads, never
 *   answers), refuse (all or nothing: does not listen from 50 percent on)
 */
#include "soak.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum fault { NONE, RESET, CLOSE, HALF, HANG, REFUSE, FAULTS };

static const char *const fault_names[] = { "none", "reset", "close", "half", "hang", "refuse" };

/* A connection. */
struct peer {
	int fd;
	enum fault fault;
	bool page; /* a GET was read, and its end not yet */
	size_t length;
	char text[1024];
};

static struct {
	long accepted, answered, crashed;
} * counts;

static const char *style;
static uint16_t port;
static int listener = -1, events = -1;
static enum fault fault;
static unsigned percent;
static uint64_t seed;

static void say(struct peer *peer, const char *text, size_t length)
{
	if (peer->fault == HANG)
		return;
	send(peer->fd, text, peer->fault == HALF ? length / 2 : length, MSG_NOSIGNAL);
	ADD(counts->answered, 1);
}

/* Takes one line. False: the connection is to end. */
static bool take_line(struct peer *peer, char *line, size_t length)
{
	static const char page[] = "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n"
				   "Content-Length: 5\r\nConnection: close\r\n\r\nwell\n";

	if (peer->page) {
		if (line[0] != '\r' && line[0] != '\n')
			return true;
		say(peer, page, sizeof(page) - 1);
		return peer->fault == HANG;
	}
	peer->page = strncmp(line, "GET ", 4) == 0;
	if (peer->page)
		return true;
	say(peer, line, length);
	return peer->fault != HALF;
}

/* Reads once and answers. False: the connection is to end. */
static bool serve_once(struct peer *peer)
{
	ssize_t n = recv(peer->fd, peer->text + peer->length, sizeof(peer->text) - peer->length, 0);
	char *end;

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	peer->length += n;
	while ((end = memchr(peer->text, '\n', peer->length)) != NULL) {
		size_t length = end + 1 - peer->text;

		if (!take_line(peer, peer->text, length))
			return false;
		peer->length -= length;
		memmove(peer->text, end + 1, peer->length);
	}
	return peer->length < sizeof(peer->text);
}

static void *serve_all(void *arg)
{
	struct peer *peer = arg;

	while (serve_once(peer))
		;
	close(peer->fd);
	free(peer);
	return NULL;
}

static void serve_in_thread(struct peer *peer)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 * 1024);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, serve_all, peer) != 0)
		die("thread");
	pthread_attr_destroy(&attributes);
}

static void serve_in_child(struct peer *peer)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child == 0) {
		if (listener >= 0)
			close(listener);
		close(0);
		serve_all(peer);
		_exit(0);
	}
	close(peer->fd);
	free(peer);
}

static void serve_here(struct peer *peer)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = peer };

	epoll_ctl(events, EPOLL_CTL_ADD, peer->fd, &event);
}

static void welcome(void)
{
	struct timeval timeout = { .tv_sec = 5 };
	struct linger hard = { 1, 0 };
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), one = 1;
	bool fails = draw(&seed) % 100 < percent;
	struct peer *peer;

	if (fd < 0)
		return;
	ADD(counts->accepted, 1);
	if (fails && (fault == RESET || fault == CLOSE)) {
		if (fault == RESET)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	peer = calloc(1, sizeof(*peer));
	if (peer == NULL)
		die("peer");
	peer->fd = fd;
	peer->fault = fails ? fault : NONE;
	if (style[0] == 'f')
		serve_in_child(peer);
	else if (style[0] == 't')
		serve_in_thread(peer);
	else
		serve_here(peer);
}

static void open_port(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &listener };
	int one = 1;

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&here, sizeof(here)) || listen(listener, 512))
		die("listen");
	epoll_ctl(events, EPOLL_CTL_ADD, listener, &event);
}

static void obey(const char *order)
{
	char name[16];

	if (sscanf(order, "fault %15s %u", name, &percent) == 2) {
		for (int i = 0; i < FAULTS; i++)
			if (strcmp(name, fault_names[i]) == 0)
				fault = (enum fault)i;
		if (fault == REFUSE && percent >= 50 && listener >= 0) {
			close(listener);
			listener = -1;
		} else if ((fault != REFUSE || percent < 50) && listener < 0) {
			open_port();
		}
	}
	printf("{\"accepted\": %ld, \"answered\": %ld, \"crashed\": %ld}\n", counts->accepted,
	       counts->answered, counts->crashed);
	fflush(stdout);
}

static void read_orders(void)
{
	char text[256];
	ssize_t n = read(0, text, sizeof(text) - 1);

	if (n <= 0)
		exit(0);
	text[n] = '\0';
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
		obey(line);
}

/* True while there may be more. */
static bool reap(void)
{
	int status;

	if (waitpid(-1, &status, WNOHANG) <= 0)
		return false;
	if (WIFSIGNALED(status))
		ADD(counts->crashed, 1);
	return true;
}

static void wake(int number)
{
	(void)number; /* that epoll_wait ends is enough */
}

int main(int argc, char **argv)
{
	struct epoll_event ready[32], orders = { .events = EPOLLIN, .data.ptr = NULL };
	struct sigaction child = { .sa_handler = wake };

	if (argc < 3)
		return 2;
	style = argv[1];
	port = (uint16_t)atoi(argv[2]);
	seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	seed = seed * 0x9e3779b97f4a7c15 + port;
	counts = shared(sizeof(*counts));
	sigaction(SIGCHLD, &child, NULL);
	events = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(events, EPOLL_CTL_ADD, 0, &orders);
	open_port();
	puts("ready");
	fflush(stdout);
	for (;;) {
		int n = epoll_wait(events, ready, 32, 1000);

		for (int i = 0; i < n; i++) {
			struct peer *peer = ready[i].data.ptr;

			if (ready[i].data.ptr == NULL) {
				read_orders();
			} else if (ready[i].data.ptr == &listener) {
				if (listener >= 0)
					welcome();
			} else if (!serve_once(peer)) {
				close(peer->fd);
				free(peer);
			}
		}
		while (reap())
			;
	}
}
