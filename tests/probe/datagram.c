/* SPDX-License-Identifier: MIT */
/* Requests by UDP to a server that answers, then says nothing, then answers again. Usage:
 * datagram.h */
#include "datagram.h"

static void healthy(int fd)
{
	int good = 0;

	for (int i = 0; i < 20; i++) {
		good += exchange(fd, "the same question");
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
	printf("back: %d\n", exchange(fd, "word"));
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
	printf("again: %d\n", exchange(fd, "word"));
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
static void try_on_fresh_sockets(bool raw)
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

static void scenario_fresh(void)
{
	try_on_fresh_sockets(false);
}

static void scenario_unseen(void)
{
	try_on_fresh_sockets(true);
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
		answers += exchange(fd, "word");
		pause_ms(5); /* the backoff of the driver's policy is over */
	}
	server = mute;
	printf("sent %d, answered %d, arrived at the mute one %d\n", n, answers, arrived(false));
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "repeat", scenario_repeat },   { "lost", scenario_lost },
		{ "spin", scenario_spin },       { "silent", scenario_silent },
		{ "fresh", scenario_fresh },     { "unseen", scenario_unseen },
		{ "threads", scenario_threads }, { "together", scenario_together },
		{ "timeout", scenario_timeout }, { "peers", scenario_peers },
	};

	return play_scenario(scenarios, sizeof(scenarios) / sizeof(*scenarios), argc, argv);
}
