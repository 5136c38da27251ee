/* SPDX-License-Identifier: MIT */
/*
 * Numbers made and ended by other calls than dup and close: fcntl in all its names, whole ranges,
 * and the other names that libc has for close, connect, dup2 and fclose. Usage: calls_number [few]
 * (with 8 descriptor numbers in all)
 */
#include "calls.h"
#include "other_names.h"

#include <sys/file.h>

#ifndef __GLIBC__
#define fcntl64 fcntl
#define __fcntl fcntl
#endif

/* F_DUPFD_QUERY of Linux 6.10: the headers may be older. */
#define DUPFD_QUERY (1024 + 3)

static uint16_t port;

/* Every name must do the same: numbers, pointers of all kinds, and results of all kinds. */
static void control(const char *name, int (*call)(int fd, int command, ...))
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 3, .l_len = 5 };
	struct f_owner_ex owner = { .type = F_OWNER_PID, .pid = getpid() };
	int fd = connected(port), file = memfd_create("file", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	int other, ends[2];
	uint64_t hint = 2;

	SAY(name, "F_DUPFD", other = call(fd, F_DUPFD, 50));
	printf("echo: %d, flags: %d\n", echo(other, "dup"), call(other, F_GETFD));
	close(other);
	SAY(name, "F_DUPFD_CLOEXEC", other = call(fd, F_DUPFD_CLOEXEC, 60));
	printf("echo: %d, flags: %d\n", echo(other, "dup"), call(other, F_GETFD));
	close(other);
	SAY(name, "F_DUPFD of a file", other = call(file, F_DUPFD, 0));
	close(other);
	SAY(name, "F_DUPFD of nothing", call(70, F_DUPFD, 0));
	SAY(name, "F_DUPFD negative", call(fd, F_DUPFD, -1));
	SAY(name, "F_DUPFD too large", call(fd, F_DUPFD, INT32_MAX));
	SAY(name, "F_DUPFD_CLOEXEC bad descriptor", call(-1, F_DUPFD_CLOEXEC, 0));
	SAY(name, "F_GETFD", call(fd, F_GETFD));
	SAY(name, "F_SETFD", call(fd, F_SETFD, FD_CLOEXEC));
	SAY(name, "F_GETFD", call(fd, F_GETFD));
	SAY(name, "F_GETFL", call(fd, F_GETFL));
	SAY(name, "F_SETFL", call(fd, F_SETFL, O_NONBLOCK));
	SAY(name, "F_GETFL", call(fd, F_GETFL) & O_NONBLOCK);
	SAY(name, "F_SETLK", call(file, F_SETLK, &lock));
	SAY(name, "F_SETLKW", call(file, F_SETLKW, &lock));
	lock.l_type = F_RDLCK;
	SAY(name, "F_GETLK", call(file, F_GETLK, &lock));
	printf("lock: %d %ld %ld\n", lock.l_type == F_UNLCK, (long)lock.l_start, (long)lock.l_len);
	SAY(name, "F_SETLK nowhere", call(file, F_SETLK, NOWHERE));
	lock = (struct flock) { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	SAY(name, "F_OFD_SETLK", call(file, F_OFD_SETLK, &lock));
	SAY(name, "F_SETOWN", call(fd, F_SETOWN, -getpgrp()));
	SAY(name, "F_GETOWN of a group", call(fd, F_GETOWN) + getpgrp());
	SAY(name, "F_SETOWN_EX", call(fd, F_SETOWN_EX, &owner));
	SAY(name, "F_GETOWN", call(fd, F_GETOWN) - getpid());
	SAY(name, "F_SETSIG", call(fd, F_SETSIG, SIGUSR1));
	SAY(name, "F_GETSIG", call(fd, F_GETSIG) - SIGUSR1);
	SAY(name, "F_ADD_SEALS", call(file, F_ADD_SEALS, F_SEAL_GROW));
	SAY(name, "F_GET_SEALS", call(file, F_GET_SEALS));
	SAY(name, "F_SET_RW_HINT", call(file, F_SET_RW_HINT, &hint));
	if (pipe(ends) != 0)
		give_up("pipe");
	SAY(name, "F_SETPIPE_SZ", call(ends[0], F_SETPIPE_SZ, 4096));
	SAY(name, "F_GETPIPE_SZ", call(ends[0], F_GETPIPE_SZ));
	SAY(name, "F_DUPFD_QUERY", call(fd, DUPFD_QUERY, fd));
	SAY(name, "unknown", call(fd, 4711, NOWHERE));
	close(ends[0]);
	close(ends[1]);
	close(file);
	close(fd);
}

/* Open numbers from 3 on, as a child with a table of its own sees them. */
static void show_open(void)
{
	printf("open:");
	for (int fd = 3; fd < 1024; fd++)
		if (syscall(SYS_fcntl, fd, F_GETFD) >= 0)
			printf(" %d%s", fd, syscall(SYS_fcntl, fd, F_GETFD) ? "+" : "");
	printf("\n");
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)

static void ranges(void)
{
	int fd = connected(port), low = connected(port), null = open("/dev/null", O_RDONLY);

	dup2(fd, 100);
	dup2(low, 101);
	dup2(null, 102);
	dup2(fd, 103);
	SAY("close_range", "the wrong way round", close_range(5, 4, 0));
	SAY("close_range", "unknown flag", close_range(100, 103, 1 << 20));
	show_open();
	SAY("close_range", "on exec", close_range(100, 102, CLOSE_RANGE_CLOEXEC));
	show_open();
	printf("echo: %d %d\n", echo(100, "still"), echo(101, "open"));
	SAY("close_range", "some", close_range(101, 102, 0));
	show_open();
	printf("echo: %d\n", echo(100, "still"));
	SAY("close_range", "unshared", close_range(100, 100, CLOSE_RANGE_UNSHARE));
	show_open();
	printf("echo: %d %d\n", echo(fd, "first"), echo(103, "last"));
	SAY("close_range", "everything", close_range(3, ~0U, 0));
	show_open();
	SAY("close_range", "nothing left", close_range(3, ~0U, 0));
	SAY("close_range", "beyond", close_range(1 << 30, ~0U, 0));
	fd = connected(port);
	dup2(fd, 100);
	SAY("closefrom", "beyond", (closefrom(101), 0));
	show_open();
	printf("echo: %d\n", echo(fd, "works"));
	SAY("closefrom", "100", (closefrom(100), 0));
	show_open();
	SAY("closefrom", "3", (closefrom(3), 0));
	show_open();
}

/* A child, forked or borrowing our memory, closes everything; what its parent has goes on. */
static void in_children(void)
{
	volatile int fd = connected(port);
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		close_range(3, ~0U, 0);
		_exit(fcntl(fd, F_GETFD) == -1 ? 0 : 1);
	}
	waitpid(child, NULL, 0);
	printf("after a fork: %d\n", echo(fd, "fork"));
	child = vfork();
	if (child == 0) {
		close_range(3, ~0U, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	printf("after a vfork: %d\n", echo(fd, "vfork"));
	child = vfork();
	if (child == 0) {
		closefrom(-1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	printf("after another: %d\n", echo(fd, "closefrom"));
	close(fd);
}

#endif

#ifdef __GLIBC__

static void other_names(void)
{
	struct sockaddr_in to = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), other;
	FILE *stream;

	SAY("__connect", "bad descriptor", __connect(-1, (struct sockaddr *)&to, sizeof(to)));
	SAY("__connect", "address nowhere", __connect(fd, NOWHERE, sizeof(to)));
	SAY("__connect", "healthy", __connect(fd, (struct sockaddr *)&to, sizeof(to)));
	SAY("__connect", "twice", __connect(fd, (struct sockaddr *)&to, sizeof(to)));
	printf("echo: %d\n", echo(fd, "connected"));
	SAY("__dup2", "itself", __dup2(fd, fd) - fd);
	SAY("__dup2", "negative", __dup2(-1, 100));
	SAY("__dup2", "connection", other = __dup2(fd, 100));
	SAY("__close", "connection", __close(fd));
	SAY("__close", "again", __close(fd));
	SAY("__close", "negative", __close(-1));
	printf("echo: %d\n", echo(other, "doubled"));
	stream = fdopen(other, "r+");
	SAY("_IO_fclose", "connection", _IO_fclose(stream));
	SAY("__close", "after it", __close(other));
	stream = fopen("/dev/full", "we");
	fprintf(stream, "too much");
	SAY("_IO_fclose", "full", _IO_fclose(stream));
}

#endif

/* With hardly a number to be had. */
static void with_few(void)
{
	struct rlimit limit = { 8, 8 };
	int fd = connected(port), last = -1, other;

	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		give_up("setrlimit");
	while ((other = dup(fd)) >= 0)
		last = other;
	SAY("fcntl", "no number left", fcntl(fd, F_DUPFD, 0));
	SAY("fcntl", "beyond the limit", fcntl(fd, F_DUPFD, 8));
	printf("echo: %d\n", echo(last, "last"));
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
	SAY("closefrom", "almost all", (closefrom(4), 0));
	show_open();
	printf("echo: %d\n", echo(3, "left"));
	SAY("closefrom", "all", (closefrom(3), 0));
	show_open();
	SAY("close_range", "nothing", close_range(3, ~0U, 0));
#endif
}

int main(int argc, char **argv)
{
	(void)argv;
	port = start_server(SERVER_ECHO, NULL);
	if (argc > 1) {
		with_few();
		return 0;
	}
	control("fcntl", fcntl);
#ifdef __GLIBC__
	control("fcntl64", fcntl64);
	control("__fcntl", __fcntl);
	other_names();
#endif
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
	ranges();
	in_children();
#endif
	printf("lowest free number: %d\n", dup(1));
	printf("healthy: %s\n", error_name(attempt(port, NULL)));
	return 0;
}
