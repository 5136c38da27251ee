/* SPDX-License-Identifier: MIT */
/*
 * Connections with more than one number or process: dup, dup2, dup3, fork, fdopen and fclose. Data
 * must come through every one of them, a connection ends with its last number, and a failure seen
 * on a second number counts, once.
 */
#include "probe.h"

static uint16_t good, drops;

static void numbers(void)
{
	int fd = connected(good), second = dup(fd), third = dup2(fd, 100);
	int fourth = dup3(fd, 101, O_CLOEXEC);

	printf("numbers: %d %d %d\n", second == fd + 1, third, fourth);
	printf("echo: %d %d %d %d\n", echo(fd, "a"), echo(second, "bb"), echo(third, "ccc"),
	       echo(fourth, "dddd"));
	printf("close: %d\n", close(fd) + close(second));
	printf("echo: %d %d\n", echo(third, "e"), echo(fourth, "ff"));
	printf("cloexec: %d %d\n", fcntl(third, F_GETFD), fcntl(fourth, F_GETFD));
	close(third);
	close(fourth);
}

/* dup2() over a connection closes it: its server sees EOF, and the number is the other one's. */
static void replaced(void)
{
	int one = connected(good), two = connected(good), null = open("/dev/null", O_RDWR);
	char byte;

	printf("dup2 over: %d\n", dup2(one, two) == two);
	printf("echo: %d\n", echo(two, "over"));
	printf("file over: %d\n", dup2(null, two) == two);
	printf("write: %zd, read: %zd\n", write(two, "x", 1), read(two, &byte, 1));
	printf("echo: %d\n", echo(one, "still"));
	close(one);
	close(two);
	close(null);
}

static void forked(void)
{
	int fd = connected(good), status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		bool works = echo(fd, "child");

		close(fd);
		_exit(works ? 0 : 1);
	}
	waitpid(child, &status, 0);
	printf("child's echo: %d\n", status == 0);
	printf("parent's echo: %d\n", echo(fd, "parent"));
	close(fd);
}

static void streams(void)
{
	int fd = connected(good);
	FILE *stream = fdopen(fd, "r+");
	char line[32] = "";
	int next;

	fprintf(stream, "through stdio\n");
	fflush(stream);
	if (fgets(line, sizeof(line), stream) == NULL)
		give_up("fgets");
	printf("stream: %s", line);
	printf("fclose: %d\n", fclose(stream));
	next = open("/dev/null", O_RDONLY);
	printf("number free again: %d\n", next == fd);
	printf("read: %zd\n", read(next, line, 1));
	close(next);
}

/* The server drops the connection; the EOF is read on a duplicate after the original was closed. */
static void dropped(void)
{
	int fd = connected(drops), second = dup(fd);
	char byte;

	close(fd);
	printf("send: %zd\n", send(second, "x", 1, 0));
	printf("recv: %zd\n", recv(second, &byte, 1, 0));
	close(second);
	printf("after a drop: %s\n", error_name(attempt(drops, NULL)));
}

int main(void)
{
	good = start_server(SERVER_ECHO, NULL);
	drops = start_server(SERVER_DROP, NULL);
	numbers();
	replaced();
	forked();
	streams();
	dropped();
	return 0;
}
