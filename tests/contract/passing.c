/* SPDX-License-Identifier: MIT */
/*
 * Descriptors in messages (HAZARDS 30): they arrive whole and in order, under the numbers that bare
 * would give, and a message that is only looked at, or whose room is too small, leaves none behind.
 */
#include "trap.h"

static int ends[2];

static void send_descriptors(const int *fds, int n)
{
	char word = 'w', room[CMSG_SPACE(8 * sizeof(int))] = { 0 };
	struct iovec part = { &word, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = room };
	struct cmsghdr *header;

	message.msg_controllen = CMSG_SPACE(n * sizeof(int));
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(header), fds, n * sizeof(int));
	printf("sent %d: %d\n", n, (int)sendmsg(ends[0], &message, MSG_NOSIGNAL));
}

/* Returns the last number that came. */
static int receive(size_t space, int flags)
{
	char word, room[CMSG_SPACE(8 * sizeof(int))];
	struct iovec part = { &word, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = space
	};
	int fds[8] = { 0 }, n = 0;
	ssize_t got = recvmsg(ends[1], &message, flags);
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	if (header != NULL) {
		n = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(header), n * sizeof(int));
	}
	printf("came %d: %d descriptors, flags %x", (int)got, n, message.msg_flags);
	for (int i = 0; i < n; i++)
		printf(", %d is %s", fds[i],
		       fcntl(fds[i], F_GETFD) & FD_CLOEXEC ? "private" : "plain");
	printf("\n");
	return n > 0 ? fds[n - 1] : -1;
}

int main(void)
{
	uint16_t port = start_answering(), bad;
	int held, pipes[2], fd = connected(port), came;

	bad = refusing_port(&held);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || pipe(pipes) != 0)
		give_up("pairs");
	send_descriptors(&fd, 1);
	close(fd);
	close(receive(CMSG_SPACE(sizeof(int)), MSG_PEEK));
	came = receive(CMSG_SPACE(sizeof(int)), MSG_CMSG_CLOEXEC);
	printf("connection: %s\n", echo(came, "word") ? "works" : "broken");
	close(came);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	send_descriptors((int[]) { pipes[0], fd, pipes[1] }, 3);
	came = receive(CMSG_SPACE(3 * sizeof(int)), 0);
	printf("pipe: %d\n", (int)write(came, "x", 1));
	send_descriptors((int[]) { pipes[0], pipes[1], fd }, 3);
	receive(CMSG_SPACE(sizeof(int)), 0);
	send_descriptors(pipes, 2);
	receive(0, 0);
	printf("refused: %s, %s, open: %d\n", error_name(attempt(bad, NULL)), talk(port),
	       count_fds());
	return 0;
}
