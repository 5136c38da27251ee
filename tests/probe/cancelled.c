/* SPDX-License-Identifier: MIT */
/*
 * Calls that block are cancellation points (pthreads(7)): a thread that waits in one for its peer
 * is cancelled there, on a connection that is watched (its reply is awaited) and on a socket of
 * which nothing is known.
 */
#include "probe.h"

#define CALLS                                                                                      \
	X(recv, recv(fd, data, sizeof(data), 0))                                                   \
	X(recvfrom, recvfrom(fd, data, sizeof(data), 0, NULL, NULL))                               \
	X(recvmsg, recvmsg(fd, &message, 0))                                                       \
	X(read, read(fd, data, sizeof(data)))                                                      \
	X(readv, readv(fd, &part, 1))                                                              \
	X(send, send(fd, data, sizeof(data), MSG_NOSIGNAL))                                        \
	X(sendto, sendto(fd, data, sizeof(data), MSG_NOSIGNAL, NULL, 0))                           \
	X(sendmsg, sendmsg(fd, &message, MSG_NOSIGNAL))                                            \
	X(write, write(fd, data, sizeof(data)))                                                    \
	X(writev, writev(fd, &part, 1))                                                            \
	X(accept, accept(fd, NULL, NULL))                                                          \
	X(accept4, accept4(fd, NULL, NULL, SOCK_CLOEXEC))

enum call {
#define X(name, call) CALL_##name,
	CALLS
#undef X
	    CALL_COUNT
};

static const char *const names[] = {
#define X(name, call) #name,
	CALLS
#undef X
};

struct blocked {
	enum call call;
	int fd;
};

/* The peer never writes, reads or connects: a send blocks once it takes no more, the rest at once.
 */
static void *block(void *of)
{
	static char data[1 << 16];
	struct iovec part = { data, sizeof(data) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fd = ((struct blocked *)of)->fd;
	ssize_t result = 1;

	while (result > 0)
		switch (((struct blocked *)of)->call) {
#define X(name, call)                                                                              \
	case CALL_##name:                                                                          \
		result = (call);                                                                   \
		break;
			CALLS
#undef X
		case CALL_COUNT:
			return NULL;
		}
	return NULL;
}

static const char *end_of(enum call call, int fd)
{
	struct blocked blocked = { .call = call, .fd = fd };
	struct timespec until;
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, block, &blocked) != 0)
		give_up("pthread_create");
	pause_ms(100);
	pthread_cancel(thread);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	if (pthread_timedjoin_np(thread, &result, &until) != 0) {
		printf("%s: blocks for ever\n", names[call]);
		fflush(stdout);
		_exit(1);
	}
	return result == PTHREAD_CANCELED ? "cancelled" : "returned";
}

int main(void)
{
	int listener, held, peers[2];
	uint16_t port = refusing_port(&listener);

	if (listen(listener, 128) != 0)
		give_up("listen");
	for (enum call call = 0; call < CALL_COUNT; call++) {
		int fd;

		if (call >= CALL_accept) {
			refusing_port(&held);
			if (listen(held, 1) != 0)
				give_up("listen");
			printf("%s: %s\n", names[call], end_of(call, held));
			close(held);
			continue;
		}
		fd = connected(port); /* its peer stays in the queue of the listener */
		if (fd < 0 || send(fd, "request", 7, MSG_NOSIGNAL) != 7 ||
		    socketpair(AF_UNIX, SOCK_STREAM, 0, peers) != 0)
			give_up("sockets");
		printf("%s: %s, unwatched %s\n", names[call], end_of(call, fd),
		       end_of(call, peers[0]));
		close(fd);
		close(peers[0]);
		close(peers[1]);
	}
	return 0;
}
