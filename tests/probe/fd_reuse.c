/* SPDX-License-Identifier: MIT */
/*
 * A connection is closed behind the shim's back, by the raw system call, and its number comes back
 * as a file, a pipe, and another socket. Each must behave as what it now is, and the attempts on
 * the new socket must be judged by its own destination.
 */
#include "probe.h"

static void as_file(int number)
{
	char name[] = "/tmp/probe-reuse-XXXXXX", back[16] = "";
	int fd = mkstemp(name);

	unlink(name);
	printf("same number as a file: %s\n", fd == number ? "yes" : "no");
	printf("write: %zd\n", write(fd, "file text", 9));
	printf("seek: %d\n", (int)lseek(fd, 0, SEEK_SET));
	printf("read: %zd", read(fd, back, sizeof(back)));
	printf(" %s\n", back);
	printf("end: %zd\n", read(fd, back, sizeof(back)));
	printf("recv: %zd", recv(fd, back, 1, 0));
	printf(" %s\n", error_name(errno));
	printf("close: %d\n", close(fd));
}

static void as_pipe(int number)
{
	char byte = 0;
	int ends[2];

	if (pipe(ends) != 0)
		give_up("pipe");
	printf("same number as a pipe: %s\n", ends[0] == number ? "yes" : "no");
	printf("write: %zd\n", write(ends[1], "p", 1));
	printf("read: %zd", read(ends[0], &byte, 1));
	printf(" %c\n", byte);
	close(ends[1]);
	printf("end: %zd\n", read(ends[0], &byte, 1));
	close(ends[0]);
}

int main(void)
{
	uint16_t good = start_server(SERVER_ECHO, NULL);
	int held, fd, number, err;
	uint16_t bad = refusing_port(&held);
	struct sockaddr_in nowhere = loopback(bad);
	int64_t ms;

	number = connected(good);
	printf("echo: %d\n", echo(number, "one"));
	syscall(SYS_close, number);
	as_file(number);

	fd = connected(good);
	syscall(SYS_close, fd);
	as_pipe(number);

	fd = connected(good);
	syscall(SYS_close, fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	printf("same number as a socket: %s\n", fd == number ? "yes" : "no");
	err = connect(fd, (struct sockaddr *)&nowhere, sizeof(nowhere)) == 0 ? 0 : errno;
	printf("first: %s\n", error_name(err));
	syscall(SYS_close, fd);
	printf("second: %s\n", error_name(attempt(bad, NULL)));

	/* The healthy destination has nothing to answer for, whatever number it gets. */
	for (int i = 0; i < 3; i++) {
		err = attempt(good, &ms);
		printf("healthy: %s, %s\n", error_name(err), length_of(ms, 1000));
	}
	return 0;
}
