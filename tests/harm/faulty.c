// SPDX-License-Identifier: MIT
/*
 * Servers that fail on order, all in one process, and a count of every attempt at them: of each
 * SYN, also of those that the kernel refuses or drops, and of each request and datagram.
 *
 * Usage: faulty [ADDRESS/]PORT:PHASE[,PHASE@SECONDS]...
 *   ok[=MS]        answers the path that was asked, after MS
 *   refuse         does not listen
 *   blackhole      the kernel drops every segment
 *   close          accepts, then closes
 *   readclose      reads the request, then closes
 *   hang           reads the request and says nothing
 *   mute           reads whatever comes, for ever
 *   late=MS        accepts, and closes after MS
 *   cfail=P        closes P % of the connections at once, answers on the others
 *   fail=P         closes instead of an answer to P % of the requests
 *   nth=N          closes instead of an answer to each Nth request
 *   status=CODE    answers so
 *   err=P, busy=P  500 or 503 to P % of the requests
 *   socks          agrees to go on, as a SOCKS proxy, and then can reach nobody
 *   broken         502 to each path that begins with /d
 *   shuts          closes instead of an answer to those
 *   polls          says nothing to those
 *   limit=N        429 with Retry-After: 60 to the Nth request of all
 *   bars=N         429 with Retry-After: N to each path that begins with /d
 *   rate=N         answers N requests in each second, all others 429 with Retry-After: 1
 *   greet=N        a refusal in band, then a close: 1 MySQL 1040, 2 SMTP 421, 3 PostgreSQL 53300,
 *                  4 a TLS alert, 5 HTTP 503
 *   hello=MS       says "220 ready", answers the first, and closes all others after MS
 *   daytime        says one line and closes
 *   lines          answers each line with the same, and "quit" with the end of the connection
 *   vanish         answers, and has forgotten all connections of before: who asks on one is reset
 *   pg             a PostgreSQL that answers "SELECT 1" to everything
 *   push=MS        a producer: a line each MS
 *   dns            a DNS server (UDP): names good* have an address, sf* are SERVFAIL, mute* get no
 *                  answer, and all others do not exist
 * Says "ready"; at the end of its input prints a line for each port:
 *   PORT SYNS CONNECTIONS REQUESTS SYNS-IN-EACH-SECOND...
 */
#include "faulty.h"

#include "faulty_say.h"
#include "faulty_syns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// What is to be done with a connection at a time: answer or close.
struct later {
	double due;
	int fd;
	unsigned generation;
	bool answer;
};

struct port ports[PORTS];
int port_count;
struct connection *connections[CONNECTIONS];
static int poller;
static struct later *laters;
static int later_count, later_room;
static unsigned generations, drawn = 1;
static double began;

double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9 - began;
}

int percent(void)
{
	drawn = drawn * 1103515245u + 12345u;
	return (int)((drawn >> 16) % 100);
}

void watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
	epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

void drop(int fd)
{
	if (fd < CONNECTIONS && connections[fd]) {
		free(connections[fd]);
		connections[fd] = NULL;
	}
	close(fd);
}

// As a NAT forgets it: no segment tells the other side.
static void forget(int fd)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &(int) { 1 }, sizeof(int)) != 0)
		perror("faulty: TCP_REPAIR");
	drop(fd);
}

static void do_later(int fd, double milliseconds, bool answer)
{
	if (later_count == later_room)
		laters = realloc(laters, sizeof *laters * (later_room = 2 * later_room + 64));
	laters[later_count++] =
	    (struct later) { now() + milliseconds / 1e3, fd, connections[fd]->generation, answer };
}

static void enter(struct port *port)
{
	const bool dns = is(port, "dns");
	const bool listens = !is(port, "refuse");
	if (!listens || port->listener >= 0) {
		if (port->listener >= 0)
			close(port->listener);
		port->listener = -1;
		for (int fd = 0; fd < CONNECTIONS; fd++) {
			if (!connections[fd] || connections[fd]->port != port)
				continue;
			if (!listens) // who is connected loses it, as when a server dies
				drop(fd);
			else if (is(port, "vanish"))
				forget(fd);
		}
	}
	if (!listens)
		return;
	const int fd =
	    socket(AF_INET, (dns ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int) { 1 }, sizeof(int));
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)port->number) };
	inet_pton(AF_INET, port->address, &address.sin_addr);
	if (is(port, "blackhole")) {
		struct sock_filter none[] = { BPF_STMT(BPF_RET | BPF_K, 0) };
		struct sock_fprog program = { 1, none };
		setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
	}
	if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
	    (!dns && listen(fd, 4096) != 0)) {
		perror("faulty: bind");
		exit(1);
	}
	port->listener = fd;
	watch(fd);
}

static void readable(int fd)
{
	struct connection *c = connections[fd];
	const ssize_t got = recv(fd, c->request + c->length, (size_t)(REQUEST - c->length), 0);
	if (got <= 0) {
		if (got == 0 || errno != EAGAIN)
			drop(fd);
		return;
	}
	struct port *port = c->port;
	if (is(port, "mute") || is(port, "late") || (is(port, "hello") && port->connections > 1)) {
		c->length = 0;
		return;
	}
	c->length += (int)got;
	if (is(port, "pg")) {
		postgres(fd);
		return;
	}
	if (is(port, "socks")) {
		socks(fd);
		return;
	}
	if (is(port, "lines")) {
		line(fd);
		return;
	}
	while (connections[fd] == c && whole(c)) {
		port->requests++;
		const struct phase *phase = phase_of(port);
		if (is(port, "hang")) {
			c->length = 0;
		} else if (is(port, "greet")) {
			greet(fd, phase->number);
			drop(fd);
		} else if (is(port, "readclose") ||
		           (is(port, "fail") && percent() < phase->number) ||
		           (is(port, "nth") && port->requests % phase->number == 0) ||
		           (is(port, "shuts") && strncmp(c->request, "GET /d", 6) == 0)) {
			drop(fd);
		} else if (is(port, "polls") && strncmp(c->request, "GET /d", 6) == 0) {
			c->length = 0;
		} else if (is(port, "ok") && phase->number) {
			do_later(fd, phase->number, true);
			return;
		} else {
			answer(fd);
		}
	}
}

static void welcome(struct port *port)
{
	for (int i = 0; i < 64; i++) {
		const int fd = accept4(port->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		const struct phase *phase = phase_of(port);
		port->connections++;
		if (fd >= CONNECTIONS || is(port, "close") ||
		    (is(port, "cfail") && percent() < phase->number)) {
			close(fd);
			continue;
		}
		if (is(port, "daytime")) {
			say(fd, "14:41\r\n", 7);
			close(fd);
			continue;
		}
		if (is(port, "hello"))
			say(fd, "220 ready\r\n", 11);
		if (is(port, "greet") &&
		    phase->number < 4) { // 4 and 5 speak when they were spoken to
			greet(fd, phase->number);
			shutdown(fd, SHUT_WR); // closing at once might reset before it is read
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int) { 1 }, sizeof(int));
		connections[fd] = calloc(1, sizeof **connections);
		connections[fd]->port = port;
		connections[fd]->generation = ++generations;
		watch(fd);
		if (is(port, "late") || (is(port, "hello") && port->connections > 1) ||
		    is(port, "push") || is(port, "greet"))
			do_later(fd, is(port, "greet") ? 100 : phase->number, false);
	}
}

static void parse(char *text)
{
	struct port *port = &ports[port_count++];
	char *phases = strchr(text, ':');
	char *slash = strchr(text, '/');
	*phases++ = 0;
	snprintf(port->address, sizeof port->address, "%s",
	         slash && slash < phases ? text : "0.0.0.0");
	if (slash && slash < phases) {
		port->address[slash - text] = 0;
		text = slash + 1;
	}
	port->number = atoi(text);
	port->listener = -1;
	for (char *one = strtok(phases, ","); one; one = strtok(NULL, ",")) {
		struct phase *phase = &port->phase[port->phases++];
		char *at = strchr(one, '@'), *equal = strchr(one, '=');
		if (at)
			phase->from = atof(at + 1), *at = 0;
		if (equal)
			phase->number = atoi(equal + 1), *equal = 0;
		snprintf(phase->what, sizeof phase->what, "%s", one);
	}
	enter(port);
}

// Runs what is due; returns how long to wait for the next, in ms.
static int tick(void)
{
	const double time = now();
	for (int i = 0; i < later_count;) {
		const struct later l = laters[i];
		if (l.due > time) {
			i++;
			continue;
		}
		laters[i] = laters[--later_count];
		struct connection *c = connections[l.fd];
		if (!c || c->generation != l.generation)
			continue;
		if (l.answer)
			answer(l.fd);
		else if (is(c->port, "push")) {
			say(l.fd, "job\n", 4);
			do_later(l.fd, phase_of(c->port)->number, false);
		} else
			drop(l.fd);
	}
	for (int i = 0; i < port_count; i++) {
		struct port *port = &ports[i];
		while (port->now + 1 < port->phases && port->phase[port->now + 1].from <= time) {
			port->now++;
			enter(port);
		}
	}
	return later_count ? 1 : 10;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit) { CONNECTIONS, CONNECTIONS });
	poller = epoll_create1(EPOLL_CLOEXEC);
	const int tap = open_tap();
	watch(tap);
	began = 0;
	began = now();
	for (int i = 1; i < argc && i <= PORTS; i++)
		parse(argv[i]);
	watch(0);
	puts("ready");
	fflush(stdout);
	for (bool more = true; more;) {
		struct epoll_event events[256];
		const int count = epoll_wait(poller, events, 256, tick());
		for (int i = 0; i < count; i++) {
			const int fd = events[i].data.fd;
			struct port *listening = NULL;
			for (int p = 0; p < port_count; p++)
				if (ports[p].listener == fd)
					listening = &ports[p];
			if (fd == 0)
				more = false;
			else if (fd == tap)
				count_syns(tap);
			else if (listening && is(listening, "dns"))
				resolve(listening);
			else if (listening)
				welcome(listening);
			else if (fd < CONNECTIONS && connections[fd])
				readable(fd);
		}
	}
	count_syns(tap);
	for (int i = 0; i < port_count; i++) {
		const struct port *p = &ports[i];
		printf("%d %ld %ld %ld", p->number, p->syns, p->connections, p->requests);
		for (int s = 0; s < (int)now() && s < SECONDS; s++)
			printf(" %ld", p->by_second[s]);
		puts("");
	}
	return 0;
}
