/* SPDX-License-Identifier: MIT */
/*
 * Calls before the shim's constructor ran. Built with -DEARLY_LIBRARY this file is a library whose
 * constructor makes every hooked call; named in LD_PRELOAD after the shim its constructor runs
 * first, named before it or needed by the program the order is the other one. With
 * -DEARLY_MALLOC it also is an allocator that reads a file while it starts, as jemalloc does,
 * perhaps from inside the shim's dlsym (HAZARDS 4). Built without, it is the program.
 */
#include "probe.h"
#include "other_names.h"

#include <dlfcn.h>
#include <sys/sendfile.h>

#ifndef EARLY_LIBRARY

int main(void)
{
	const char *(*report)(void) = NULL;
	void *found = dlsym(RTLD_DEFAULT, "early_report");
	int held;
	uint16_t port = refusing_port(&held);

	memcpy(&report, &found, sizeof(report));
	printf("%s", report != NULL ? report() : "no early library\n");
	printf("in main: %s", error_name(attempt(port, NULL)));
	printf(" %s\n", error_name(attempt(port, NULL)));
	return 0;
}

#else

static char text[8192];
static size_t used;

const char *early_report(void)
{
	return text;
}

static void note(const char *what, long result)
{
	int err = errno;

	used += snprintf(text + used, sizeof(text) - used, "%s: %ld %s\n", what, result,
	                 result < 0 ? error_name(err) : "");
}

static void connections(uint16_t good, uint16_t bad)
{
	struct sockaddr_in to = loopback(good), nowhere = loopback(bad);
	struct iovec part = { .iov_base = "xyz", .iov_len = 3 }, space;
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	socklen_t len = sizeof(int);
	char data[16];
	int fd, err;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	note("refused", connect(fd, (struct sockaddr *)&nowhere, sizeof(nowhere)));
	note("refused again", connect(fd, (struct sockaddr *)&nowhere, sizeof(nowhere)));
	note("close", close(fd));
	fd = socket(AF_INET, SOCK_STREAM, 0);
	note("connect", connect(fd, (struct sockaddr *)&to, sizeof(to)));
	note("getsockopt", getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len));
	note("send", send(fd, "abc", 3, 0));
	note("sendto", sendto(fd, "abc", 3, 0, NULL, 0));
	note("sendmsg", sendmsg(fd, &message, 0));
	note("write", write(fd, "abc", 3));
	note("writev", writev(fd, &part, 1));
	pause_ms(50);
	space.iov_base = data;
	space.iov_len = 3;
	message.msg_iov = &space;
	note("recv", recv(fd, data, 3, MSG_WAITALL));
	note("recvfrom", recvfrom(fd, data, 3, MSG_WAITALL, NULL, NULL));
	note("recvmsg", recvmsg(fd, &message, MSG_WAITALL));
	note("read", read(fd, data, 3));
	note("readv", readv(fd, &space, 1));
	note("shutdown", shutdown(fd, SHUT_RDWR));
	note("dup3", dup3(fd, 200, O_CLOEXEC));
	note("dup2", dup2(fd, 201));
	note("close", close(201) + close(200) + close(fd));
	note("close of nothing", close(201));
}

/* A word to the server in every further way, and back. */
static void more_connections(uint16_t good)
{
	struct iovec part = { .iov_base = "xyz", .iov_len = 3 }, space;
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };
	int fd = connected(good), file = memfd_create("early", MFD_CLOEXEC), ends[2];
	char data[16];
	off_t at = 0;

	note("write", write(file, "abc", 3));
	note("sendmmsg", sendmmsg(fd, &message, 1, 0));
	note("sendfile", sendfile(fd, file, &at, 3));
	if (pipe(ends) != 0)
		give_up("pipe");
	note("write", write(ends[1], "abc", 3));
	note("splice", splice(ends[0], NULL, fd, NULL, 3, 0));
	pause_ms(50);
	space.iov_base = data;
	space.iov_len = 3;
	message.msg_hdr.msg_iov = &space;
	note("recvmmsg", recvmmsg(fd, &message, 1, MSG_WAITALL, NULL));
	note("recv", recv(fd, data, 6, MSG_WAITALL));
	note("fcntl", fcntl(fd, F_DUPFD_CLOEXEC, 202));
	note("fcntl of nothing", fcntl(203, F_GETFD));
#ifdef __GLIBC__
	struct sockaddr_in to = loopback(good);
	off64_t far = 0;
	int other = socket(AF_INET, SOCK_STREAM, 0);

	note("__connect", __connect(other, (struct sockaddr *)&to, sizeof(to)));
	note("__send", __send(other, "abc", 3, 0));
	note("__write", __write(other, "abc", 3));
	note("sendfile64", sendfile64(other, file, &far, 3));
	note("send", send(other, "abc", 3, 0));
	pause_ms(50);
	note("__recv_chk", __recv_chk(other, data, 3, sizeof(data), MSG_WAITALL));
	note("__recvfrom_chk",
	     __recvfrom_chk(other, data, 3, sizeof(data), MSG_WAITALL, NULL, NULL));
	note("__read_chk", __read_chk(other, data, 3, sizeof(data)));
	note("__read", __read(other, data, 3));
	note("fcntl64", fcntl64(other, F_DUPFD, 203));
	note("__fcntl", __fcntl(other, F_DUPFD, 204));
	note("__dup2", __dup2(other, 205));
	note("__close", __close(203) + __close(204) + __close(205));
	note("_IO_fclose", _IO_fclose(fdopen(other, "r")));
#endif
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
	note("close_range", close_range(202, 204, 0));
	closefrom(202);
	note("closefrom", fcntl(202, F_GETFD));
#endif
	close(file);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

static void loads(void)
{
	void *itself = dlopen(NULL, RTLD_NOW);

	note("dlopen", itself ? 0 : -1);
	note("dlopen of nothing", dlopen("/no/such/file.so", RTLD_NOW) ? 0 : -1);
	dlerror();
	if (itself)
		dlclose(itself);
}

static void listening(void)
{
	int listener, fd, peer;
	uint16_t port = refusing_port(&listener);

	listen(listener, 4);
	fd = connected(port);
	peer = accept(listener, NULL, NULL);
	note("accept", peer < 0 ? -1 : 0);
	close(peer);
	close(fd);
	pause_ms(20); /* it was closed without a byte: the backoff of the driver's policy */
	fd = connected(port);
	peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	note("accept4", peer < 0 ? -1 : 0);
	close(peer);
	close(fd);
	close(listener);
}

__attribute__((constructor)) static void run_early(void)
{
	struct addrinfo *found = NULL;
	FILE *file;
	int held, fd;
	pid_t server;
	int listener;
	uint16_t good = refusing_port(&listener), bad = refusing_port(&held);

	listen(listener, 4);
	server = start_server_on(listener, SERVER_ECHO, NULL);
	close(listener);
	connections(good, bad);
	more_connections(good);
	loads();
	listening();
	note("getaddrinfo", getaddrinfo("127.0.0.1", "80", NULL, &found));
	if (found != NULL)
		freeaddrinfo(found);
	fd = dup(held);
	note("dup", fd < 0 ? -1 : 0);
	close(fd);
	file = fopen("/dev/null", "re");
	note("fclose", fclose(file));
	close(held);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

#ifdef EARLY_MALLOC

/* A bump allocator whose start reads, writes and closes through the hooks. Nothing is freed. */
static char heap[64 << 20] __attribute__((aligned(16)));
static size_t heap_used;
static bool heap_started;

static void start_heap(void)
{
	char data[64];
	int fd;
	ssize_t n;

	heap_started = true;
	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	n = read(fd, data, sizeof(data));
	close(fd);
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (n <= 0 || write(fd, data, n) != n || close(fd) != 0)
		abort();
}

void *malloc(size_t size)
{
	size_t at;

	if (!heap_started)
		start_heap();
	at = __atomic_fetch_add(&heap_used, (size + 31) & ~(size_t)15, __ATOMIC_SEQ_CST);
	if (at + size + 32 > sizeof(heap))
		return NULL;
	memcpy(heap + at, &size, sizeof(size));
	return heap + at + 16;
}

void free(void *memory)
{
	(void)memory;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size); /* static memory is zero, and is never given twice */
}

void *realloc(void *memory, size_t size)
{
	void *bigger = malloc(size);
	size_t before = 0;

	if (memory != NULL && bigger != NULL) {
		memcpy(&before, (char *)memory - 16, sizeof(before));
		memcpy(bigger, memory, before < size ? before : size);
	}
	return bigger;
}

#endif
#endif
