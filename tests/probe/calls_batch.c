/* SPDX-License-Identifier: MIT */
/*
 * Data by other ways than a buffer, several messages, a file, a pipe, and by the other names that
 * libc has for send, recv, read and write, with good and bad arguments, on a connection that the
 * shim follows and on descriptors that it does not.
 */
#include "calls.h"
#include "other_names.h"

#include <sys/sendfile.h>

static int sock, file, null;
static char data[256];

/* Takes the echo of n bytes by raw calls and prints it. */
static void text(int n)
{
	long got = syscall(SYS_recvfrom, sock, data, n, MSG_WAITALL, NULL, NULL);

	printf("text: %.*s\n", (int)(got < 0 ? 0 : got), data);
}

/* Has n bytes come back from the server. */
static void fill(size_t n)
{
	struct pollfd entry = { .fd = sock, .events = POLLIN };
	int here = 0;

	syscall(SYS_sendto, sock, "0123456789abcdefghijklmnopqrstuvwxyz", n, 0, NULL, 0);
	for (int i = 0; i < 500 && here < (int)n; i++) {
		poll(&entry, 1, 10);
		ioctl(sock, FIONREAD, &here);
	}
}

static void many_sent(void)
{
	struct iovec one = { "one", 3 }, two = { "two", 3 }, bad = { NOWHERE, 3 };
	struct mmsghdr batch[3] = { { .msg_hdr = { .msg_iov = &one, .msg_iovlen = 1 } },
		                    { .msg_hdr = { .msg_iov = &two, .msg_iovlen = 1 } },
		                    { .msg_hdr = { .msg_iov = &bad, .msg_iovlen = 1 } } };

	SAY("sendmmsg", "bad descriptor", sendmmsg(-1, batch, 1, 0));
	SAY("sendmmsg", "file", sendmmsg(file, batch, 1, 0));
	SAY("sendmmsg", "none", sendmmsg(sock, batch, 0, 0));
	SAY("sendmmsg", "nowhere", sendmmsg(sock, NOWHERE, 1, 0));
	SAY("sendmmsg", "two", sendmmsg(sock, batch, 2, MSG_NOSIGNAL));
	printf("lengths: %u %u\n", batch[0].msg_len, batch[1].msg_len);
	text(6);
	SAY("sendmmsg", "part of three", sendmmsg(sock, batch, 3, 0));
	text(6);
	SAY("sendmmsg", "bad first", sendmmsg(sock, batch + 2, 1, 0));
}

static void many_received(void)
{
	struct iovec parts[2] = { { data, 4 }, { data + 100, 4 } };
	struct mmsghdr batch[2] = { { .msg_hdr = { .msg_iov = parts, .msg_iovlen = 1 } },
		                    { .msg_hdr = { .msg_iov = parts + 1, .msg_iovlen = 1 } } };
	struct timespec none = { 0 }, ample = { .tv_sec = 60 }, bad = { .tv_sec = -1 };

	SAY("recvmmsg", "bad descriptor", recvmmsg(-1, batch, 1, 0, NULL));
	SAY("recvmmsg", "none", recvmmsg(sock, NULL, 0, 0, NULL));
	SAY("recvmmsg", "nothing there", recvmmsg(sock, batch, 2, MSG_DONTWAIT, NULL));
	SAY("recvmmsg", "bad time", recvmmsg(sock, batch, 2, 0, &bad));
#ifdef __LP64__ /* elsewhere libc reads it itself, and dies */
	SAY("recvmmsg", "time nowhere", recvmmsg(sock, batch, 2, 0, NOWHERE));
#endif
	fill(12);
	SAY("recvmmsg", "messages nowhere", recvmmsg(sock, NOWHERE, 1, 0, NULL));
	SAY("recvmmsg", "no time", recvmmsg(sock, batch, 2, 0, &none));
	printf("length: %u, text: %.4s\n", batch[0].msg_len, data);
	SAY("recvmmsg", "time enough", recvmmsg(sock, batch, 2, 0, &ample));
	printf("lengths: %u %u, text: %.4s%.4s\n", batch[0].msg_len, batch[1].msg_len, data,
	       data + 100);
	fill(8);
	SAY("recvmmsg", "two", recvmmsg(sock, batch, 2, 0, NULL));
	printf("lengths: %u %u, text: %.4s%.4s\n", batch[0].msg_len, batch[1].msg_len, data,
	       data + 100);
	fill(3);
	SAY("recvmmsg", "wait for one", recvmmsg(sock, batch, 2, MSG_WAITFORONE, NULL));
	fill(3);
	SAY("recvmmsg", "peek", recvmmsg(sock, batch, 1, MSG_PEEK, NULL));
	batch[0].msg_hdr.msg_iovlen = 0;
	SAY("recvmmsg", "no parts", recvmmsg(sock, batch, 1, 0, NULL));
	batch[0].msg_hdr.msg_iovlen = 1;
	SAY("recvmmsg", "peeked", recvmmsg(sock, batch, 1, 0, NULL));
}

/* A stream that has ended fills every message with nothing. */
static void many_at_the_end(void)
{
	struct iovec part = { data, 4 };
	struct mmsghdr batch[2] = { { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } },
		                    { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } } };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		give_up("socketpair");
	shutdown(ends[1], SHUT_WR);
	SAY("recvmmsg", "at the end", recvmmsg(ends[0], batch, 2, 0, NULL));
	printf("lengths: %u %u\n", batch[0].msg_len, batch[1].msg_len);
	close(ends[0]);
	close(ends[1]);
}

static int words(void)
{
	int fd = memfd_create("words", MFD_CLOEXEC);

	if (fd < 0 || write(fd, "from a file", 11) != 11)
		give_up("file");
	return fd;
}

static void files_sent(void)
{
	off_t at = 5;
	int from = words(), other = words();

	SAY("sendfile", "bad descriptor", sendfile(-1, from, &at, 6));
	SAY("sendfile", "bad source", sendfile(sock, -1, NULL, 6));
	SAY("sendfile", "offset nowhere", sendfile(sock, from, NOWHERE, 6));
	SAY("sendfile", "nothing", sendfile(sock, from, &at, 0));
	SAY("sendfile", "word", sendfile(sock, from, &at, 100));
	printf("offset: %ld\n", (long)at);
	text(6);
	SAY("sendfile", "at the end", sendfile(sock, from, &at, 100));
	at = 0;
	SAY("sendfile", "file", sendfile(other, from, &at, 4));
	SAY("sendfile", "null", sendfile(null, from, NULL, 4));
#ifdef __GLIBC__
	off64_t far = 7;

	SAY("sendfile64", "bad descriptor", sendfile64(-1, from, &far, 4));
	SAY("sendfile64", "word", sendfile64(sock, from, &far, 4));
	text(4);
	far = (off64_t)1 << 40;
	SAY("sendfile64", "far beyond", sendfile64(sock, from, &far, 4));
	printf("offset: %lld\n", (long long)far);
	SAY("sendfile64", "null", sendfile64(null, from, NULL, 4));
#endif
	close(from);
	close(other);
}

static void spliced(void)
{
	loff_t at = 5;
	int ends[2], from = words();

	if (pipe2(ends, O_NONBLOCK) != 0)
		give_up("pipe");
	SAY("splice", "bad descriptors", splice(-1, NULL, -1, NULL, 4, 0));
	SAY("splice", "no pipe", splice(from, NULL, sock, NULL, 4, 0));
	SAY("splice", "empty pipe", splice(ends[0], NULL, sock, NULL, 4, SPLICE_F_NONBLOCK));
	SAY("splice", "file to pipe", splice(from, &at, ends[1], NULL, 6, 0));
	printf("offset: %lld\n", (long long)at);
	SAY("splice", "pipe to connection", splice(ends[0], NULL, sock, NULL, 6, SPLICE_F_MOVE));
	text(6);
	fill(4);
	SAY("splice", "connection to pipe", splice(sock, NULL, ends[1], NULL, 4, 0));
	SAY("read", "what came", read(ends[0], data, 9));
	SAY("splice", "offset of a connection", splice(sock, &at, ends[1], NULL, 4, 0));
	SAY("splice", "nothing", splice(sock, NULL, ends[1], NULL, 0, 0));
	fill(4);
	close(ends[0]);
	SAY("splice", "broken pipe", splice(sock, NULL, ends[1], NULL, 4, 0));
	syscall(SYS_recvfrom, sock, data, sizeof(data), MSG_DONTWAIT, NULL, NULL);
	close(ends[1]);
	close(from);
}

#ifdef __GLIBC__

/* True if the call is stopped by glibc's check, as the program asked for. */
static bool stopped(ssize_t (*call)(void))
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		dup2(null, 2);
		close(open("/dev/tty", O_RDWR)); /* the message goes there or to stderr */
		setrlimit(RLIMIT_CORE, &(struct rlimit) { 0, 0 });
		call();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static ssize_t too_much(void)
{
	return __recv_chk(sock, data, 8, 4, 0);
}

static ssize_t too_much_from(void)
{
	return __recvfrom_chk(sock, data, 8, 4, 0, NULL, NULL);
}

static ssize_t too_much_read(void)
{
	return __read_chk(sock, data, 8, 4);
}

static void checked(void)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);

	SAY("__recv_chk", "bad descriptor", __recv_chk(-1, data, 4, 4, 0));
	SAY("__recvfrom_chk", "bad descriptor", __recvfrom_chk(-1, data, 4, 4, 0, NULL, NULL));
	SAY("__read_chk", "bad descriptor", __read_chk(-1, data, 4, 4));
	SAY("__recv_chk", "nothing there", __recv_chk(sock, data, 4, 4, MSG_DONTWAIT));
	fill(12);
	SAY("__recv_chk", "word", __recv_chk(sock, data, 4, sizeof(data), 0));
	SAY("__recvfrom_chk", "word",
	    __recvfrom_chk(sock, data + 4, 4, 4, 0, (struct sockaddr *)&from, &len));
	SAY("__read_chk", "word", __read_chk(sock, data + 8, 4, 4));
	printf("text: %.12s\n", data);
	printf("stopped: %d %d %d\n", stopped(too_much), stopped(too_much_from),
	       stopped(too_much_read));
}

static void other_names(void)
{
	SAY("__send", "bad descriptor", __send(-1, "x", 1, 0));
	SAY("__send", "word", __send(sock, "word", 4, MSG_NOSIGNAL));
	text(4);
	SAY("__write", "bad descriptor", __write(-1, "x", 1));
	SAY("__write", "null", __write(null, "x", 1));
	SAY("__write", "word", __write(sock, "word", 4));
	SAY("__read", "word", __read(sock, data, 4));
	SAY("__read", "bad descriptor", __read(-1, data, 4));
	SAY("__read", "zero", __read(file, data, 4));
}

#endif

int main(void)
{
	uint16_t port = start_server(SERVER_ECHO, NULL);

	signal(SIGPIPE, SIG_IGN);
	file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sock = connected(port);
	many_sent();
	many_received();
	many_at_the_end();
	files_sent();
	spliced();
#ifdef __GLIBC__
	checked();
	other_names();
#endif
	close(sock);
	for (int i = 0; i < 3; i++)
		printf("healthy: %s\n", error_name(attempt(port, NULL)));
	return 0;
}
