// SPDX-License-Identifier: MIT
/*
 * The witness: a second preload, placed after the shim, whose connect() is the one that the shim
 * takes for libc's. It tells the log socket what came of each connection, so that the shim's record
 * of an attempt, sent just before by the same thread, can be joined with the server's own log by
 * the local port.
 *
 * WITNESS_LOG=PATH           where to send
 * WITNESS_REFUSE=PORT:PERMILLE:SEED
 *                            that share of the connects to this port goes to port 1 of the same
 *                            address, where nobody listens: the refusal is the kernel's own
 * WITNESS_COUNT=PATH         a file of 8 bytes: the connects of all processes, by which is chosen
 *
 * The program tells its unit of work by opening a file that does not exist, which every
 * language can do in one line and on the thread that is going to connect:
 *   /.unit/ID   all attempts of this thread from now on are for unit ID, and those of processes
 *               that it starts meanwhile and that say nothing themselves
 *   /.try/ID    the next attempt of this thread that has no unit yet is for unit ID (event loops)
 * or it has WITNESS_UNIT=ID in its environment: the first of these, said by each process at its
 * start.
 *
 * Raw system calls only: the shim stands before libc's, and must not see the witness at work.
 * Async-signal-safe; errno is that of the call asked for.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_ 256
#define FIRST     3 /* connects that are never refused */

static struct sockaddr_un log_address;
static unsigned long refuse_port, refuse_permille, refuse_seed;
static _Atomic(uint64_t) own_connects, *connects = &own_connects;
static int (*real_connect)(int, const struct sockaddr *, socklen_t);
static int (*real_openat)(int, const char *, int, ...);
static FILE *(*real_fopen)(const char *, const char *);

static void share_count(const char *path)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	void *memory = MAP_FAILED;

	if (fd >= 0)
		memory =
		    mmap(NULL, sizeof(*connects), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (memory != MAP_FAILED)
		connects = memory;
}

struct line {
	size_t used;
	char text[LINE_MAX_];
};

static void put_text(struct line *line, const char *text, size_t max)
{
	size_t n = strnlen(text, max), room = sizeof(line->text) - line->used;

	n = n < room ? n : room;
	memcpy(line->text + line->used, text, n);
	line->used += n;
}

static void put_number(struct line *line, const char *key, uint64_t value)
{
	char digits[24];
	size_t n = sizeof(digits);

	do
		digits[--n] = (char)('0' + value % 10);
	while ((value /= 10) && n);
	put_text(line, key, LINE_MAX_);
	put_text(line, digits + n, sizeof(digits) - n);
}

static void begin(struct line *line, const char *event)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	line->used = 0;
	put_text(line, event, LINE_MAX_);
	put_number(line, " pid=", (uint64_t)syscall(SYS_getpid));
	put_number(line, " ppid=", (uint64_t)syscall(SYS_getppid));
	put_number(line, " thread=", (uint64_t)syscall(SYS_gettid));
	put_number(line, " when=", (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

static void tell(const struct line *line)
{
	long fd;

	if (!log_address.sun_family)
		return;
	fd = syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	syscall(SYS_sendto, fd, line->text, line->used, MSG_NOSIGNAL, &log_address,
	        sizeof(log_address));
	syscall(SYS_close, fd);
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("WITNESS_LOG"), *refuse = getenv("WITNESS_REFUSE");
	const char *shared = getenv("WITNESS_COUNT"), *unit = getenv("WITNESS_UNIT");
	struct line line;

	*(void **)&real_connect = dlsym(RTLD_NEXT, "connect");
	*(void **)&real_openat = dlsym(RTLD_NEXT, "openat");
	*(void **)&real_fopen = dlsym(RTLD_NEXT, "fopen");
	if (refuse &&
	    sscanf(refuse, "%lu:%lu:%lu", &refuse_port, &refuse_permille, &refuse_seed) != 3)
		refuse_permille = 0;
	if (shared && refuse_permille)
		share_count(shared);
	if (path && strlen(path) < sizeof(log_address.sun_path)) {
		log_address.sun_family = AF_UNIX;
		memcpy(log_address.sun_path, path, strlen(path) + 1);
	}
	if (unit) {
		begin(&line, "event=unit");
		put_text(&line, " unit=", LINE_MAX_);
		put_text(&line, unit, 64);
		tell(&line);
	}
}

/* splitmix64 of the seed and the number of this connect: the same in every run. */
static int refuses(const struct sockaddr *address, socklen_t len)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	uint64_t z, number;

	/* The port is at the same place for both families. */
	if (!refuse_permille || len < sizeof(*in) || ntohs(in->sin_port) != refuse_port)
		return 0;
	number = atomic_fetch_add(connects, 1) + 1;
	z = (refuse_seed << 32) + number * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	/* A program that has never been answered meets the conditions in which nothing answers. */
	return number > FIRST && (z ^ (z >> 31)) % 1000 < refuse_permille;
}

static uint64_t local_port(int fd)
{
	struct sockaddr_in6 here = { 0 };
	socklen_t len = sizeof(here);

	if (syscall(SYS_getsockname, fd, &here, &len) || here.sin6_family == AF_UNIX)
		return 0;
	return ntohs(here.sin6_port);
}

static uint64_t cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, &cookie, &len);
	return cookie;
}

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
	struct sockaddr_storage elsewhere;
	int saved = errno, result, err, type = 0, refused;
	socklen_t size = sizeof(type);
	struct line line;

	if (!real_connect)
		return (int)syscall(SYS_connect, fd, address, len);
	if (!address || len < sizeof(sa_family_t) || len > sizeof(elsewhere) ||
	    (address->sa_family != AF_INET && address->sa_family != AF_INET6 &&
	     address->sa_family != AF_UNIX) ||
	    syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size) || type == SOCK_DGRAM) {
		errno = saved;
		return real_connect(fd, address, len);
	}
	begin(&line, "event=connect");
	memcpy(&elsewhere, address, len);
	refused = address->sa_family != AF_UNIX && refuses(address, len);
	if (refused)
		((struct sockaddr_in *)&elsewhere)->sin_port = htons(1);
	errno = saved;
	result = real_connect(fd, (const struct sockaddr *)&elsewhere, len);
	err = errno;
	if (address->sa_family != AF_UNIX)
		put_number(&line, " to=", ntohs(((const struct sockaddr_in *)address)->sin_port));
	put_number(&line, " port=", local_port(fd));
	put_number(&line, " cookie=", cookie_of(fd));
	put_number(&line, " errno=", result ? (uint64_t)err : 0);
	put_number(&line, " refused=", (uint64_t)refused);
	tell(&line);
	errno = err;
	return result;
}

/* True if the path is a word to us, which has then been passed on. */
static int is_word(const char *path)
{
	static const char sticky[] = "/.unit/", once[] = "/.try/";
	struct line line;
	const char *unit;

	if (!path || path[0] != '/' || path[1] != '.')
		return 0;
	if (!strncmp(path, sticky, sizeof(sticky) - 1))
		unit = path + sizeof(sticky) - 1;
	else if (!strncmp(path, once, sizeof(once) - 1))
		unit = path + sizeof(once) - 1;
	else
		return 0;
	begin(&line, path[1] == '.' && path[2] == 'u' ? "event=unit" : "event=try");
	put_text(&line, " unit=", LINE_MAX_);
	put_text(&line, unit, 64);
	tell(&line);
	errno = ENOENT;
	return 1;
}

/* Every name under which programs open files. */
#define OPENS(name)                                                                                \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list more;                                                                      \
		int mode;                                                                          \
                                                                                                   \
		if (is_word(path))                                                                 \
			return -1;                                                                 \
		va_start(more, flags);                                                             \
		mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, int) : 0;                    \
		va_end(more);                                                                      \
		if (real_openat)                                                                   \
			return real_openat(AT_FDCWD, path, flags, mode);                           \
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);                      \
	}

OPENS(open)
OPENS(open64)

int openat64(int folder, const char *path, int flags, ...)
{
	va_list more;
	int mode;

	if (is_word(path))
		return -1;
	va_start(more, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, int) : 0;
	va_end(more);
	return (int)syscall(SYS_openat, folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	if (is_word(path) || !real_fopen)
		return NULL;
	return real_fopen(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}
