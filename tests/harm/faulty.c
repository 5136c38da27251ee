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
 *   status=CODE    answers so
 *   err=P, busy=P  500 or 503 to P % of the requests
 *   socks          agrees to go on, as a SOCKS proxy, and then can reach nobody
 *   broken         502 to each path that begins with /d
 *   shuts          closes instead of an answer to those
 *   polls          says nothing to those
 *   limit=N        429 with Retry-After: 60 to the Nth request of all
 *   rate=N         answers N requests in each second, all others 429 with Retry-After: 1
 *   greet=N        a refusal in band, then a close: 1 MySQL 1040, 2 SMTP 421, 3 PostgreSQL 53300,
 *                  4 a TLS alert, 5 HTTP 503
 *   hello=MS       says "220 ready", answers the first, and closes all others after MS
 *   daytime        says one line and closes
 *   pg             a PostgreSQL that answers "SELECT 1" to everything
 *   push=MS        a producer: a line each MS
 *   dns            a DNS server (UDP): names good* have an address, sf* are SERVFAIL, mute* get no
 *                  answer, and all others do not exist
 * Says "ready"; at the end of its input prints a line for each port:
 *   PORT SYNS CONNECTIONS REQUESTS SYNS-IN-EACH-SECOND...
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	PHASES = 64,
	PORTS = 40,
	SECONDS = 130,
	CONNECTIONS = 20000,
	REQUEST = 8192,
	SEEN = 1 << 16
};

struct phase {
	char what[12];
	int number;
	double from;
};

struct port {
	char address[20];
	int number, listener, now, phases;
	struct phase phase[PHASES];
	long syns, connections, requests, by_second[SECONDS], in_second[SECONDS];
};

// What is to be done with a connection at a time: answer or close.
struct later {
	double due;
	int fd;
	unsigned generation;
	bool answer;
};

struct connection {
	struct port *port;
	unsigned generation;
	int length;
	bool started; // fake PostgreSQL: past its greeting
	char request[REQUEST];
};

static struct port ports[PORTS];
static int port_count, poller, tap;
static struct connection *connections[CONNECTIONS];
static struct later *laters;
static int later_count, later_room;
static unsigned generations, drawn = 1;
static double began;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9 - began;
}

// The same draws in each run, so that bare and shim meet the same luck.
static int percent(void)
{
	drawn = drawn * 1103515245u + 12345u;
	return (int)((drawn >> 16) % 100);
}

static struct phase *phase_of(const struct port *port)
{
	return (struct phase *)&port->phase[port->now];
}

static bool is(const struct port *port, const char *what)
{
	return strcmp(phase_of(port)->what, what) == 0;
}

static void watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
	epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

static void drop(int fd)
{
	if (fd < CONNECTIONS && connections[fd]) {
		free(connections[fd]);
		connections[fd] = NULL;
	}
	close(fd);
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
		if (!listens) // who is connected loses it, as when a server dies
			for (int fd = 0; fd < CONNECTIONS; fd++)
				if (connections[fd] && connections[fd]->port == port)
					drop(fd);
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

static void say(int fd, const char *text, size_t length)
{
	if (send(fd, text, length, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		perror("faulty: send");
}

static void reply(int fd, int status, const char *extra, const char *body)
{
	char text[REQUEST];
	const int length =
	    snprintf(text, sizeof text, "HTTP/1.1 %d %s\r\n%sContent-Length: %zu\r\n\r\n%s", status,
	             status == 200 ? "OK" : "Failed", extra, strlen(body), body);
	say(fd, text, (size_t)length);
}

// The length of the first whole request in the buffer, or 0.
static int whole(const struct connection *c)
{
	const char *end = memmem(c->request, (size_t)c->length, "\r\n\r\n", 4);
	if (!end)
		return 0;
	int length = (int)(end - c->request) + 4;
	for (const char *p = c->request; p && p < end;
	     p = memchr(p, '\n', (size_t)(end - p)), p += p != NULL)
		if (strncasecmp(p, "content-length:", 15) == 0)
			length += atoi(p + 15);
	return length <= c->length ? length : 0;
}

static bool over_rate(struct port *port)
{
	const int second = (int)now();
	return ++port->in_second[second < SECONDS ? second : SECONDS - 1] > phase_of(port)->number;
}

static void answer(int fd)
{
	struct connection *c = connections[fd];
	const int length = whole(c);
	char path[512] = "";
	sscanf(c->request, "%*s %500s", path);
	char *head = strndup(c->request, (size_t)length);
	const bool last = strcasestr(head, "connection: close") || strstr(head, " HTTP/1.0\r");
	free(head);
	const struct phase *phase = phase_of(c->port);
	memmove(c->request, c->request + length, (size_t)(c->length - length));
	c->length -= length;
	if (strcmp(phase->what, "status") == 0)
		reply(fd, phase->number, "", "no");
	else if (strcmp(phase->what, "err") == 0 && percent() < phase->number)
		reply(fd, 500, "", "no");
	else if (strcmp(phase->what, "busy") == 0 && percent() < phase->number)
		reply(fd, 503, "", "no");
	else if (strcmp(phase->what, "broken") == 0 && strncmp(path, "/d", 2) == 0)
		reply(fd, 502, "", "no");
	else if (strcmp(phase->what, "limit") == 0 && c->port->requests == phase->number)
		reply(fd, 429, "Retry-After: 60\r\n", "no");
	else if (strcmp(phase->what, "rate") == 0 && over_rate(c->port))
		reply(fd, 429, "Retry-After: 1\r\n", "no");
	else
		reply(fd, 200, last ? "Connection: close\r\n" : "", path);
	if (last)
		drop(fd);
}

static void greet(int fd, int kind)
{
	static const char mysql[] = "\x17\0\0\0\xff\x10\x04#08004Too many clients";
	static const char postgres[] = "E\0\0\0\x1b"
				       "SFATAL\0C53300\0Mbusy\0\0\0\0";
	static const char alert[] = "\x15\x03\x03\0\x02\x02\x50";
	static const char smtp[] = "421 4.3.2 not now\r\n";
	static const char http[] = "HTTP/1.0 503 Busy\r\nContent-Length: 2\r\n\r\nno";
	const char *texts[] = { mysql, smtp, postgres, alert, http };
	const size_t lengths[] = { sizeof mysql - 1, sizeof smtp - 1, sizeof postgres - 1,
		                   sizeof alert - 1, sizeof http - 1 };
	say(fd, texts[kind - 1], lengths[kind - 1]);
}

static void postgres(int fd)
{
	struct connection *c = connections[fd];
	static const char ready[] = "R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
	static const char done[] = "C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
	if (!c->started && c->length >= 8) {
		const bool asks_for_tls = memcmp(c->request + 4, "\x04\xd2\x16\x2f", 4) == 0 ||
		                          memcmp(c->request + 4, "\x04\xd2\x16\x30", 4) == 0;
		asks_for_tls ? say(fd, "N", 1) : say(fd, ready, sizeof ready - 1);
		c->started = !asks_for_tls;
	} else if (c->started && c->request[0] == 'Q') {
		c->port->requests++;
		say(fd, done, sizeof done - 1);
	}
	c->length = 0;
}

/* A proxy (SOCKS 5) that can reach nobody: refused. */
static void socks(int fd)
{
	struct connection *c = connections[fd];
	const bool asks = c->length >= 10;
	c->length = 0;
	if (!asks) {
		say(fd, "\x05\0", 2);
		return;
	}
	c->port->requests++;
	say(fd, "\x05\x05\0\x01\0\0\0\0\0\0", 10);
	drop(fd);
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

static void resolve(struct port *port)
{
	unsigned char packet[600];
	struct sockaddr_in from;
	ssize_t length;
	socklen_t size = sizeof from;
	while ((length = recvfrom(port->listener, packet, 512, 0, (struct sockaddr *)&from,
	                          &size)) > 16) {
		port->requests++;
		const char *name = (const char *)packet + 13;
		int end = 12;
		while (packet[end] && end < length)
			end += packet[end] + 1;
		const int type = packet[end + 2];
		const bool good = strncmp(name, "good", 4) == 0;
		length = end + 5;
		packet[2] = 0x81;
		packet[3] = (unsigned char)(0x80 | (good                          ? 0
		                                    : strncmp(name, "sf", 2) == 0 ? 2
		                                                                  : 3));
		memset(packet + 6, 0, 6);
		if (good && type == 1) {
			static const unsigned char record[] = { 0xc0, 12, 0, 1, 0,   1, 0, 0,
				                                0,    0,  0, 4, 127, 0, 0, 1 };
			memcpy(packet + length, record, sizeof record);
			length += (ssize_t)sizeof record;
			packet[7] = 1;
		}
		if (strncmp(name, "mute", 4) != 0)
			sendto(port->listener, packet, (size_t)length, 0, (struct sockaddr *)&from,
			       size);
	}
}

// A SYN of the same port and sequence number is one that the kernel sent again, no new attempt.
static bool sent_again(uint16_t source, uint32_t sequence)
{
	static uint32_t seen[SEEN];
	const bool again = seen[source] == sequence;
	seen[source] = sequence;
	return again;
}

static void count_syns(void)
{
	unsigned char packet[128];
	struct sockaddr_ll from;
	for (;;) {
		socklen_t size = sizeof from;
		const ssize_t length = recvfrom(tap, packet, sizeof packet, MSG_DONTWAIT,
		                                (struct sockaddr *)&from, &size);
		if (length < 40)
			return;
		const unsigned char *tcp = packet + (packet[0] & 15) * 4;
		if (from.sll_pkttype != PACKET_OUTGOING || (tcp[13] & 0x12) != 0x02)
			continue;
		uint16_t source, target;
		uint32_t sequence;
		memcpy(&source, tcp, 2);
		memcpy(&target, tcp + 2, 2);
		memcpy(&sequence, tcp + 4, 4);
		for (int i = 0; i < port_count; i++) {
			struct port *port = &ports[i];
			struct in_addr address;
			inet_pton(AF_INET, port->address, &address);
			if (port->number != ntohs(target) ||
			    (address.s_addr != INADDR_ANY && memcmp(&address, packet + 16, 4) != 0))
				continue;
			if (!sent_again(source, sequence)) {
				port->syns++;
				const int second = (int)now();
				port->by_second[second < SECONDS ? second : SECONDS - 1]++;
			}
			break;
		}
	}
}

static void open_tap(void)
{
	// TCP, and the flags of the segment say SYN without ACK.
	struct sock_filter syns[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 4),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, 128),
	};
	struct sock_fprog program = { sizeof syns / sizeof *syns, syns };
	tap = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
	if (tap < 0) {
		perror("faulty: no packet socket");
		exit(1);
	}
	setsockopt(tap, SOL_SOCKET, SO_RCVBUFFORCE, &(int) { 16 << 20 }, sizeof(int));
	setsockopt(tap, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
	watch(tap);
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
	open_tap();
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
				count_syns();
			else if (listening && is(listening, "dns"))
				resolve(listening);
			else if (listening)
				welcome(listening);
			else if (fd < CONNECTIONS && connections[fd])
				readable(fd);
		}
	}
	count_syns();
	for (int i = 0; i < port_count; i++) {
		const struct port *p = &ports[i];
		printf("%d %ld %ld %ld", p->number, p->syns, p->connections, p->requests);
		for (int s = 0; s < (int)now() && s < SECONDS; s++)
			printf(" %ld", p->by_second[s]);
		puts("");
	}
	return 0;
}
