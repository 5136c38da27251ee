/* SPDX-License-Identifier: MIT */
/*
 * The calls as a program makes them that asks for a time_t and an off_t of 64 bits: where those of
 * libc's own names have 32, the headers give it other names.
 */
#define _FILE_OFFSET_BITS 64
#define _TIME_BITS        64

#include "calls.h"

#if defined(__GLIBC__) && defined(__TIMESIZE) && __TIMESIZE == 32
#define NAMED(name, name64) name64
#else
#define NAMED(name, name64) name
#endif

static char data[64];

static void messages(int sock)
{
	struct iovec word = { "word", 4 }, room = { data, 4 };
	struct msghdr out = { .msg_iov = &word, .msg_iovlen = 1 },
		      in = { .msg_iov = &room, .msg_iovlen = 1 };
	struct mmsghdr outs[2] = { { .msg_hdr = out }, { .msg_hdr = out } },
		       ins[2] = { { .msg_hdr = in }, { .msg_hdr = in } };
	struct timespec ample = { .tv_sec = 60 };
	const char *send_name = NAMED("sendmsg", "__sendmsg64");
	const char *recv_name = NAMED("recvmsg", "__recvmsg64");
	const char *sends_name = NAMED("sendmmsg", "__sendmmsg64");
	const char *recvs_name = NAMED("recvmmsg", "__recvmmsg64");

	SAY(send_name, "bad descriptor", sendmsg(-1, &out, 0));
	SAY(send_name, "word", sendmsg(sock, &out, MSG_NOSIGNAL));
	SAY(recv_name, "bad descriptor", recvmsg(-1, &in, 0));
	SAY(recv_name, "word", recvmsg(sock, &in, MSG_WAITALL));
	SAY(recv_name, "nothing there", recvmsg(sock, &in, MSG_DONTWAIT));
	SAY(sends_name, "bad descriptor", sendmmsg(-1, outs, 2, 0));
	SAY(sends_name, "two", sendmmsg(sock, outs, 2, MSG_NOSIGNAL));
	SAY(recvs_name, "bad descriptor", recvmmsg(-1, ins, 2, 0, NULL));
	SAY(recvs_name, "two", recvmmsg(sock, ins, 2, MSG_WAITALL, &ample));
	printf("lengths: %u %u, text: %.4s\n", ins[0].msg_len, ins[1].msg_len, data);
	SAY(recvs_name, "nothing there", recvmmsg(sock, ins, 2, MSG_DONTWAIT, NULL));
}

/* A connect without waiting whose error is asked for; then the numbers. */
static void options(void)
{
	const char *name = NAMED("getsockopt", "__getsockopt64");
	const char *control = NAMED("fcntl", "__fcntl_time64");
	int held, err = 0, other;
	struct sockaddr_in to = loopback(refusing_port(&held));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(err);
	struct pollfd entry = { .fd = fd, .events = POLLOUT };
	struct timeval time = { .tv_sec = 7 };
	struct flock lock = { .l_type = F_WRLCK, .l_start = 1LL << 33 };

	connect(fd, (struct sockaddr *)&to, sizeof(to));
	poll(&entry, 1, 5000);
	SAY(name, "error", getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len));
	printf("error: %s\n", error_name(err));
	SAY(name, "bad descriptor", getsockopt(-1, SOL_SOCKET, SO_ERROR, &err, &len));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	len = sizeof(time);
	time.tv_sec = 0;
	SAY(name, "time", getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, &len));
	printf("time: %lld, length %s\n", (long long)time.tv_sec,
	       len == sizeof(time) ? "whole" : "other");
	SAY(control, "flags", fcntl(fd, F_GETFL) & O_NONBLOCK);
	other = fcntl(fd, F_DUPFD, 200);
	SAY(control, "double", other);
	SAY(control, "bad descriptor", fcntl(-1, F_DUPFD, 200));
	close(fd);
	SAY(control, "flags of the double", fcntl(other, F_GETFL) & O_NONBLOCK);
	close(other);
	fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	if (fd >= 0)
		SAY(control, "lock", fcntl(fd, F_SETLK, &lock));
	close(fd);
	close(held);
}

/* The one variadic call of them that is not about a descriptor. */
static void announcements(void)
{
	const char *name = NAMED("prctl", "__prctl_time64");

	SAY(name, "five", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 1));
	SAY(name, "privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	SAY(name, "none", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

int main(void)
{
	uint16_t port = start_server(SERVER_ECHO, NULL);
	int sock = connected(port);

	printf("time_t: %s\n", sizeof(time_t) == 8 ? "64 bits" : "less");
	messages(sock);
	close(sock);
	for (int i = 0; i < 3; i++)
		options();
	announcements();
	printf("healthy: %s\n", error_name(attempt(port, NULL)));
	return 0;
}
