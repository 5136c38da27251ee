/* SPDX-License-Identifier: MIT */
/*
 * Conversations that no hook sees, or of which the hooks see only a part: by stdio, raw system
 * calls, io_uring, on sockets that another process made or that were doubled. Says how each ended.
 * Usage: unseen WAY echo|drop|reset|silent CONVERSATIONS
 */
#include "ring.h"
#include "tallies.h"

#define TIMEOUT 1200 /* ms that the program waits for a server that says nothing */

static const char *way;
static uint16_t port;

static bool is(const char *name)
{
	return strcmp(way, name) == 0;
}

/* --- sockets from elsewhere --- */

static void give(int channel, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = "", byte = 'x';
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = room,
		                  .msg_controllen = sizeof(room) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	if (sendmsg(channel, &message, 0) != 1)
		give_up("sendmsg");
}

static int taken(int channel)
{
	char room[CMSG_SPACE(sizeof(int))] = "", byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = room,
		                  .msg_controllen = sizeof(room) };
	int fd;

	if (recvmsg(channel, &message, 0) != 1 || CMSG_FIRSTHDR(&message) == NULL)
		give_up("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* A socket that another process made, connected there or not. */
static int from_another(bool is_connected, bool by_pidfd)
{
	int channel[2], pid_fd, fd;
	pid_t child;

	socketpair(AF_UNIX, SOCK_STREAM, 0, channel);
	child = fork();
	if (child == 0) {
		fd = is_connected ? connected(port) : socket(AF_INET, SOCK_STREAM, 0);
		if (by_pidfd)
			(void)!write(channel[1], &fd, sizeof(fd));
		else
			give(channel[1], fd);
		if (by_pidfd)
			pause();
		_exit(0);
	}
	if (!by_pidfd) {
		fd = taken(channel[0]);
	} else {
		if (read(channel[0], &fd, sizeof(fd)) != sizeof(fd))
			give_up("read");
		pid_fd = (int)syscall(SYS_pidfd_open, child, 0);
		fd = (int)syscall(SYS_pidfd_getfd, pid_fd, fd, 0);
		if (fd < 0)
			exit(PROBE_CANNOT);
		close(pid_fd);
		kill(child, SIGKILL);
	}
	waitpid(child, NULL, 0);
	close(channel[0]);
	close(channel[1]);
	return fd;
}

/* --- one conversation --- */

/* Whether a reset meets the question or the answer is chance. */
static const char *broken(int err)
{
	return error_name(err == EPIPE ? ECONNRESET : err);
}

static const char *result_of(ssize_t n)
{
	return n > 0 ? "word" : n == 0 ? "end" : broken(errno);
}

static int connect_it(int fd)
{
	struct sockaddr_in to = loopback(port);

	if (is("raw-connect"))
		return (int)syscall(SYS_connect, fd, &to, sizeof(to));
	if (is("ring-connect"))
		return ring_do(IORING_OP_CONNECT, fd, &to, 0, sizeof(to));
	return connect(fd, (struct sockaddr *)&to, sizeof(to));
}

/* Through a stream; returns the end of it as a word. */
static const char *by_stdio(int fd)
{
	FILE *stream = fdopen(fd, "r+");
	char line[16];
	const char *result;

	fprintf(stream, "word\n");
	if (fflush(stream) != 0)
		result = broken(errno);
	else if (fgets(line, sizeof(line), stream) != NULL)
		result = "word";
	else
		result = feof(stream) ? "end" : broken(errno);
	if (is("freopen"))
		stream = freopen("/dev/null", "r", stream);
	fclose(stream);
	return result;
}

static ssize_t ask(int fd)
{
	struct pollfd entry = { .fd = fd, .events = POLLIN };
	char data[16];

	if (is("raw") ? syscall(SYS_sendto, fd, "word\n", 5, MSG_NOSIGNAL, NULL, 0) < 0
	    : is("ring") || is("ring-connect") ? ring_do(IORING_OP_SEND, fd, "word\n", 5, 0) < 0
	                                       : send(fd, "word\n", 5, MSG_NOSIGNAL) < 0)
		return -1;
	if (poll(&entry, 1, TIMEOUT) == 0) {
		errno = ETIME; /* the program's own timeout: no answer of the kernel's */
		return -1;
	}
	if (is("raw"))
		return syscall(SYS_read, fd, data, sizeof(data));
	if (is("ring") || is("ring-connect"))
		return ring_do(IORING_OP_RECV, fd, data, sizeof(data), 0);
	return recv(fd, data, sizeof(data), 0);
}

static void end(int fd)
{
	int other;

	if (is("raw") || is("raw-close")) {
		syscall(SYS_close, fd);
	} else if (is("ring-close")) {
		ring_do(IORING_OP_CLOSE, fd, NULL, 0, 0);
	} else if (is("dup-first")) {
		other = dup(fd);
		close(fd);
		close(other);
	} else if (is("dup-last")) {
		other = dup(fd);
		close(other);
		close(fd);
	} else {
		close(fd);
	}
}

static const char *converse(int fd, bool is_connected)
{
	const char *result;

	if (!is_connected && connect_it(fd) != 0) {
		result = error_name(errno);
	} else if (is("stdio") || is("freopen")) {
		return by_stdio(fd);
	} else if (is("dup-asks")) {
		/* Asked on one number, answered on the other. */
		int other = dup(fd);
		char data[16];

		send(fd, "word\n", 5, MSG_NOSIGNAL);
		close(fd);
		fd = other;
		result = result_of(recv(fd, data, sizeof(data), 0));
	} else {
		result = result_of(ask(fd));
	}
	end(fd);
	return result;
}

/* In the image after exec: the numbers from 10 on are sockets that were there before. */
static int inherited(int count, bool are_connected)
{
	for (int i = 0; i < count; i++) {
		past_the_gate();
		printf("%d: %s\n", i + 1, converse(10 + i, are_connected));
	}
	tell_port("here", port);
	tell_all();
	return 0;
}

static void exec_with(int count, bool are_connected, char **argv)
{
	char number[16];

	for (int i = 0; i < count; i++) {
		int fd = are_connected ? connected(port) : socket(AF_INET, SOCK_STREAM, 0);

		dup2(fd, 10 + i);
		close(fd);
	}
	snprintf(number, sizeof(number), "%u", port);
	fflush(stdout);
	execl("/proc/self/exe", argv[0], way, argv[2], argv[3], number, (char *)NULL);
	give_up("exec");
}

static void start_peer(const char *kind)
{
	int listener;

	if (strcmp(kind, "silent") != 0) {
		port = start_server(strcmp(kind, "echo") == 0   ? SERVER_ECHO
		                    : strcmp(kind, "drop") == 0 ? SERVER_DROP
		                                                : SERVER_RESET,
		                    NULL);
		return;
	}
	port = refusing_port(&listener);
	listen(listener, 64); /* the kernel takes connections that nobody ever answers */
}

/* A server that was down is back, and a child ends with its connection to it open. */
static int leave_open(void)
{
	int listener, status = 0;

	port = refusing_port(&listener);
	printf("%s\n", error_name(attempt(port, NULL)));
	listen(listener, 64);
	past_the_gate();
	fflush(stdout);
	if (fork() == 0)
		exit(connected(port) < 0);
	wait(&status);
	printf("the child: %d\n", status);
	tell_all();
	return 0;
}

int main(int argc, char **argv)
{
	int count = atoi(argv[3]);

	way = argv[1];
	if (argc > 4) {
		port = (uint16_t)atoi(argv[4]);
		return inherited(count, is("exec-connected"));
	}
	if (is("left-open"))
		return leave_open();
	start_peer(argv[2]);
	if (strncmp(way, "ring", 4) == 0 && !ring_start())
		return PROBE_CANNOT;
	if (strncmp(way, "exec", 4) == 0)
		exec_with(count, is("exec-connected"), argv);
	for (int i = 0; i < count; i++) {
		bool is_connected = is("passed-connected") || is("pidfd");
		int fd;

		past_the_gate();
		fd = is_connected || is("passed") ? from_another(is_connected, is("pidfd"))
		                                  : socket(AF_INET, SOCK_STREAM, 0);
		printf("%d: %s\n", i + 1, converse(fd, is_connected));
	}
	tell_port("here", port);
	tell_all();
	return 0;
}
