/* SPDX-License-Identifier: MIT */
/* What each further way to make a second number, to give one up and to connect one tells of a
 * connection (tell.h). */
#include "tell.h"

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
#define HAS_CLOSE_RANGE
#endif
#endif

static uint16_t refusing;

/* Waits for the end of the stream to come in. */
static void wait_end(int fd)
{
	struct pollfd entry = { .fd = fd, .events = POLLRDHUP };

	poll(&entry, 1, 5000);
	if (!(entry.revents & POLLRDHUP))
		give_up("the server did not close");
}

/* --- ways to make a second number --- */

#define SECOND 300

static int again_by_dup(int fd)
{
	return dup(fd);
}

static int again_by_dup2(int fd)
{
	return dup2(fd, SECOND);
}

static int again_by_dup3(int fd)
{
	return dup3(fd, SECOND, O_CLOEXEC);
}

static int again_by_fcntl(int fd)
{
	return fcntl(fd, F_DUPFD, SECOND);
}

static int again_by_fcntl_cloexec(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, SECOND);
}

#ifdef __GLIBC__

static int again_by_hidden_dup2(int fd)
{
	return __dup2(fd, SECOND);
}

static int again_by_hidden_fcntl(int fd)
{
	return __fcntl(fd, F_DUPFD, SECOND);
}

static int again_by_fcntl64(int fd)
{
	return fcntl64(fd, F_DUPFD_CLOEXEC, SECOND);
}

#endif

static void doubles(const char *name, int (*again)(int fd))
{
	int fd, other, third;
	char byte;

	begin(name);
	fd = joined();
	other = again(fd);
	close(fd);
	send(other, "d", 1, 0);
	if (recv(other, &byte, 1, 0) != 0)
		give_up("end");
	third = joined();
	printf("fr, number %d\n", other);
	close(other);
	close(third);
}

/* --- ways to give a number up --- */

static void by_dup2(int fd)
{
	dup2(ends[0], fd);
}

static void by_dup3(int fd)
{
	dup3(ends[0], fd, 0);
}

/* Refused: the number stays what it is. */
static void by_dup3_on_itself(int fd)
{
	dup3(fd, fd, 0);
}

static void ends_it(const char *name, const char *wanted, void (*give_up_number)(int fd))
{
	int fd, second;

	begin(name);
	fd = joined();
	send(fd, "d", 1, 0);
	wait_end(fd);
	give_up_number(fd);
	second = joined();
	printf("%s\n", wanted);
	close(second);
}

#ifdef HAS_CLOSE_RANGE

static void by_close_range(int fd)
{
	close_range(fd, fd, 0);
}

/* In a range with an end that no table reaches. */
static void by_long_range(int fd)
{
	close_range(fd, ~0U, 0);
}

static void by_close_range_on_exec(int fd)
{
	close_range(fd, fd, CLOSE_RANGE_CLOEXEC);
}

static void by_unknown_flag(int fd)
{
	close_range(fd, fd, 1 << 20);
}

static void by_closefrom(int fd)
{
	closefrom(fd);
}

/* A stream was on a number, which was then closed by the range; what is there next, a datagram
 * socket that nothing was seen to make, is none. */
static void forgets(int high)
{
	struct sockaddr_in to;
	int fd = socket(AF_INET, SOCK_STREAM, 0), next;

	begin("close_range");
	to = address_of(number, port);
	if (high) {
		dup2(fd, high);
		syscall(SYS_close, fd);
		fd = high;
	}
	close_range(fd, fd, 0);
	next = (int)syscall(SYS_socket, AF_INET, SOCK_DGRAM, 0);
	if (next != fd) {
		syscall(SYS_dup3, next, fd, 0);
		syscall(SYS_close, next);
	}
	printf("-, connect %d\n", connect(fd, (struct sockaddr *)&to, sizeof(to)));
	close(fd);
}

/* A forked child closes what it has from us: its parent's outcome is not its own to tell. */
static void by_child(int fd)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		close_range(fd, ~0U, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void by_vfork_child(int fd)
{
	pid_t child = vfork();

	if (child == 0) {
		close_range(fd, ~0U, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* What a child closed stays followed: the end that is read afterwards counts. */
static void stays(const char *name, void (*in_child)(int fd))
{
	int fd, second;
	char byte;

	begin(name);
	fd = joined();
	send(fd, "d", 1, 0);
	wait_end(fd);
	in_child(fd);
	if (recv(fd, &byte, 1, 0) != 0)
		give_up("end");
	second = joined();
	printf("fr\n");
	close(fd);
	close(second);
}

#endif

#ifdef __GLIBC__

static void by_close(int fd)
{
	__close(fd);
}

static void by_hidden_dup2(int fd)
{
	__dup2(ends[0], fd);
}

static void by_fclose(int fd)
{
	_IO_fclose(fdopen(fd, "r"));
}

static void connects(void)
{
	int fds[2];

	begin("__connect");
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in to = address_of(number, refusing);

		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		past_the_gate();
		if (__connect(fds[i], (struct sockaddr *)&to, sizeof(to)) == 0)
			give_up("not refused");
	}
	printf("fr\n");
	close(fds[0]);
	close(fds[1]);
}

#endif

int main(void)
{
	int held;

	start_telling();
	refusing = refusing_port(&held);
#ifdef HAS_CLOSE_RANGE
	forgets(0); /* first, while no higher number is known */
#endif
	doubles("dup", again_by_dup);
	doubles("dup2", again_by_dup2);
	doubles("dup3", again_by_dup3);
	doubles("fcntl", again_by_fcntl);
	doubles("fcntl", again_by_fcntl_cloexec);
	ends_it("dup2", "fr", by_dup2);
	ends_it("dup3", "fr", by_dup3);
	ends_it("dup3", "ff", by_dup3_on_itself);
#ifdef __GLIBC__
	doubles("__dup2", again_by_hidden_dup2);
	doubles("__fcntl", again_by_hidden_fcntl);
	doubles("fcntl64", again_by_fcntl64);
	ends_it("__close", "fr", by_close);
	ends_it("__dup2", "fr", by_hidden_dup2);
	ends_it("_IO_fclose", "fr", by_fclose);
	connects();
#endif
#ifdef HAS_CLOSE_RANGE
	ends_it("close_range", "fr", by_close_range);
	ends_it("close_range", "fr", by_long_range);
	ends_it("close_range", "ff", by_close_range_on_exec);
	ends_it("close_range", "ff", by_unknown_flag);
	ends_it("closefrom", "fr", by_closefrom);
	forgets(900);
	ends_it("close_range", "ff", by_child);
	ends_it("close_range", "ff", by_vfork_child);
	stays("close_range", by_child);
	stays("close_range", by_vfork_child);
#endif
	return 0;
}
