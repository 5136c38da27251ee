/* SPDX-License-Identifier: MIT */
/*
 * Connections over loopback for the tests of shim/conn: the program's end does what the hooks do
 * around the real calls, the peer's end is plain. Built-in defaults, no records.
 */
#ifndef RETRYBUDGET_TESTS_UNIT_TRACK_FIXTURE_H
#define RETRYBUDGET_TESTS_UNIT_TRACK_FIXTURE_H

#include "sys/real.h"
#include "conn/attempt.h"
#include "conn/attempt_end.h"
#include "conn/settle.h"
#include "conn/tcp_info.h"
#include "region/state.h"
#include "sys/thread.h"
#include "conn/traffic.h"
#include "config/current.h"

#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAIT_MS 5000 /* for what the kernel does on its own, on a loaded machine */

/* A connection seen from both ends. */
struct talk {
	int host, peer;
	struct socket_entry *entry;
	struct destination *destination;
};

/* A listener on loopback; -1 in .fd: nobody listens on the port. */
struct server {
	int fd;
	struct sockaddr_in address;
};

/* What retrybudget(5) calls the defaults, whatever this machine has in /etc. */
static inline void start_config(void)
{
	char path[] = "/tmp/retrybudget-track-XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "[retrybudget]\nreload = 0\n[log]\ntarget = none\n";

	cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	unsetenv("RETRYBUDGET");
	unsetenv("RETRYBUDGET_LOG");
	setenv("RETRYBUDGET_CONFIG", path, 1);
	config_start(false);
	unlink(path);
}

static inline void start_shim(void)
{
	start_config();
	cr_assert(real_resolve());
	thread_setup();
	shim_region = mmap(NULL, sizeof(*shim_region), PROT_READ | PROT_WRITE,
	                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(shim_region != MAP_FAILED);
	region_begin(shim_region, 0);
	shim_use(shim_region, 0);
	shim_state = STATE_READY;
}

static inline struct server serve(int backlog)
{
	struct server server = { .address.sin_family = AF_INET,
		                 .address.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(server.address);

	server.fd = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert(bind(server.fd, (struct sockaddr *)&server.address, len) == 0);
	cr_assert(getsockname(server.fd, (struct sockaddr *)&server.address, &len) == 0);
	if (backlog >= 0)
		cr_assert(listen(server.fd, backlog) == 0);
	return server;
}

/* --- what the hooks do --- */

static inline int host_connect(int fd, const struct server *server)
{
	const struct sockaddr *to = (const struct sockaddr *)&server->address;
	struct attempt try;

	if (!attempt_begin_connect(&try, fd, to, sizeof(server->address)))
		return connect(fd, to, sizeof(server->address));
	attempt_start(&try);
	return attempt_settle(&try, connect(fd, to, sizeof(server->address)));
}

static inline ssize_t host_send_bytes(int fd, const char *text, size_t n)
{
	uint32_t fingerprint;

	if (!(socket_watched(fd) & WATCH_WRITE))
		return send(fd, text, n, MSG_NOSIGNAL);
	if (traffic_begins(fd))
		return traffic_went(fd, send(fd, text, n, MSG_NOSIGNAL), MSG_NOSIGNAL);
	fingerprint = traffic_begin(fd, traffic_look(fd, text, n));
	return traffic_sent(fd, traffic_wrote(fd, send(fd, text, n, MSG_NOSIGNAL), text),
	                    MSG_NOSIGNAL, fingerprint);
}

static inline ssize_t host_send(int fd, const char *text)
{
	return host_send_bytes(fd, text, strlen(text));
}

static inline ssize_t host_recv(int fd, size_t n, int flags)
{
	char data[64];

	cr_assert(n <= sizeof(data));
	if (!(socket_watched(fd) & WATCH_READ))
		return recv(fd, data, n, flags);
	return traffic_received(fd, recv(fd, data, n, flags), n, flags, data);
}

static inline int host_close(int fd)
{
	if (socket_watched(fd))
		attempt_end(fd);
	return close(fd);
}

static inline int host_shutdown(int fd, int how)
{
	if (socket_watched(fd) & WATCH_END)
		attempt_hung_up(fd, how);
	return shutdown(fd, how);
}

static inline int host_error(int fd)
{
	int err = -1;
	socklen_t len = sizeof(err);

	cr_assert(getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) == 0);
	attempt_observed(fd, err);
	return err;
}

/* --- both ends --- */

static inline int nonblocking_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
}

/* Waits until a non-blocking connect is over. */
static inline void until_over(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };

	cr_assert_eq(poll(&ready, 1, WAIT_MS), 1);
}

/* Where the attempts at a server are counted. */
static inline struct destination *destination_at_port(const struct server *server)
{
	int64_t port = ntohs(server->address.sin_port);

	for (int i = 0; i < REGION_CHUNK; i++)
		if (shim_region->first.keys[i] && shim_region->first.destinations[i].port == port)
			return &shim_region->first.destinations[i];
	return NULL;
}

static inline struct talk talk_to(const struct server *server)
{
	struct talk talk = { .host = socket(AF_INET, SOCK_STREAM, 0) };

	cr_assert_eq(host_connect(talk.host, server), 0);
	talk.peer = accept(server->fd, NULL, NULL);
	cr_assert(talk.peer >= 0);
	talk.entry = socket_find(talk.host);
	cr_assert_not_null(talk.entry);
	cr_assert_eq(talk.entry->state, SOCKET_OPEN);
	talk.destination = destination_at_port(server);
	cr_assert_not_null(talk.destination);
	return talk;
}

/* A new server and a connection to it. */
static inline struct talk talk_start(void)
{
	struct server server = serve(8);

	return talk_to(&server);
}

static inline struct tcp_info info_of(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	cr_assert(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0);
	return info;
}

/* Waits until the kernel has the program's end in a state: 1 ESTABLISHED, 7 CLOSE, 8 CLOSE_WAIT. */
static inline void until_state(int fd, int state)
{
	for (int ms = 0; ms < WAIT_MS && info_of(fd).tcpi_state != state; ms++)
		usleep(1000);
	cr_assert_eq(info_of(fd).tcpi_state, state);
}

/* Waits until the peer's kernel has acknowledged everything. */
static inline void until_acknowledged(int fd)
{
	struct tcp_info info = info_of(fd);

	for (int ms = 0; ms < WAIT_MS && !tcp_info_has_taken(&info); ms++) {
		usleep(1000);
		info = info_of(fd);
	}
	cr_assert(tcp_info_has_taken(&info));
}

static inline void peer_says(const struct talk *talk, const char *text)
{
	struct pollfd readable = { .fd = talk->host, .events = POLLIN };

	cr_assert_eq(send(talk->peer, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	cr_assert_eq(poll(&readable, 1, WAIT_MS), 1);
}

/* Reads what the program sent, so that a close is not a reset. */
static inline void peer_hears(const struct talk *talk)
{
	char data[64];

	cr_assert(recv(talk->peer, data, sizeof(data), 0) > 0);
	until_acknowledged(talk->host);
}

static inline void peer_closes(const struct talk *talk)
{
	close(talk->peer);
	until_state(talk->host, 8);
}

/* The program sends words that the peer reads. */
static inline void host_asks(const struct talk *talk, const char *words)
{
	cr_assert_eq(host_send(talk->host, words), (ssize_t)strlen(words));
	peer_hears(talk);
}

/* The peer sends words, of which the program reads what comes at once. */
static inline void host_hears(const struct talk *talk, const char *words)
{
	peer_says(talk, words);
	cr_assert_gt(host_recv(talk->host, 64, 0), 0);
}

/* The peer closes, and the program reads the end. */
static inline void host_is_left(const struct talk *talk)
{
	peer_closes(talk);
	cr_assert_eq(host_recv(talk->host, 64, 0), 0);
}

static inline void peer_resets(const struct talk *talk)
{
	struct linger hard = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(talk->peer, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(talk->peer);
	until_state(talk->host, 7);
}

/* One question and one answer. */
static inline void one_exchange(const struct talk *talk)
{
	host_asks(talk, "ask");
	host_hears(talk, "say");
}

/* Makes the attempt look as old as that. */
static inline void back_date(const struct talk *talk, int64_t ms)
{
	talk->entry->since -= ms * NS_PER_MS;
}

/* --- what was counted --- */

static inline int64_t failures_in(const struct tally *tally)
{
	int64_t sum = 0;

	for (int i = 0; i < FAILURE_COUNT; i++)
		sum += tally->failures[i];
	return sum;
}

/* Everything that was counted, for the destination and for all together. */
#define EXPECT_COUNTED(where, good, bad, class)                                                    \
	do {                                                                                       \
		const struct tally *one = &(where)->tally, *all = &shim_region->tally;             \
                                                                                                   \
		cr_expect_eq(one->successes, good, "successes: %d", (int)one->successes);          \
		cr_expect_eq(all->successes, good, "successes of all: %d", (int)all->successes);   \
		cr_expect_eq(failures_in(one), bad, "failures: %d", (int)failures_in(one));        \
		cr_expect_eq(failures_in(all), bad, "failures of all: %d", (int)failures_in(all)); \
		cr_expect_eq(one->failures[class], bad, "of this class: %d",                       \
		             (int)one->failures[class]);                                           \
	} while (0)

#define EXPECT_FAILED(where, class) EXPECT_COUNTED(where, 0, 1, class)
#define EXPECT_SUCCESS(where)       EXPECT_COUNTED(where, 1, 0, FAILURE_NONE)
#define EXPECT_NOTHING(where)       EXPECT_COUNTED(where, 0, 0, FAILURE_NONE)

#endif
