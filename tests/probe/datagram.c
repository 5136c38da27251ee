/* SPDX-License-Identifier: MIT */
/*
 * Requests by UDP to a server that answers, then says nothing, then answers again. The server is a
 * socket of this program, so that what arrives can be counted.
 * Usage: datagram SCENARIO [connected] [nonblocking|dontwait] [v6]
 *	[message|batch|write|writev] [alias]
 */
#include "probe.h"

#include <netinet/udp.h>

#ifdef __GLIBC__
extern ssize_t __send(int fd, const void *data, size_t n, int flags);
extern ssize_t __write(int fd, const void *data, size_t n);
extern ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t space, int flags,
                              struct sockaddr *from, socklen_t *len);
#endif

#define TRIES 6

static bool is_connected, nonblocking, dontwait, v6, message, plain_write, parts;
static bool batch, alias;
static struct sockaddr_storage to;
static socklen_t to_len;
static int server;

static void read_arguments(int argc, char **argv)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "connected", &is_connected },
		{ "nonblocking", &nonblocking },
		{ "dontwait", &dontwait },
		{ "v6", &v6 },
		{ "message", &message },
		{ "write", &plain_write },
		{ "writev", &parts },
		{ "batch", &batch },
		{ "alias", &alias },
	};

	for (int i = 2; i < argc; i++)
		for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++)
			if (strcmp(argv[i], flags[k].name) == 0)
				*flags[k].flag = true;
}

/* A server's socket; its address is where everything goes to from now on. */
static int new_server(void)
{
	struct sockaddr_in in = loopback(0);
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	to_len = v6 ? sizeof(in6) : sizeof(in);
	if (bind(fd, v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in, to_len) != 0)
		exit(PROBE_CANNOT);
	getsockname(fd, (struct sockaddr *)&to, &to_len);
	return fd;
}

static int new_client(void)
{
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | (nonblocking ? SOCK_NONBLOCK : 0), 0);

	if (is_connected && connect(fd, (struct sockaddr *)&to, to_len) != 0)
		give_up("connect");
	return fd;
}

static ssize_t ask(int fd, const char *text)
{
	struct iovec part = { (void *)text, strlen(text) };
	struct msghdr head = { .msg_name = is_connected ? NULL : &to,
		               .msg_namelen = is_connected ? 0 : to_len,
		               .msg_iov = &part,
		               .msg_iovlen = 1 };
	int flags = dontwait ? MSG_DONTWAIT : 0;

	if (batch) {
		struct mmsghdr one = { .msg_hdr = head };

		return sendmmsg(fd, &one, 1, flags) == 1 ? (ssize_t)one.msg_len : -1;
	}
#ifdef __GLIBC__
	if (alias && plain_write)
		return __write(fd, text, part.iov_len);
	if (alias)
		return __send(fd, text, part.iov_len, flags);
#endif
	if (plain_write)
		return write(fd, text, part.iov_len);
	if (parts)
		return writev(fd, &part, 1);
	if (message)
		return sendmsg(fd, &head, flags);
	if (is_connected)
		return send(fd, text, part.iov_len, flags);
	return sendto(fd, text, part.iov_len, flags, (struct sockaddr *)&to, to_len);
}

/* Reads what has come to the server; answers it if it should. */
static int arrived(bool answer)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char data[256];
	ssize_t size;
	int n = 0;

	while ((size = recvfrom(server, data, sizeof(data), 0, (struct sockaddr *)&from, &len)) >=
	       0) {
		n++;
		if (answer) /* past the shim: what a server says is no request */
			syscall(SYS_sendto, server, data, size, 0, &from, len);
		len = sizeof(from);
	}
	return n;
}

/* Waits for a datagram and reads it in the way that goes with the way of asking. */
static ssize_t hear(int fd, int ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char data[256];
	struct iovec part = { data, sizeof(data) };
	struct msghdr head = { .msg_iov = &part, .msg_iovlen = 1 };

	if (poll(&ready, 1, ms) != 1)
		return -1;
	if (batch) {
		struct mmsghdr one = { .msg_hdr = head };

		return recvmmsg(fd, &one, 1, 0, NULL) == 1 ? (ssize_t)one.msg_len : -1;
	}
#ifdef __GLIBC__
	if (alias)
		return __recvfrom_chk(fd, data, sizeof(data), sizeof(data), 0,
		                      (struct sockaddr *)&from, &len);
#endif
	if (plain_write)
		return read(fd, data, sizeof(data));
	if (parts)
		return readv(fd, &part, 1);
	if (message)
		return recvmsg(fd, &head, 0);
	if (is_connected)
		return recv(fd, data, sizeof(data), 0);
	return recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &len);
}

/* One request that is answered. */
static bool turn(int fd, const char *text)
{
	bool sent = ask(fd, text) == (ssize_t)strlen(text);

	return arrived(true) == 1 && hear(fd, 5000) == (ssize_t)strlen(text) && sent;
}

static void healthy(int fd)
{
	int good = 0;

	for (int i = 0; i < 20; i++) {
		good += turn(fd, "the same question");
		pause_ms(5); /* the driver reads a record for each */
	}
	printf("healthy: %d\n", good);
}

static void silent(int fd, const char *const texts[], int count, int pause)
{
	int64_t begin = now_ms();
	int good = 0, n = 0;

	for (int i = 0; i < TRIES; i++) {
		const char *text = texts[i % count];

		good += ask(fd, text) == (ssize_t)strlen(text);
		pause_ms(pause);
		n += arrived(false);
	}
	printf("silent: sent %d, arrived %d%s\n", good, n,
	       now_ms() - begin < 20000 ? "" : ", and slow");
}

/* The same bytes again and again, and recovery. */
static void scenario_repeat(void)
{
	int fd = new_client();

	healthy(fd);
	silent(fd, (const char *const[]) { "word" }, 1, 30);
	pause_ms(3500); /* the probe falls due */
	printf("back: %d\n", turn(fd, "word"));
	healthy(fd);
	close(fd);
}

/* One datagram is lost, and sent again after longer than the backoff of the driver's policy. */
static void scenario_lost(void)
{
	int fd = new_client();

	healthy(fd);
	ask(fd, "word");
	pause_ms(1500);
	printf("lost: %d\n", arrived(false));
	printf("again: %d\n", turn(fd, "word"));
	close(fd);
}

/* The same bytes without a pause, until one send takes long. */
static void scenario_spin(void)
{
	int fd = new_client(), failed = 0, n = 0;
	int64_t longest = 0;

	for (int i = 0; i < 40 && longest < 500; i++) {
		int64_t start = now_ms();

		failed += ask(fd, "word") != 4;
		longest = now_ms() - start > longest ? now_ms() - start : longest;
		n += arrived(false);
	}
	printf("spin: failed %d, arrived %s, longest %s\n", failed, n == 2 ? "two" : "many",
	       length_of(longest, 1000));
	close(fd);
}

/* New bytes for each try, as a resolver with a new number for each. */
static void scenario_silent(void)
{
	int fd = new_client();

	silent(fd, (const char *const[]) { "1", "2", "3", "4", "5", "6" }, 6, 1000);
	close(fd);
}

/* A new socket for each try, the old one closed. raw: unseen by anybody. */
static void scenario_fresh(bool raw)
{
	int good = 0, n = 0;

	for (int i = 0; i < TRIES; i++) {
		char text[8];
		int fd = new_client();

		snprintf(text, sizeof(text), "%d", i);
		good += ask(fd, text) == 1;
		pause_ms(1000);
		n += arrived(false);
		if (raw)
			syscall(SYS_close, fd);
		else
			close(fd);
	}
	printf("fresh: sent %d, arrived %d\n", good, n);
}

static void *one_try(void *text)
{
	int fd = new_client();

	ask(fd, text);
	pause_ms(1000);
	close(fd);
	return NULL;
}

/* A new thread for each try, with a socket of its own: only its close can tell. */
static void scenario_threads(void)
{
	enum { MANY = 10 };
	char texts[MANY][8];
	int n = 0;

	for (int i = 0; i < MANY; i++) {
		pthread_t thread;

		snprintf(texts[i], sizeof(texts[i]), "%d", i);
		pthread_create(&thread, NULL, one_try, texts[i]);
		pthread_join(thread, NULL);
		n += arrived(false);
	}
	printf("threads: arrived %d\n", n);
}

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

/* Two questions in one call, as of a resolver that asks for both families: both are answered, then
 * neither is. */
static ssize_t ask_two(int fd, struct mmsghdr messages[2])
{
	ssize_t n;

	messages[0].msg_len = messages[1].msg_len = 0;
	n = sendmmsg(fd, messages, 2, 0);
	return n == 2 && messages[0].msg_len == 3 && messages[1].msg_len == 5 ? 2 : 0;
}

static void scenario_together(void)
{
	struct iovec questions[2] = { { "one", 3 }, { "other", 5 } }, answers[2];
	struct mmsghdr asked[2] = { 0 }, heard[2];
	struct sockaddr_storage from[2];
	char data[2][16];
	int fd = new_client(), sent = 0, taken = 0, n = 0;

	for (int i = 0; i < 2; i++) {
		asked[i].msg_hdr.msg_iov = &questions[i];
		asked[i].msg_hdr.msg_iovlen = 1;
		asked[i].msg_hdr.msg_name = is_connected ? NULL : &to;
		asked[i].msg_hdr.msg_namelen = is_connected ? 0 : to_len;
	}
	for (int i = 0; i < 10; i++) {
		sent += (int)ask_two(fd, asked);
		n += arrived(true);
		memset(heard, 0, sizeof(heard));
		for (int k = 0; k < 2; k++) {
			answers[k] = (struct iovec) { data[k], sizeof(data[k]) };
			heard[k].msg_hdr.msg_iov = &answers[k];
			heard[k].msg_hdr.msg_iovlen = 1;
			heard[k].msg_hdr.msg_name = &from[k];
			heard[k].msg_hdr.msg_namelen = sizeof(from[k]);
		}
		if (recvmmsg(fd, heard, 2, 0, NULL) == 2)
			taken += (heard[0].msg_len == 3) + (heard[1].msg_len == 5);
		pause_ms(5);
	}
	printf("together: sent %d, arrived %d, answered %d\n", sent, n, taken);
	for (int i = sent = n = 0; i < TRIES; i++, pause_ms(30)) {
		sent += (int)ask_two(fd, asked);
		n += arrived(false);
	}
	printf("silent: sent %d, arrived %d\n", sent, n);
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

/* A resolver that blocks: ask, wait with SO_RCVTIMEO, ask again with another number. */
static void scenario_timeout(void)
{
	struct timeval limit = { .tv_sec = 1 };
	int fd = new_client(), good = 0, n = 0, late = 0;
	char data[16];

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (int i = 0; i < TRIES; i++) {
		char text[8];

		snprintf(text, sizeof(text), "%d", i);
		good += ask(fd, text) == 1;
		late += recv(fd, data, sizeof(data), 0) < 0 && errno == EAGAIN;
		n += arrived(false);
	}
	printf("time limit: sent %d, ran out %d, arrived %d\n", good, late, n);
	close(fd);
}

static void say(const char *what, ssize_t n)
{
	printf("%s: %zd %s\n", what, n, n < 0 ? error_name(errno) : "ok");
}

/* Not known to the compiler, which would say what is wrong with them. */
static volatile intptr_t wrong[] = { 1, -1 };

/* Odd calls on a socket that has an unanswered datagram: all must be as without the shim. */
static void scenario_odd(void)
{
	union {
		char space[CMSG_SPACE(sizeof(struct in_pktinfo))];
		struct cmsghdr head;
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo)),
		                .cmsg_level = IPPROTO_IP,
		                .cmsg_type = IP_PKTINFO } };
	struct iovec two[2] = { { "wo", 2 }, { "rd", 2 } };
	struct msghdr head = { .msg_iov = two, .msg_iovlen = 2 };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	static char large[70000];
	static struct mmsghdr many[1100];
	int fd = new_client(), on = 1, off = 0, back;

	errno = 0;
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
	say("in parts", sendmsg(fd, &head, 0));
	say("too large", send(fd, large, sizeof(large), 0));
	say("too large", send(fd, large, sizeof(large), 0));
	say("bad pointer", send(fd, (void *)wrong[0], 10, 0));
	say("bad message", sendmsg(fd, (void *)wrong[0], 0));
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
	say("bad parts", writev(fd, (void *)wrong[0], 1));
	say("bad count", writev(fd, two, (int)wrong[1]));
	head.msg_iovlen = 5000;
	say("too many parts", sendmsg(fd, &head, 0));
	head.msg_iovlen = 2;
	head.msg_control = &control;
	head.msg_controllen = sizeof(control);
	say("control data", sendmsg(fd, &head, 0));
	printf("arrived: %d\n", arrived(false));
	say("out of band", send(fd, "word", 4, MSG_OOB));
	back = dup(fd);
	close(fd);
	say("on a second number", send(back, "other", 5, 0));
	say("dissolved", connect(back, &none, sizeof(none)));
	say("to nobody", send(back, "word", 4, 0));
	say("to port 0", sendto(back, "word", 4, 0,
	                        (struct sockaddr *)&(struct sockaddr_in) { .sin_family = AF_INET },
	                        sizeof(struct sockaddr_in)));
	say("to nothing", sendto(back, "word", 4, 0, (struct sockaddr *)wrong[0], 16));
	say("to the server", sendto(back, "last", 4, 0, (struct sockaddr *)&to, to_len));
	printf("arrived: %d\n", arrived(true));
	say("peek", recv(back, large, 100, MSG_PEEK));
	say("answer", recv(back, large, 100, 0));
	say("nothing", recv(back, large, 100, MSG_DONTWAIT));
	say("bad buffer", recvmsg(back, (void *)wrong[0], MSG_DONTWAIT));
	shutdown(back, SHUT_RDWR);
	say("after shutdown", recv(back, large, 100, MSG_DONTWAIT));
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
	printf("next: %d\n", turn(fd, "word"));
	close(fd);
}

/* Two peers on one socket: what one of them says answers nothing that the other was asked. */
static void scenario_peers(void)
{
	struct sockaddr_storage deaf, good;
	socklen_t len;
	int fd = new_client(), mute = server, n = 0, answers = 0;

	deaf = to;
	server = new_server();
	good = to;
	len = to_len;
	for (int i = 0; i < TRIES; i++) {
		n += sendto(fd, "word", 4, 0, (struct sockaddr *)&deaf, len) == 4;
		to = good;
		answers += turn(fd, "word");
		pause_ms(5); /* the backoff of the driver's policy is over */
	}
	server = mute;
	printf("sent %d, answered %d, arrived at the mute one %d\n", n, answers, arrived(false));
	close(fd);
}

int main(int argc, char **argv)
{
	const char *scenario = argc > 1 ? argv[1] : "repeat";

	read_arguments(argc, argv);
	server = new_server();
	if (strcmp(scenario, "repeat") == 0)
		scenario_repeat();
	else if (strcmp(scenario, "lost") == 0)
		scenario_lost();
	else if (strcmp(scenario, "spin") == 0)
		scenario_spin();
	else if (strcmp(scenario, "silent") == 0)
		scenario_silent();
	else if (strcmp(scenario, "fresh") == 0)
		scenario_fresh(false);
	else if (strcmp(scenario, "unseen") == 0)
		scenario_fresh(true);
	else if (strcmp(scenario, "threads") == 0)
		scenario_threads();
	else if (strcmp(scenario, "pieces") == 0)
		scenario_pieces();
	else if (strcmp(scenario, "pairs") == 0)
		scenario_pairs();
	else if (strcmp(scenario, "together") == 0)
		scenario_together();
	else if (strcmp(scenario, "short") == 0)
		scenario_short();
	else if (strcmp(scenario, "refused") == 0)
		scenario_refused();
	else if (strcmp(scenario, "timeout") == 0)
		scenario_timeout();
	else if (strcmp(scenario, "odd") == 0)
		scenario_odd();
	else if (strcmp(scenario, "fork") == 0)
		scenario_fork();
	else if (strcmp(scenario, "peers") == 0)
		scenario_peers();
	else
		return 2;
	return 0;
}
