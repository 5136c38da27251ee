/* SPDX-License-Identifier: MIT */
/*
 * SCTP is left alone. Few kernels have it, so a library between the shim and libc, this file built
 * with -DSCTP_LIBRARY, has TCP sockets pass for it: what socket() makes with its protocol or type,
 * and numbers that sctp_mark() names, which stand for inherited ones. Each line of the program
 * names a case, its address, and the attempts that must be recorded.
 */
#ifdef SCTP_LIBRARY

#include <dlfcn.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

static int types[1024]; /* of the numbers that pass for SCTP */

void sctp_mark(int fd, int type)
{
	types[fd] = type;
}

int socket(int domain, int type, int protocol)
{
	int (*next)(int, int, int);
	void *found = dlsym(RTLD_NEXT, "socket");
	int kind = type & 0xf, fd;

	memcpy(&next, &found, sizeof(found));
	if (domain != AF_INET || (protocol != IPPROTO_SCTP && kind != SOCK_SEQPACKET))
		return next(domain, type, protocol);
	fd = next(domain, (type & ~0xf) | SOCK_STREAM, 0);
	if (fd >= 0 && fd < 1024)
		types[fd] = kind;
	return fd;
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	int (*next)(int, int, int, void *, socklen_t *);
	void *found = dlsym(RTLD_NEXT, "getsockopt");
	int result;

	memcpy(&next, &found, sizeof(found));
	result = next(fd, level, name, value, len);
	if (result != 0 || fd >= 1024 || !types[fd] || level != SOL_SOCKET)
		return result;
	if (name == SO_TYPE)
		*(int *)value = types[fd];
	if (name == SO_PROTOCOL)
		*(int *)value = IPPROTO_SCTP;
	return result;
}

#else

#include "probe.h"

#include <dlfcn.h>

static uint16_t refusing;
static int number;

/* Three attempts at an address of its own, each on a new socket. */
static void tries(const char *what, const char *wanted, int (*make)(void))
{
	struct sockaddr_in to = loopback(refusing);
	int errors[3];

	to.sin_addr.s_addr = htonl(0x7f000200u + (uint32_t)++number);
	for (int i = 0; i < 3; i++) {
		int fd = make();

		errors[i] = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
		syscall(SYS_close, fd);
	}
	printf("%s 127.0.2.%d %s, %s %s %s\n", what, number, wanted, error_name(errors[0]),
	       error_name(errors[1]), error_name(errors[2]));
}

/* A socket that nothing was seen to make, on a number that was never seen before: as after exec. */
static int raw(void)
{
	static int next = 200;
	int fd = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
	int to = (int)syscall(SYS_dup3, fd, next++, 0);

	syscall(SYS_close, fd);
	return to;
}

static int by_protocol(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP);
}

static int by_type(void)
{
	return socket(AF_INET, SOCK_SEQPACKET, 0);
}

static void mark(int fd, int type)
{
	void *found = dlsym(RTLD_DEFAULT, "sctp_mark");
	void (*sctp_mark)(int, int);

	if (found == NULL)
		give_up("no library");
	memcpy(&sctp_mark, &found, sizeof(found));
	sctp_mark(fd, type);
}

static int inherited_stream(void)
{
	int fd = raw();

	mark(fd, SOCK_STREAM);
	return fd;
}

static int inherited_seqpacket(void)
{
	int fd = raw();

	mark(fd, SOCK_SEQPACKET);
	return fd;
}

static int inherited_tcp(void)
{
	int fd = raw();

	mark(fd, 0);
	return fd;
}

static int tcp(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);

	mark(fd, 0);
	return fd;
}

int main(void)
{
	int held;

	refusing = refusing_port(&held);
	tries("tcp", "frr", tcp);
	tries("protocol", "-", by_protocol);
	tries("type", "-", by_type);
	tries("inherited-stream", "-", inherited_stream);
	tries("inherited-seqpacket", "-", inherited_seqpacket);
	tries("inherited-tcp", "frr", inherited_tcp);
	return 0;
}

#endif
