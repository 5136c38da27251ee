/* SPDX-License-Identifier: MIT */
/*
 * Every hooked call that makes or ends a descriptor number, with good and bad arguments.
 */
#include "calls.h"

static uint16_t port;

static void closes(void)
{
	int fd = connected(port), file = open("/dev/null", O_RDONLY);

	SAY("close", "connection", close(fd));
	SAY("close", "again", close(fd));
	SAY("close", "file", close(file));
	SAY("close", "negative", close(-1));
	SAY("close", "smallest", close(INT32_MIN));
	SAY("close", "largest", close(INT32_MAX));
	SAY("close", "beyond", close(100000));
}

static void dups(void)
{
	struct rlimit limit;
	int fd = connected(port), file = open("/dev/null", O_RDONLY), other;

	getrlimit(RLIMIT_NOFILE, &limit);
	SAY("dup", "connection", other = dup(fd));
	printf("echo: %d\n", echo(other, "dup"));
	SAY("close", "duplicate", close(other));
	SAY("dup", "file", other = dup(file));
	close(other);
	SAY("dup", "negative", dup(-1));
	SAY("dup", "not open", dup(100));
	SAY("dup2", "itself", dup2(fd, fd) - fd);
	printf("echo: %d\n", echo(fd, "itself"));
	SAY("dup2", "not open onto itself", dup2(100, 100));
	SAY("dup2", "negative", dup2(-1, -1));
	SAY("dup2", "onto negative", dup2(fd, -1));
	SAY("dup2", "onto too large", dup2(fd, (int)limit.rlim_cur));
	SAY("dup2", "not open onto connection", dup2(100, fd));
	printf("echo: %d\n", echo(fd, "still"));
	SAY("dup2", "connection", dup2(fd, 100));
	printf("echo: %d\n", echo(100, "dup2"));
	SAY("dup2", "file onto connection", dup2(file, 100));
	SAY("read", "file on its number", read(100, (char[1]) { 0 }, 1));
	SAY("dup3", "itself", dup3(fd, fd, 0));
	SAY("dup3", "itself with a flag", dup3(fd, fd, O_CLOEXEC));
	SAY("dup3", "bad flags", dup3(fd, 101, 0x40000000));
	SAY("dup3", "not open", dup3(102, 103, 0));
	SAY("dup3", "connection", dup3(fd, 101, O_CLOEXEC));
	printf("echo: %d, flags: %d\n", echo(101, "dup3"), fcntl(101, F_GETFD));
	close(100);
	close(101);
	close(fd);
	close(file);
}

static void streams(void)
{
	FILE *stream = fopen("/dev/null", "we");
	int fd;

	SAY("fclose", "file", fclose(stream));
	stream = fopen("/dev/full", "we");
	fprintf(stream, "too much");
	SAY("fclose", "full", fclose(stream));
	fd = open("/dev/null", O_WRONLY);
	stream = fdopen(fd, "w");
	fprintf(stream, "lost");
	close(fd);
	SAY("fclose", "closed below", fclose(stream));
	fd = connected(port);
	stream = fdopen(fd, "r+");
	SAY("fclose", "connection", fclose(stream));
	SAY("close", "after it", close(fd));
	stream = fmemopen((char[8]) { 0 }, 8, "r");
	SAY("fclose", "without a number", fclose(stream));
	stream = tmpfile();
	SAY("fclose", "temporary", fclose(stream));
}

/* Two arguments, five, an option that is not there, and the first word of a filter. */
static void options(void)
{
	char name[16] = "";

	SAY("prctl", "name", prctl(PR_SET_NAME, "calls"));
	SAY("prctl", "its name", prctl(PR_GET_NAME, name));
	printf("%s\n", name);
	SAY("prctl", "five", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 1));
	SAY("prctl", "none such", prctl(-1, 0, 0, 0, 0));
	SAY("prctl", "no filter", prctl(PR_SET_SECCOMP, 2, NULL));
	SAY("prctl", "no privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

int main(void)
{
	port = start_server(SERVER_ECHO, NULL);
	closes();
	dups();
	streams();
	options();
	printf("lowest free number: %d\n", dup(1));
	return 0;
}
