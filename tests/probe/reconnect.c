/* SPDX-License-Identifier: MIT */
/*
 * A server that starts anew drops all its clients at once, and bare they are all back in the same
 * moment.
 * Usage: reconnect threads|unread|events|one|signal
 */
#include "probe.h"

#include <sys/epoll.h>

#define MANY 200
#define LIFE 2300 /* ms, more than min_life */

struct shared {
	volatile int64_t dropped; /* ms, when the server did */
	volatile int accepted;
	volatile int seconds[16]; /* connections after that, by the second */
};

static struct shared *shared;
static struct sockaddr_in to;
static int clients = MANY;
static volatile int back;
static bool unread;

/* One process, so that all connections end at once; what comes is echoed, without a wait. */
static void serve_until_dropped(int listener)
{
	int peers[MANY], epoll = epoll_create1(0), n = 0;
	struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };

	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
	for (int64_t since = 0; since == 0 || now_ms() - since < LIFE;) {
		char byte;

		if (epoll_wait(epoll, &event, 1, 20) < 1)
			continue;
		if (event.data.fd != listener) {
			if (read(event.data.fd, &byte, 1) == 1)
				send(event.data.fd, &byte, 1, MSG_NOSIGNAL);
			continue;
		}
		peers[n] = accept(listener, NULL, NULL);
		event.data.fd = peers[n];
		epoll_ctl(epoll, EPOLL_CTL_ADD, peers[n], &event);
		if (++n == clients)
			since = now_ms();
	}
	shared->dropped = now_ms();
	for (int i = 0; i < n; i++)
		close(peers[i]);
}

static void serve_again(int listener)
{
	for (;;) {
		int64_t second;

		if (accept(listener, NULL, NULL) < 0)
			continue;
		second = (now_ms() - shared->dropped) / 1000;
		shared->accepted++;
		shared->seconds[second < 16 ? second : 15]++;
	}
}

static void start(void)
{
	int listener;
	pid_t parent = getpid();

	to = loopback(refusing_port(&listener));
	listen(listener, 512);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent) {
			serve_until_dropped(listener);
			serve_again(listener);
		}
		_exit(0);
	}
	close(listener);
}

static bool ask(int fd)
{
	char byte = 'x';

	return send(fd, &byte, 1, MSG_NOSIGNAL) == 1 && recv(fd, &byte, 1, 0) == 1;
}

static void *client(void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 || !ask(fd))
		give_up("client");
	if (unread) {
		struct pollfd at = { .fd = fd, .events = POLLRDHUP };

		poll(&at, 1, -1);
	} else if (recv(fd, &byte, 1, 0) != 0) {
		give_up("end");
	}
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		__atomic_add_fetch(&back, 1, __ATOMIC_SEQ_CST);
	return arg;
}

static void with_threads(void)
{
	static pthread_t threads[MANY];
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	for (int i = 0; i < clients; i++)
		if (pthread_create(&threads[i], &attributes, client, NULL) != 0)
			give_up("thread");
	for (int i = 0; i < clients; i++)
		pthread_join(threads[i], NULL);
}

static void begin(int epoll)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = fd };

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 && errno != EINPROGRESS)
		give_up("connect");
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

/* An event loop that connects again whenever it has learned that a connection is gone. */
static void with_events(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int64_t end = now_ms() + 25000;
	struct epoll_event event;

	for (int i = 0; i < clients; i++)
		begin(epoll);
	while (back < clients && now_ms() < end) {
		socklen_t len = sizeof(int);
		int err = 0;
		char byte = 'x';

		if (epoll_wait(epoll, &event, 1, 100) < 1)
			continue;
		getsockopt(event.data.fd, SOL_SOCKET, SO_ERROR, &err, &len);
		if (err || event.events & EPOLLHUP ||
		    (event.events & EPOLLIN && recv(event.data.fd, &byte, 1, 0) == 0)) {
			close(event.data.fd);
			begin(epoll);
		} else if (event.events == EPOLLOUT && shared->dropped) {
			back++;
		} else if (event.events == EPOLLOUT) {
			send(event.data.fd, &byte, 1, MSG_NOSIGNAL);
		}
	}
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* Handlers end the wait as they would end a connect. */
static void interrupted(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	int fds[MANY], fd, err = 0;
	char byte;

	for (int i = 0; i < clients; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fds[i], (struct sockaddr *)&to, sizeof(to)) != 0 || !ask(fds[i]))
			give_up("client");
	}
	for (int i = 0; i < clients; i++) {
		if (recv(fds[i], &byte, 1, 0) != 0)
			give_up("end");
		close(fds[i]);
	}
	sigaction(SIGALRM, &action, NULL);
	alarms_from(1000);
	for (int i = 0; i < 8 && err == 0; i++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		err = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
	}
	printf("connect: %s\n", error_name(err));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "threads";
	int most = 0;

	shared = shared_memory(sizeof(*shared));
	unread = strcmp(what, "unread") == 0;
	if (strcmp(what, "one") == 0)
		clients = 1;
	start();
	if (strcmp(what, "events") == 0)
		with_events();
	else if (strcmp(what, "signal") == 0)
		interrupted();
	else
		with_threads();
	if (strcmp(what, "signal") == 0)
		return 0;
	pause_ms(300);
	for (int i = 0; i < 16; i++)
		if (shared->seconds[i] > most)
			most = shared->seconds[i];
	printf("back: %d\n", back);
	printf("in one second: %s\n", most > clients * 2 / 3   ? "nearly all"
	                              : most > clients * 2 / 5 ? "many"
	                                                       : "a part");
	return 0;
}
