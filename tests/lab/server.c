/* SPDX-License-Identifier: MIT */
/*
 * A server of limited capacity: it answers so many requests a second, in the order in which they
 * came, whether their clients still wait or not; what comes faster waits in its queue, and what
 * finds that full is reset. It goes through phases of failing.
 *
 * Usage: server PORT RATE QUEUE [PHASE@SECONDS]...
 *   ok        answers
 *   hang      takes requests, and never answers those
 *   refuse    does not listen
 *   cut       the same, and resets whoever is connected
 *   fail=P    hangs up on P of 100 requests instead of an answer
 *   slow=MS   answers each so much later
 *   busy      answers with a 503
 *
 * A connection is kept unless its request says that it is to be closed.
 *
 * Prints "ready" once it listens (or would, if it begins by refusing). At the end of its input it
 * prints a line for each tenth of a second: answered, answered in vain (the client was gone),
 * reset, and how long the queue was.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST = 65536,
	PHASES = 64,
	BINS = 6000, /* ten minutes */
	REQUEST = 2048,
	EVENTS = 256,
	TICK_MS = 5,
};

struct phase {
	char what[12];
	double number, from;
};

struct wait {
	int fd;
	uint32_t generation;
	double due;
};

static struct phase phases[PHASES];
static int phase_count, phase, listener = -1, epoll, port;
static double rate, began, owed, ticked;
static unsigned int most_waiting, head, tail;
static bool is_open[MOST];
static struct wait queue[MOST];
static uint32_t generation[MOST];
static char *requests[MOST]; /* by descriptor: what has been read of it, until it is queued */
static struct bin {
	long answered, in_vain, reset, waiting;
} bins[BINS];
static uint64_t chance = 88172645463325252;

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct bin *bin_now(void)
{
	long at = (long)((seconds_now() - began) * 10);

	return &bins[at < BINS ? at : BINS - 1];
}

static bool is(const char *what)
{
	return strcmp(phases[phase].what, what) == 0;
}

static void end(int fd, bool reset)
{
	struct linger linger = { .l_onoff = 1 };

	if (reset)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	free(requests[fd]);
	requests[fd] = NULL;
	generation[fd]++;
	is_open[fd] = false;
	close(fd);
}

static void start_listening(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)port),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct epoll_event event = { .events = EPOLLIN };
	int on = 1;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 4096)) {
		perror("server");
		exit(1);
	}
	event.data.fd = listener;
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
}

static void enter_phase(void)
{
	bool refuses = is("refuse") || is("cut");

	if (refuses && listener >= 0) {
		close(listener);
		listener = -1;
	} else if (!refuses && listener < 0) {
		start_listening();
	}
	for (int fd = 0; fd < MOST && is("cut"); fd++)
		if (is_open[fd])
			end(fd, true);
}

static void accept_all(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		if (fd >= MOST) {
			close(fd);
			continue;
		}
		is_open[fd] = true;
		event.data.fd = fd;
		epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	}
}

/* A whole request takes its place in the queue. */
static void enqueue(int fd)
{
	double extra = is("slow") ? phases[phase].number / 1000 : 0;

	if (is("hang"))
		return; /* until the client gives up */
	if (tail - head >= most_waiting) {
		bin_now()->reset++;
		end(fd, true);
		return;
	}
	queue[tail++ % MOST] = (struct wait) { fd, generation[fd], seconds_now() + extra };
}

static void read_more(int fd)
{
	size_t used;
	ssize_t got;

	if (!requests[fd] && !(requests[fd] = calloc(1, REQUEST)))
		return end(fd, true);
	used = strlen(requests[fd]);
	got = read(fd, requests[fd] + used, REQUEST - 1 - used);
	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0)
		return end(fd, false); /* its place in the queue is worked off in vain */
	if (strstr(requests[fd], "\r\n\r\n"))
		enqueue(fd);
}

static void answer(const struct wait *next)
{
	char path[512] = "", text[1024];
	bool closes;
	int n;

	if (generation[next->fd] != next->generation) { /* the work has been done all the same */
		bin_now()->in_vain++;
		return;
	}
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	if (is("fail") && (double)(chance % 10000) < phases[phase].number * 100)
		return end(next->fd, false);
	sscanf(requests[next->fd], "%*s %511s", path);
	closes = strstr(requests[next->fd], "Connection: close");
	n = snprintf(text, sizeof(text), "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s",
	             is("busy") ? "503 Busy" : "200 OK", closes ? "Connection: close\r\n" : "",
	             strlen(path), path);
	if (send(next->fd, text, (size_t)n, MSG_NOSIGNAL) == n && !is("busy"))
		bin_now()->answered++;
	else
		bin_now()->in_vain++;
	if (closes)
		end(next->fd, false);
	else
		memset(requests[next->fd], 0, REQUEST);
}

/* What the time since the last tick allows. */
static void work(void)
{
	double now = seconds_now();

	if (phase + 1 < phase_count && now - began >= phases[phase + 1].from) {
		phase++;
		enter_phase();
	}
	owed += (now - ticked) * rate;
	ticked = now;
	for (; owed >= 1 && head != tail && queue[head % MOST].due <= now; owed--)
		answer(&queue[head++ % MOST]);
	if (owed > 1) /* idle time cannot be kept */
		owed = 1;
	bin_now()->waiting = (long)(tail - head);
}

static void print_bins(void)
{
	for (long i = 0; i < BINS && (double)i < (seconds_now() - began) * 10; i++)
		printf("%ld %ld %ld %ld\n", bins[i].answered, bins[i].in_vain, bins[i].reset,
		       bins[i].waiting);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct rlimit files = { MOST, MOST };
	struct epoll_event events[EVENTS], input = { .events = EPOLLIN, .data.fd = 0 };

	if (argc < 4) {
		fputs("usage: server PORT RATE QUEUE [PHASE@SECONDS]...\n", stderr);
		return 2;
	}
	port = atoi(argv[1]);
	rate = atof(argv[2]);
	most_waiting = (unsigned int)atoi(argv[3]);
	strcpy(phases[0].what, "ok");
	for (int i = 4; i < argc && phase_count < PHASES; i++) {
		struct phase *one = &phases[phase_count++];

		if (sscanf(argv[i], "%11[a-z]=%lf@%lf", one->what, &one->number, &one->from) < 2 &&
		    sscanf(argv[i], "%11[a-z]@%lf", one->what, &one->from) < 1) {
			fprintf(stderr, "server: %s: no phase\n", argv[i]);
			return 2;
		}
	}
	if (phase_count == 0)
		phase_count = 1;
	setrlimit(RLIMIT_NOFILE, &files);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	began = ticked = seconds_now();
	enter_phase();
	epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &input);
	puts("ready");
	fflush(stdout);
	for (;;) {
		int count = epoll_wait(epoll, events, EVENTS, TICK_MS);

		for (int i = 0; i < count; i++) {
			int fd = events[i].data.fd;
			char byte;

			if (fd == 0 && read(0, &byte, 1) <= 0) {
				print_bins();
				return 0;
			}
			if (fd == listener)
				accept_all();
			else if (fd > 0)
				read_more(fd);
		}
		work();
	}
}
