/* SPDX-License-Identifier: MIT */
/* Datagrams that are no retries, and odd calls: all must be as without the shim. Usage: datagram.h
 */
#include "datagram.h"

#include <netinet/udp.h>

/* The same datagram again and again, each made of pieces: half of one must not be dropped. */
static void scenario_pieces(void)
{
	int fd = new_client(), on = 1, off = 0, n = 0;

	for (int i = 0; i < TRIES; i++) {
		send(fd, "wo", 2, MSG_MORE);
		send(fd, "rd", 2, 0);
		n += arrived(false);
	}
	send(fd, "word", 4, 0);
	n += arrived(false);
	for (int i = 0; i < TRIES; i++) {
		setsockopt(fd, IPPROTO_UDP, UDP_CORK, &on, sizeof(on));
		send(fd, "word", 4, 0);
		setsockopt(fd, IPPROTO_UDP, UDP_CORK, &off, sizeof(off));
		n += arrived(false);
	}
	printf("pieces: arrived %d\n", n);
	close(fd);
}

/* Questions in pairs, one after the other, before any answer came. */
static void scenario_pairs(void)
{
	int fd = new_client(), good = 0;

	for (int i = 0; i < 10; i++) {
		good += ask(fd, "for one family") == 14 && ask(fd, "for the other") == 13;
		good += arrived(true) == 2;
		good += hear(fd, 5000) == 14 && hear(fd, 5000) == 13;
		pause_ms(5);
	}
	printf("pairs: %d\n", good);
	close(fd);
}

/* Requests that wait for long and are given up; each closes within its timeout: no outcome. */
static void scenario_short(void)
{
	int n = 0;

	for (int i = 0; i < TRIES; i++) {
		char text[8];
		int fd = new_client();

		snprintf(text, sizeof(text), "%d", i);
		ask(fd, text);
		n += arrived(false);
		close(fd);
	}
	printf("short: arrived %d\n", n);
}

/* Nobody there: the error comes with the next call, whichever that is. */
static void scenario_refused(void)
{
	int fd;

	close(server);
	fd = new_client();
	for (int i = 0; i < TRIES; i++) {
		ssize_t n = ask(fd, "word");

		printf("send: %zd %s", n, n < 0 ? error_name(errno) : "ok");
		pause_ms(20);
		if (i % 2) {
			n = recv(fd, &n, 1, MSG_DONTWAIT);
			printf(", recv: %zd %s", n, n < 0 ? error_name(errno) : "ok");
		}
		printf("\n");
	}
	close(fd);
}

static void say(const char *what, ssize_t n)
{
	printf("%s: %zd %s\n", what, n, n < 0 ? error_name(errno) : "ok");
}

/* Not known to the compiler, which would say what is wrong with them. */
static volatile intptr_t wrong[] = { 1, -1 };

/* Of a message in two parts. */
static struct iovec two[2] = { { "wo", 2 }, { "rd", 2 } };
static char large[70000];

static void send_odd_pieces(int fd)
{
	int on = 1, off = 0;

	say("empty", ask(fd, ""));
	say("empty again", send(fd, "", 0, 0));
	say("piece", send(fd, "pie", 3, MSG_MORE));
	say("second piece", send(fd, "ces", 3, MSG_MORE));
	say("last piece", send(fd, "end", 3, 0));
	setsockopt(fd, IPPROTO_UDP, UDP_CORK, &on, sizeof(on));
	say("corked", send(fd, "cork", 4, 0));
	say("corked", send(fd, "cork", 4, 0));
	setsockopt(fd, IPPROTO_UDP, UDP_CORK, &off, sizeof(off));
	printf("arrived: %d\n", arrived(false));
}

static void send_odd_batches(int fd)
{
	static struct mmsghdr many[1100];

	say("no messages", sendmmsg(fd, (void *)wrong[0], 0, 0));
	say("bad messages", sendmmsg(fd, (void *)wrong[0], 1, 0));
	for (int i = 0; i < 1100; i++)
		many[i].msg_hdr =
		    (struct msghdr) { .msg_iov = two, .msg_iovlen = i != 2 ? 2 : 5000 };
	say("a bad one among messages", sendmmsg(fd, many, 1100, MSG_DONTWAIT));
	for (int i = 0; i < 1100; i++)
		many[i].msg_hdr.msg_iovlen = 0;
	say("more messages than go at once", sendmmsg(fd, many, 1100, MSG_DONTWAIT));
	arrived(false);
}

static void send_odd_messages(int fd)
{
	union {
		char space[CMSG_SPACE(sizeof(struct in_pktinfo))];
		struct cmsghdr head;
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo)),
		                .cmsg_level = IPPROTO_IP,
		                .cmsg_type = IP_PKTINFO } };
	struct msghdr head = { .msg_iov = two, .msg_iovlen = 5000 };

	say("bad parts", writev(fd, (void *)wrong[0], 1));
	say("bad count", writev(fd, two, (int)wrong[1]));
	say("too many parts", sendmsg(fd, &head, 0));
	head.msg_iovlen = 2;
	head.msg_control = &control;
	head.msg_controllen = sizeof(control);
	say("control data", sendmsg(fd, &head, 0));
	printf("arrived: %d\n", arrived(false));
	say("out of band", send(fd, "word", 4, MSG_OOB));
}

/* To other peers than its own, and what it then hears; it is shut down at last. */
static void turn_to_others(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	say("dissolved", connect(fd, &none, sizeof(none)));
	say("to nobody", send(fd, "word", 4, 0));
	say("to port 0", sendto(fd, "word", 4, 0,
	                        (struct sockaddr *)&(struct sockaddr_in) { .sin_family = AF_INET },
	                        sizeof(struct sockaddr_in)));
	say("to nothing", sendto(fd, "word", 4, 0, (struct sockaddr *)wrong[0], 16));
	say("to the server", sendto(fd, "last", 4, 0, (struct sockaddr *)&to, to_len));
	printf("arrived: %d\n", arrived(true));
	say("peek", recv(fd, large, 100, MSG_PEEK));
	say("answer", recv(fd, large, 100, 0));
	say("nothing", recv(fd, large, 100, MSG_DONTWAIT));
	say("bad buffer", recvmsg(fd, (void *)wrong[0], MSG_DONTWAIT));
	shutdown(fd, SHUT_RDWR);
	say("after shutdown", recv(fd, large, 100, MSG_DONTWAIT));
}

/* Odd calls on a socket that has an unanswered datagram: all must be as without the shim. */
static void scenario_odd(void)
{
	int fd = new_client(), back;

	errno = 0;
	send_odd_pieces(fd);
	say("in parts", sendmsg(fd, &(struct msghdr) { .msg_iov = two, .msg_iovlen = 2 }, 0));
	say("too large", send(fd, large, sizeof(large), 0));
	say("too large", send(fd, large, sizeof(large), 0));
	say("bad pointer", send(fd, (void *)wrong[0], 10, 0));
	say("bad message", sendmsg(fd, (void *)wrong[0], 0));
	send_odd_batches(fd);
	send_odd_messages(fd);
	back = dup(fd);
	close(fd);
	say("on a second number", send(back, "other", 5, 0));
	turn_to_others(back);
	close(back);
}

/* A child closes what it inherited, after long; the parent then gets its answer. */
static void scenario_fork(void)
{
	int fd = new_client(), status;

	ask(fd, "word");
	pause_ms(1000);
	if (fork() == 0) {
		close(fd);
		_exit(0);
	}
	wait(&status);
	if (vfork() == 0) {
		close(fd);
		_exit(0);
	}
	wait(&status);
	printf("arrived: %d\n", arrived(true));
	printf("heard: %zd\n", hear(fd, 5000));
	printf("next: %d\n", exchange(fd, "word"));
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "pieces", scenario_pieces }, { "pairs", scenario_pairs },
		{ "short", scenario_short },   { "refused", scenario_refused },
		{ "odd", scenario_odd },       { "fork", scenario_fork },
	};

	return play_scenario(scenarios, sizeof(scenarios) / sizeof(*scenarios), argc, argv);
}
