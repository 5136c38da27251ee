// SPDX-License-Identifier: MIT
/*
 * A service: for each request that comes in it asks an upstream, with retries, and answers 200 with
 * the path, or 502. Paths that begin with /d go to the dead upstream, all others to the healthy
 * one.
 *
 * Usage: serve -M MODE [-l PORT] -h UPSTREAM -d UPSTREAM [-n WORKERS] [-t TRIES] [-p PAUSE-MS]
 *              [-o TIMEOUT-MS] [-k] [-g PORT[/PATH][:PAUSE-MS]]
 *   single      one process, one connection after the other
 *   perconn     a thread for each connection
 *   reactor     a loop that reads requests, and handlers that ask and answer
 *   prefork     processes that accept
 *   activated   as perconn, listening on descriptor 3
 *   inetd       a process for each connection, with the connection on 0 and 1
 *   loop        a loop that answers itself, and begins a connect that does not block to the dead
 *               upstream whenever the last one failed
 */
#include "options.h"
#include "work.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 4096 };

static struct way way;
static const char *mode = "perconn", *healthy = "1", *dead = "1";
static struct storm storm;
static int listener = -1, port, workers = 8, tries = 3;
static double pause_between;
static _Thread_local int kept[2] = { -1, -1 };

// Reads one request and answers it; false when the connection is over.
static bool serve_one(int in, int out, bool relays)
{
	char text[LINE], path[500] = "";
	size_t length = 0;
	do {
		const ssize_t got = read(in, text + length, sizeof text - 1 - length);
		if (got <= 0)
			return false;
		length += (size_t)got;
		text[length] = 0;
	} while (!strstr(text, "\r\n\r\n") && length < sizeof text - 1);
	sscanf(text, "%*s %499s", path);
	const bool last = strstr(text, "Connection: close");
	const bool to_dead = path[1] == 'd';
	const char *error = NULL;
	for (int i = 0; relays && i < tries; i++) {
		if (i)
			pause_ms(pause_between);
		if (!(error = ask(to_dead ? dead : healthy, path, &way, &kept[to_dead])))
			break;
	}
	char reply[LINE];
	snprintf(reply, sizeof reply, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s",
	         error ? "502 Bad Gateway" : "200 OK", last ? "Connection: close\r\n" : "",
	         error ? strlen(error) : strlen(path), error ? error : path);
	return write(out, reply, strlen(reply)) > 0 && !last;
}

static void *connection(void *fd)
{
	while (serve_one((int)(long)fd, (int)(long)fd, true))
		;
	close((int)(long)fd);
	for (int i = 0; i < 2; i++)
		if (kept[i] >= 0)
			close(kept[i]);
	return NULL;
}

static void start(void *(*function)(void *), long argument)
{
	pthread_t thread;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &small, function, (void *)argument);
	pthread_attr_destroy(&small);
}

static int next_connection(void)
{
	const int fd = accept(listener, NULL, NULL);
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
	return fd;
}

static void *rage(void *unused)
{
	for (;;)
		storm_on(&storm);
	return unused;
}

// A queue between the loop and its handlers: a pipe of descriptors.
static int queue[2], poller;

static void *handler(void *unused)
{
	int fd;
	while (read(queue[0], &fd, sizeof fd) == sizeof fd) {
		struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.fd = fd };
		if (!serve_one(fd, fd, true))
			close(fd);
		else
			epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event);
	}
	return unused;
}

static int connect_without_waiting(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	address.sin_port = htons((uint16_t)atoi(dead));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	struct epoll_event event = { .events = EPOLLOUT | EPOLLRDHUP, .data.fd = fd };
	epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
	return fd;
}

static void turn(bool reactor)
{
	poller = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };
	epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
	if (reactor && pipe(queue) == 0)
		for (int i = 0; i < workers; i++)
			start(handler, 0);
	int pending = reactor ? -2 : -1;
	for (;;) {
		if (pending == -1)
			pending = connect_without_waiting();
		struct epoll_event events[64];
		const int count = epoll_wait(poller, events, 64, pending == -1 ? 0 : -1);
		for (int i = 0; i < count; i++) {
			int fd = events[i].data.fd;
			if (fd == listener) {
				fd = next_connection();
				event =
				    (struct epoll_event) { .events = EPOLLIN |
					                             (reactor ? EPOLLONESHOT : 0),
					                   .data.fd = fd };
				if (fd >= 0)
					epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
			} else if (fd == pending) {
				int error = 0;
				getsockopt(fd, SOL_SOCKET, SO_ERROR, &error,
				           &(socklen_t) { sizeof error });
				if (error ||
				    events[i].events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) {
					close(fd);
					pending = -1;
				} else {
					event = (struct epoll_event) { .events = EPOLLRDHUP,
						                       .data.fd = fd };
					epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event);
				}
			} else if (reactor) {
				if (write(queue[1], &fd, sizeof fd) != sizeof fd)
					close(fd);
			} else if (!serve_one(fd, fd, false)) {
				close(fd);
			}
		}
	}
}

static const struct option options[] = {
	{ 'M', OPTION_TEXT, &mode },          { 'l', OPTION_INT, &port },
	{ 'h', OPTION_TEXT, &healthy },       { 'd', OPTION_TEXT, &dead },
	{ 'n', OPTION_INT, &workers },        { 't', OPTION_INT, &tries },
	{ 'p', OPTION_REAL, &pause_between }, { 'o', OPTION_INT, &way.timeout_ms },
	{ 'k', OPTION_FLAG, &way.kept },      { 'g', OPTION_STORM, &storm },
};

static bool is_mode(const char *name)
{
	return strcmp(mode, name) == 0;
}

static bool listen_on_port(void)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
		                             .sin_port = htons((uint16_t)port) };
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int) { 1 }, sizeof(int));
	return bind(listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
	       listen(listener, 1024) == 0;
}

// A process of its own, as inetd starts it, for a connection.
static void start_process(int fd)
{
	if (fork() == 0) {
		char many[12], milliseconds[24];
		snprintf(many, sizeof many, "%d", tries);
		snprintf(milliseconds, sizeof milliseconds, "%g", pause_between);
		dup2(fd, 0);
		dup2(fd, 1);
		execl("/proc/self/exe", "serve", "-M", "connection", "-h", healthy, "-d", dead,
		      "-t", many, "-p", milliseconds, NULL);
		_exit(1);
	}
	close(fd);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void serve_connections(void)
{
	for (int fd;;) {
		if ((fd = next_connection()) < 0)
			continue;
		if (is_mode("perconn") || is_mode("activated")) {
			start(connection, fd);
		} else if (is_mode("inetd")) {
			start_process(fd);
		} else {
			connection((void *)(long)fd);
			kept[0] = kept[1] = -1;
		}
	}
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (!read_options(options, sizeof options / sizeof *options, argc, argv))
		return 2;
	if (is_mode("connection")) { // what inetd started
		while (serve_one(0, 1, true))
			;
		return 0;
	}
	if (is_mode("activated")) {
		listener = 3;
	} else if (!listen_on_port()) {
		perror("serve");
		return 1;
	}
	if (is_mode("prefork"))
		for (int i = 1; i < workers; i++)
			if (fork() == 0)
				break;
	if (*storm.target)
		start(rage, 0);
	if (is_mode("reactor") || is_mode("loop"))
		turn(is_mode("reactor"));
	serve_connections();
}
