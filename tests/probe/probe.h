/* SPDX-License-Identifier: MIT */
/*
 * What the probes share. A probe is a small real program that steps on one trap and prints what it
 * saw in a few lines that are the same on every run; it exits 0 if it could do its work. The
 * drivers (test_*.c, run.h) run it bare and under the shim and compare.
 */
#ifndef RETRYBUDGET_TESTS_PROBE_H
#define RETRYBUDGET_TESTS_PROBE_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The probe cannot run on this machine (no privilege, no kernel support): the driver skips it. */
#define PROBE_CANNOT 77

static inline int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline void pause_ms(int ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

/* Whether IPv6 is switched on. */
static inline bool there_is_ipv6(void)
{
	struct sockaddr_in6 own = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool there = fd >= 0 && bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0;

	if (fd >= 0)
		close(fd);
	return there;
}

/* Sends SIGALRM after so many ms, and then again and again until it is told 0. A wait of the shim's
 * is made of slices, and a handler that runs when one has ended and the next has not begun is not
 * seen to end anything (shim/pace/wait.c): the next one is. */
static inline void alarms_from(int ms)
{
	struct itimerval timer = { .it_value = { ms / 1000, ms % 1000 * 1000L } };

	timer.it_interval.tv_usec = ms > 0 ? 71000 : 0;
	setitimer(ITIMER_REAL, &timer, NULL);
}

#ifndef __GLIBC__
/* musl has only sentences; the names that the driver knows. */
static inline const char *strerrorname_np(int err)
{
/* clang-format off */
#define NAMES(X) \
	X(EAGAIN) X(EALREADY) X(EBADF) X(ECONNREFUSED) X(ECONNRESET) X(EFAULT) X(EHOSTUNREACH) \
	X(EINPROGRESS) X(EINTR) X(EINVAL) X(EISCONN) X(EMFILE) X(ENETUNREACH) X(ENOENT) X(ENOTCONN) \
	X(ENOTSOCK) X(EPERM) X(EPIPE) X(ETIMEDOUT)
/* clang-format on */
#define NAME(code)                                                                                 \
	if (err == code)                                                                           \
		return #code;
	NAMES(NAME)
#undef NAME
#undef NAMES
	return strerror(err);
}
#endif

/* "ok" or the name of an errno value. */
static inline const char *error_name(int err)
{
	const char *name = err == 0 ? "ok" : strerrorname_np(err);

	return name != NULL ? name : "unknown";
}

/* A wait in words, with margins wide enough for a loaded machine. whole: its full length in ms. */
static inline const char *length_of(int64_t ms, int64_t whole)
{
	if (ms < whole / 8)
		return "at once";
	return ms < whole - whole / 8 ? "cut short" : "whole";
}

/* Ends the probe with a message on stdout: something that has nothing to do with the trap broke. */
static inline void give_up(const char *what)
{
	printf("probe broken: %s: %s\n", what, error_name(errno));
	fflush(stdout);
	_exit(2);
}

static inline struct sockaddr_in loopback(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* A port that refuses and that nobody else can be given: bound, not listening. listen() on *held
 * brings the server up. */
static inline uint16_t refusing_port(int *held)
{
	struct sockaddr_in address = loopback(0);
	socklen_t len = sizeof(address);

	*held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*held < 0 || bind(*held, (struct sockaddr *)&address, len) != 0 ||
	    getsockname(*held, (struct sockaddr *)&address, &len) != 0)
		give_up("refusing port");
	return ntohs(address.sin_port);
}

/* What a server child does with each connection. */
enum server {
	SERVER_ECHO,  /* sends back what it gets until EOF */
	SERVER_DROP,  /* reads a little, then closes: the peer sees EOF */
	SERVER_CLOSE, /* accepts, closes at once */
	SERVER_RESET, /* accepts, resets at once */
};

static inline void serve_one(int peer, enum server kind)
{
	struct linger hard = { .l_onoff = 1, .l_linger = 0 };
	char data[4096];
	ssize_t n;

	switch (kind) {
	case SERVER_ECHO:
		while ((n = read(peer, data, sizeof(data))) > 0 && write(peer, data, n) == n)
			;
		break;
	case SERVER_DROP:
		n = read(peer, data, sizeof(data));
		(void)n;
		break;
	case SERVER_RESET:
		setsockopt(peer, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		break;
	case SERVER_CLOSE:
		break;
	}
	close(peer);
}

/* Accepts for ever, a short-lived child of its own per connection; *accepted counts. */
static inline void serve(int listener, enum server kind, volatile int *accepted)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int peer = accept(listener, NULL, NULL);

		if (peer < 0)
			continue;
		if (accepted != NULL)
			__atomic_add_fetch(accepted, 1, __ATOMIC_SEQ_CST);
		if (kind != SERVER_ECHO && kind != SERVER_DROP) {
			serve_one(peer, kind);
			continue;
		}
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve_one(peer, kind);
			_exit(0);
		}
		close(peer);
	}
}

/* A child process that serves the listening socket; it dies with the probe. It shares the budget
 * of the family but connects nowhere itself. */
static inline pid_t start_server_on(int listener, enum server kind, volatile int *accepted)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child < 0)
		give_up("fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		serve(listener, kind, accepted);
	}
	return child;
}

/* The same on a port of its own. */
static inline uint16_t start_server(enum server kind, volatile int *accepted)
{
	int listener;
	uint16_t port = refusing_port(&listener);

	if (listen(listener, 128) != 0)
		give_up("listen");
	start_server_on(listener, kind, accepted);
	close(listener);
	return port;
}

/* A socket connected to the port; -1 with errno set. */
static inline int connected(uint16_t port)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		give_up("socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

/* One blocking attempt on a socket of its own. Returns 0 or errno; *ms says how long it took. */
static inline int attempt(uint16_t port, int64_t *ms)
{
	int64_t start = now_ms();
	int fd = connected(port);
	int err = fd < 0 ? errno : 0;

	if (ms != NULL)
		*ms = now_ms() - start;
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Tries again and again without a pause, as a thread that spins, until a try takes so long that it
 * was held (GATE_SHUT of run.h, and a `hold` of 300 ms or more), or until it is plain that none is.
 * fd: the socket of all tries; -1: one of its own each. Returns the errno of the last; *ms says how
 * long that took.
 */
static inline int spin_until_held(int fd, uint16_t port, int64_t *ms)
{
	struct sockaddr_in to = loopback(port);
	int err = 0;

	*ms = 0;
	for (int made = 0; made < 200 && *ms < 150; made++) {
		int64_t start = now_ms();

		if (fd < 0) {
			err = attempt(port, ms);
		} else {
			err = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
			*ms = now_ms() - start;
		}
	}
	return err;
}

/*
 * Twenty non-blocking connects without a pause, in a second of which more than half is left: where
 * all of these are refused, the next one is parked. Once in a second: of parked ones there may be
 * few.
 */
static inline void storm_at(const void *to, socklen_t len)
{
	static int64_t last;
	int64_t late = now_ms() % 1000;

	if (last == now_ms() / 1000)
		return;
	if (late > 400)
		pause_ms((int)(1001 - late));
	last = now_ms() / 1000;
	for (int i = 0; i < 20; i++) {
		int fd = socket(((const struct sockaddr *)to)->sa_family,
		                SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

		connect(fd, (const struct sockaddr *)to, len);
		close(fd);
	}
}

/* Sleeps past a gate of 1 ms: the next attempt goes, if it can pay. */
static inline void past_the_gate(void)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	nanosleep(&pause, NULL);
}

/* Sends a word and reads it back. True if it came back. */
static inline bool echo(int fd, const char *word)
{
	char back[64] = "";
	size_t length = strlen(word);

	return send(fd, word, length, MSG_NOSIGNAL) == (ssize_t)length &&
	       recv(fd, back, length, MSG_WAITALL) == (ssize_t)length && strcmp(back, word) == 0;
}

static inline int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	if (dir == NULL)
		give_up("/proc/self/fd");
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n - 3; /* ".", ".." and the directory itself */
}

static inline int count_maps(void)
{
	char data[4096];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	int lines = 0;
	ssize_t n;

	while ((n = read(fd, data, sizeof(data))) > 0)
		for (ssize_t i = 0; i < n; i++)
			lines += data[i] == '\n';
	close(fd);
	return lines;
}

/* Memory that forked children write into and their parent reads. */
static inline void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		give_up("mmap");
	return memory;
}

/* A network of our own, with nothing but loopback in it: its counters count only us. False where
 * the machine does not allow it. Call before any thread is started. */
static inline bool private_network(void)
{
	struct ifreq request = { .ifr_flags = IFF_UP | IFF_RUNNING };
	bool up;
	int fd;

	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	strcpy(request.ifr_name, "lo");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	up = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
	close(fd);
	return up;
}

/* TCP connects that this network's kernel was really asked for. */
static inline long kernel_connects(void)
{
	FILE *file = fopen("/proc/self/net/snmp", "re");
	char line[1024];
	long opens = -1;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "Tcp: %*d %*d %*d %*d %ld", &opens) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return opens;
}

#endif
