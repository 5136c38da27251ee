/* SPDX-License-Identifier: MIT */
/*
 * What each further call tells of a connection. Every case has an address of its own, so that its
 * attempts can be told apart in the records; each line printed names the call, the address, and
 * the attempts that must have been recorded if the call was seen: f a first try, r a retry.
 *
 * The server answers what it is sent, but closes the connection when it gets a "d", and at every
 * other "t". A failure is told by the call or not at all: the connection stays open until the next
 * attempt was made.
 */
#include "probe.h"

#include <sys/sendfile.h>

#ifdef __GLIBC__
extern ssize_t __recv_chk(int fd, void *data, size_t n, size_t space, int flags);
extern ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t space, int flags,
                              struct sockaddr *from, socklen_t *len);
extern ssize_t __read_chk(int fd, void *data, size_t n, size_t space);
extern ssize_t __read(int fd, void *data, size_t n);
extern ssize_t __send(int fd, const void *data, size_t n, int flags);
extern ssize_t __write(int fd, const void *data, size_t n);
extern int __close(int fd);
extern int __connect(int fd, const struct sockaddr *address, socklen_t len);
extern int __dup2(int fd, int to);
extern int __fcntl(int fd, int command, ...);
extern int _IO_fclose(FILE *stream);
#endif

static uint16_t port, refusing;
static int number;
static int ends[2]; /* of a pipe, not blocking */

static struct sockaddr_in address_of(int last, uint16_t at)
{
	struct sockaddr_in address = loopback(at);

	address.sin_addr.s_addr = htonl(0x7f000100u + (uint32_t)last);
	return address;
}

static void begin(const char *name)
{
	printf("%s 127.0.1.%d ", name, ++number);
}

static int joined(void)
{
	struct sockaddr_in to = address_of(number, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	past_the_gate();
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		give_up("connect");
	return fd;
}

/* Waits for the end of the stream to come in. */
static void wait_end(int fd)
{
	struct pollfd entry = { .fd = fd, .events = POLLRDHUP };

	poll(&entry, 1, 5000);
	if (!(entry.revents & POLLRDHUP))
		give_up("the server did not close");
}

/* --- ways to take a reply, or its end; the bytes taken --- */

static char data[16];

static ssize_t by_recvmmsg(int fd)
{
	struct iovec part = { data, sizeof(data) };
	struct mmsghdr batch[2] = { { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } },
		                    { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } } };

	return recvmmsg(fd, batch, 2, MSG_WAITFORONE, NULL) < 1 ? -1 : (ssize_t)batch[0].msg_len;
}

static ssize_t by_splice(int fd)
{
	ssize_t n = splice(fd, NULL, ends[1], NULL, sizeof(data), 0);

	while (read(ends[0], data, sizeof(data)) > 0)
		;
	return n;
}

#ifdef __GLIBC__

static ssize_t by_recv_chk(int fd)
{
	return __recv_chk(fd, data, sizeof(data), sizeof(data), 0);
}

static ssize_t by_recvfrom_chk(int fd)
{
	return __recvfrom_chk(fd, data, sizeof(data), sizeof(data), 0, NULL, NULL);
}

static ssize_t by_read_chk(int fd)
{
	return __read_chk(fd, data, sizeof(data), sizeof(data));
}

static ssize_t by_read(int fd)
{
	return __read(fd, data, sizeof(data));
}

#endif

/* The end counts as a failure, so the next attempt is a retry, with the same request; its reply
 * counts as a success, so the one after that is a first try again. */
static void takes(const char *name, ssize_t (*take)(int fd))
{
	int fd, second, third;
	ssize_t end, reply;

	begin(name);
	fd = joined();
	send(fd, "t", 1, 0);
	end = take(fd);
	second = joined();
	send(second, "t", 1, 0);
	reply = take(second);
	third = joined();
	printf("frf recovered, end %zd, reply %zd\n", end, reply);
	close(fd);
	close(second);
	close(third);
}

/* --- ways to send a byte --- */

static ssize_t by_sendmmsg(int fd)
{
	struct iovec part = { "d", 1 };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };

	return sendmmsg(fd, &message, 1, 0);
}

static int file_with_d(void)
{
	int file = memfd_create("d", MFD_CLOEXEC);

	if (file < 0 || write(file, "d", 1) != 1)
		give_up("file");
	return file;
}

static ssize_t by_sendfile(int fd)
{
	off_t at = 0;
	int file = file_with_d();
	ssize_t n = sendfile(fd, file, &at, 1);

	close(file);
	return n;
}

static ssize_t by_splice_to(int fd)
{
	if (write(ends[1], "d", 1) != 1)
		give_up("pipe");
	return splice(ends[0], NULL, fd, NULL, 1, 0);
}

#ifdef __GLIBC__

static ssize_t by_sendfile64(int fd)
{
	off64_t at = 0;
	int file = file_with_d();
	ssize_t n = sendfile64(fd, file, &at, 1);

	close(file);
	return n;
}

static ssize_t by_send(int fd)
{
	return __send(fd, "d", 1, 0);
}

static ssize_t by_write(int fd)
{
	return __write(fd, "d", 1);
}

#endif

/* A kept connection that ends while it is idle is nobody's failure; while a request is open it is.
 */
static void sends(const char *name, ssize_t (*give)(int fd))
{
	ssize_t sent;
	int fd, second;
	char byte;

	begin(name);
	fd = joined();
	if (send(fd, "e", 1, 0) != 1 || recv(fd, &byte, 1, 0) != 1)
		give_up("echo");
	sent = give(fd);
	if (recv(fd, &byte, 1, 0) != 0)
		give_up("end");
	second = joined();
	printf("fr, sent %zd\n", sent);
	close(fd);
	close(second);
}

/* That nobody reads the pipe is no fault of the connection's. */
static void meets_a_broken_pipe(void)
{
	int broken[2], fd, second;
	struct pollfd entry = { .events = POLLIN };
	ssize_t n;

	begin("splice");
	if (pipe(broken) != 0)
		give_up("pipe");
	close(broken[0]);
	entry.fd = fd = joined();
	send(fd, "e", 1, 0);
	poll(&entry, 1, 5000);
	n = splice(fd, NULL, broken[1], NULL, 1, 0);
	second = joined();
	printf("ff, broken %zd\n", n);
	close(fd);
	close(second);
	close(broken[1]);
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

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)

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

static bool is_dropped(char byte, int *turns)
{
	return byte == 'd' ||
	       (byte == 't' && __atomic_fetch_add(turns, 1, __ATOMIC_SEQ_CST) % 2 == 0);
}

static void serve_words(int listener)
{
	int *turns = shared_memory(sizeof(*turns));

	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int peer = accept(listener, NULL, NULL);
		char byte;

		if (peer < 0)
			continue;
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (recv(peer, &byte, 1, 0) == 1 && !is_dropped(byte, turns) &&
			       send(peer, &byte, 1, MSG_NOSIGNAL) == 1)
				;
			_exit(0);
		}
		close(peer);
	}
}

static uint16_t start(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	socklen_t len = sizeof(any);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(listener, (struct sockaddr *)&any, len) != 0 || listen(listener, 64) != 0 ||
	    getsockname(listener, (struct sockaddr *)&any, &len) != 0)
		give_up("listen");
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve_words(listener);
	}
	close(listener);
	return ntohs(any.sin_port);
}

int main(void)
{
	int held;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	signal(SIGPIPE, SIG_IGN);
	port = start();
	refusing = refusing_port(&held);
	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
		give_up("pipe");
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
	forgets(0); /* first, while no higher number is known */
#endif
	takes("recvmmsg", by_recvmmsg);
	takes("splice", by_splice);
	sends("sendmmsg", by_sendmmsg);
	sends("sendfile", by_sendfile);
	sends("splice", by_splice_to);
	meets_a_broken_pipe();
	doubles("dup", again_by_dup);
	doubles("dup2", again_by_dup2);
	doubles("dup3", again_by_dup3);
	doubles("fcntl", again_by_fcntl);
	doubles("fcntl", again_by_fcntl_cloexec);
	ends_it("dup2", "fr", by_dup2);
	ends_it("dup3", "fr", by_dup3);
	ends_it("dup3", "ff", by_dup3_on_itself);
#ifdef __GLIBC__
	takes("__recv_chk", by_recv_chk);
	takes("__recvfrom_chk", by_recvfrom_chk);
	takes("__read_chk", by_read_chk);
	takes("__read", by_read);
	sends("sendfile64", by_sendfile64);
	sends("__send", by_send);
	sends("__write", by_write);
	doubles("__dup2", again_by_hidden_dup2);
	doubles("__fcntl", again_by_hidden_fcntl);
	doubles("fcntl64", again_by_fcntl64);
	ends_it("__close", "fr", by_close);
	ends_it("__dup2", "fr", by_hidden_dup2);
	ends_it("_IO_fclose", "fr", by_fclose);
	connects();
#endif
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
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
