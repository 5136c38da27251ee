// SPDX-License-Identifier: MIT
#include "work.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

void pause_ms(double milliseconds)
{
	if (milliseconds > 0) {
		const long ns = (long)(milliseconds * 1e6);
		nanosleep(&(struct timespec) { ns / 1000000000, ns % 1000000000 }, NULL);
	}
}

static int join(const char *target, const struct way *way)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	const char *colon = strchr(target, ':');
	char host[32] = "127.0.0.1";
	if (colon)
		snprintf(host, sizeof host, "%.*s", (int)(colon - target), target);
	inet_pton(AF_INET, host, &address.sin_addr);
	address.sin_port = htons((uint16_t)atoi(colon ? colon + 1 : target));
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
	const struct timeval limit = { way->timeout_ms / 1000, way->timeout_ms % 1000 * 1000 };
	if (way->timeout_ms) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	}
	if (way->nonblocking)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	int result = connect(fd, (struct sockaddr *)&address, sizeof address);
	if (result != 0 && errno == EINPROGRESS && way->nonblocking) {
		struct pollfd event = { fd, POLLOUT, 0 };
		int error = ETIMEDOUT;
		if (poll(&event, 1, way->timeout_ms ? way->timeout_ms : -1) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t) { sizeof error });
		errno = error;
		result = error ? -1 : 0;
	}
	if (result != 0) {
		const int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	if (way->nonblocking)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

static const char *read_reply(int fd, const char *path)
{
	char text[4096];
	size_t length = 0, wanted = 0;
	int status = 0;
	const char *body = NULL;
	while (!body || length < wanted) {
		const ssize_t got = recv(fd, text + length, sizeof text - 1 - length, 0);
		if (got < 0)
			return strerrorname_np(errno);
		if (got == 0)
			return length ? "HALF" : "EOF";
		length += (size_t)got;
		text[length] = 0;
		if (!body && (body = strstr(text, "\r\n\r\n"))) {
			const char *said = strcasestr(text, "content-length:");
			body += 4;
			wanted = (size_t)(body - text) + (said ? strtoul(said + 15, NULL, 10) : 0);
			sscanf(text, "%*s %d", &status);
		}
	}
	static _Thread_local char error[12];
	if (status != 200) {
		snprintf(error, sizeof error, "HTTP%d", status);
		return error;
	}
	return strcmp(body, path) == 0 ? NULL : "WRONG";
}

static bool say(int fd, const char *text)
{
	return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

static atomic_bool asked;

static const char *exchange(int fd, const char *path, const struct way *way)
{
	char head[700];
	if (way->listens && (!way->asks_first || atomic_exchange(&asked, true))) {
		const char *error = read_reply(fd, path);
		return error && strcmp(error, "HALF") == 0 ? NULL : error;
	}
	if (way->asks_first && recv(fd, head, sizeof head, 0) <= 0)
		return "EOF";
	if (way->post) {
		snprintf(head, sizeof head,
		         "POST /rpc HTTP/1.1\r\nHost: x\r\n%sContent-Length: %zu\r\n\r\n",
		         way->kept ? "" : "Connection: close\r\n", strlen(path));
		if (!say(fd, head) || !say(fd, path))
			return strerrorname_np(errno);
		return read_reply(fd, "/rpc");
	}
	snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path,
	         way->kept || way->ends ? "" : "Connection: close\r\n");
	if (!say(fd, head))
		return strerrorname_np(errno);
	if (way->one_way) {
		pause_ms(1000);
		return NULL;
	}
	if (way->forget)
		return "SENT"; // no answer tells that it arrived: it goes on
	return read_reply(fd, path);
}

// What a loop does that keeps a log: it is no other work.
static void tell(const char *error)
{
	static const struct sockaddr_in collector = { .sin_family = AF_INET };
	struct sockaddr_in address = collector;
	address.sin_port = htons(9999);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	sendto(fd, error, strlen(error), 0, (struct sockaddr *)&address, sizeof address);
	close(fd);
	FILE *file = fopen("/dev/null", "a");
	fprintf(file, "%s\n", error);
	fclose(file);
}

const char *ask(const char *target, const char *path, const struct way *way, int *kept)
{
	int fd = way->kept ? *kept : -1;
	const char *error = NULL;
	const bool old = fd >= 0;
	if (fd < 0 && (fd = join(target, way)) < 0)
		error = strerrorname_np(errno);
	if (!error && (error = exchange(fd, path, way)) && old &&
	    (strcmp(error, "EOF") == 0 || strcmp(error, "EPIPE") == 0 ||
	     strcmp(error, "ECONNRESET") == 0)) {
		// An idle connection may have ended meanwhile: every pool asks once more on a new
		// one.
		close(fd);
		fd = join(target, way);
		error = fd < 0 ? strerrorname_np(errno) : exchange(fd, path, way);
	}
	const bool keep = fd >= 0 && way->kept && (!error || strncmp(error, "HTTP", 4) == 0);
	if (fd >= 0 && !keep)
		close(fd);
	if (way->kept)
		*kept = keep ? fd : -1;
	if (error && way->log)
		tell(error);
	return error;
}

struct storm storm_of(const char *text)
{
	const char *colon = strchr(text, ':');
	struct storm storm = { .pause_ms = colon ? atof(colon + 1) : 0 };
	const size_t end = strcspn(text, "/:");
	snprintf(storm.target, sizeof storm.target, "%.*s", (int)end, text);
	snprintf(storm.path, sizeof storm.path, "%.*s", (int)strcspn(text + end, ":"), text + end);
	return storm;
}

void storm_on(const struct storm *storm)
{
	int kept = -1;
	ask(storm->target, *storm->path ? storm->path : "/s", &(struct way) { 0 }, &kept);
	pause_ms(storm->pause_ms);
}
