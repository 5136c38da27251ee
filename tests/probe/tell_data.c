/* SPDX-License-Identifier: MIT */
/* What each further way to send and to receive tells of a connection (tell.h). */
#include "tell.h"

#include <sys/sendfile.h>

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

int main(void)
{
	start_telling();
	takes("recvmmsg", by_recvmmsg);
	takes("splice", by_splice);
	sends("sendmmsg", by_sendmmsg);
	sends("sendfile", by_sendfile);
	sends("splice", by_splice_to);
	meets_a_broken_pipe();
#ifdef __GLIBC__
	takes("__recv_chk", by_recv_chk);
	takes("__recvfrom_chk", by_recvfrom_chk);
	takes("__read_chk", by_read_chk);
	takes("__read", by_read);
	sends("sendfile64", by_sendfile64);
	sends("__send", by_send);
	sends("__write", by_write);
#endif
	return 0;
}
