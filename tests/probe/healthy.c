/* SPDX-License-Identifier: MIT */
/*
 * A program with nothing wrong: connects, talks, closes. Its system calls between the two marks
 * (getpriority with odd arguments, which nothing else makes) are compared by the driver under
 * strace: a healthy program must not be able to tell that the shim is there.
 */
#include "probe.h"

static void mark(void)
{
	syscall(SYS_getpriority, 77, 77);
}

int main(void)
{
	uint16_t port = start_server(SERVER_ECHO, NULL);
	struct sockaddr_in to = loopback(port);
	struct iovec part = { .iov_base = "hello", .iov_len = 5 };
	char data[64];
	int sum = 0, fd;

	mark();
	for (int i = 0; i < 10; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
			give_up("connect");
		sum += (int)send(fd, "hello", 5, 0);
		sum += (int)recv(fd, data, 5, MSG_WAITALL);
		sum += (int)write(fd, "hello", 5);
		sum += (int)recv(fd, data, 5, MSG_WAITALL);
		sum += (int)writev(fd, &part, 1);
		sum += (int)recv(fd, data, 5, MSG_WAITALL);
		close(fd);
	}
	fd = open("/dev/null", O_RDWR);
	sum += (int)write(fd, "hello", 5);
	sum += (int)read(fd, data, 5);
	close(fd);
	mark();
	printf("bytes: %d\n", sum);
	return 0;
}
