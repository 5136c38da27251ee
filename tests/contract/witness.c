/* SPDX-License-Identifier: MIT */
/*
 * What a program leaves behind, seen from inside: named first in LD_PRELOAD, bare and before the
 * shim, it writes down at exit all that a guest could have changed in its host. The driver compares
 * the lines. It makes its own calls raw, past every hook.
 *
 * Its constructor runs after the shim's, and marks the end of start-up in a trace of system calls:
 * getpriority with odd arguments, which nothing else makes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;

static char text[1 << 18];
static size_t used;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(text + used, sizeof(text) - used, format, arguments);
	va_end(arguments);
	if (n > 0 && used + n < sizeof(text))
		used += n;
}

__attribute__((constructor)) static void mark_the_end_of_start_up(void)
{
	syscall(SYS_getpriority, 77, 77);
}

/* A whole file of /proc in static storage; empty where it cannot be read. */
static char *contents(const char *path)
{
	static char data[1 << 17];
	size_t n = 0;
	ssize_t got;
	int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);

	while (fd >= 0 && (got = syscall(SYS_read, fd, data + n, sizeof(data) - 1 - n)) > 0)
		n += got;
	if (fd >= 0)
		syscall(SYS_close, fd);
	data[n] = '\0';
	return data;
}

static long option(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return syscall(SYS_getsockopt, fd, level, name, &value, &len) == 0 ? value : -errno;
}

static void say_socket(int fd)
{
	char device[64] = "";
	socklen_t len = sizeof(device);

	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_BINDTODEVICE, device, &len);
	say(" type %ld device '%s' user-timeout %ld minttl %ld keep-alive %ld",
	    option(fd, SOL_SOCKET, SO_TYPE), device, option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT),
	    option(fd, IPPROTO_IP, IP_MINTTL), option(fd, SOL_SOCKET, SO_KEEPALIVE));
}

static void say_descriptor(const char *number)
{
	char path[64], target[512];
	int fd = atoi(number);
	long n;

	snprintf(path, sizeof(path), "/proc/self/fd/%s", number);
	n = syscall(SYS_readlinkat, AT_FDCWD, path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	say("fd %d: %s flags %lx %lx", fd, target, syscall(SYS_fcntl, fd, F_GETFD),
	    syscall(SYS_fcntl, fd, F_GETFL));
	if (strncmp(target, "socket:", 7) == 0)
		say_socket(fd);
	say("\n");
}

static void say_descriptors(void)
{
	struct entry { /* linux_dirent64 of getdents64(2) */
		uint64_t inode, next;
		unsigned short size;
		unsigned char kind;
		char name[];
	};
	static _Alignas(struct entry) char data[1 << 16];
	int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n = fd < 0 ? 0 : syscall(SYS_getdents64, fd, data, sizeof(data));

	for (long at = 0; at < n; at += ((struct entry *)(data + at))->size) {
		const char *name = ((struct entry *)(data + at))->name;

		if (*name != '.' && atoi(name) != fd)
			say_descriptor(name);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
}

static void say_environment(void)
{
	static const char *const ours[] = { "LD_PRELOAD=", "RETRYBUDGET_", "CONTRACT_" };

	for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
		int skip = 0;

		for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
			skip |= strncmp(*entry, ours[i], strlen(ours[i])) == 0;
		if (!skip)
			say("environment: %.200s\n", *entry);
	}
}

static void say_status(void)
{
	static const char *const wanted[] = { "Umask",      "Threads", "SigPnd", "ShdPnd",
		                              "SigBlk",     "SigIgn",  "SigCgt", "CapEff",
		                              "NoNewPrivs", "Seccomp", "Uid",    "Gid",
		                              "Groups" };
	char *rest;

	for (char *line = strtok_r(contents("/proc/thread-self/status"), "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0 &&
			    line[strlen(wanted[i])] == ':')
				say("status: %s\n", line);
}

/* As the kernel has them: libc hides two signals. */
static void say_handlers(void)
{
	for (int number = 1; number <= 64; number++) {
		struct {
			void (*handler)(int);
			unsigned long flags;
			void (*restorer)(void);
			unsigned long mask;
		} action = { 0 };

		if (syscall(SYS_rt_sigaction, number, NULL, &action, 8) != 0 ||
		    (action.handler == SIG_DFL && action.flags == 0))
			continue;
		say("signal %d: %s flags %lx mask %lx\n", number,
		    action.handler == SIG_DFL   ? "default"
		    : action.handler == SIG_IGN ? "ignored"
		                                : "a handler",
		    action.flags, action.mask);
	}
}

/* Of a timer the file tells the process, too, whose number has more digits in one run than in the
 * next. */
static size_t length_without_digits(const char *at)
{
	size_t n = 0;

	for (; *at; at++)
		n += *at < '0' || *at > '9';
	return n;
}

static void say_timers(void)
{
	for (int which = 0; which < 3; which++) {
		struct itimerval timer;

		if (getitimer(which, &timer) == 0)
			say("timer %d: %s\n", which,
			    timer.it_value.tv_sec || timer.it_value.tv_usec ? "running" : "none");
	}
	say("timers: %zu bytes that are no digits\n",
	    length_without_digits(contents("/proc/self/timers")));
	say("children: %s\n", *contents("/proc/thread-self/children") ? "some" : "none");
}

static void say_limits(void)
{
	for (int what = 0; what < RLIM_NLIMITS; what++) {
		struct rlimit limit;

		if (getrlimit(what, &limit) == 0)
			say("limit %d: %lld %lld\n", what, (long long)limit.rlim_cur,
			    (long long)limit.rlim_max);
	}
}

/* Which files are mapped; the driver takes out the shim's own. */
static void say_mappings(void)
{
	char *rest, last[512] = "";

	for (char *line = strtok_r(contents("/proc/self/maps"), "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *name = strchr(line, '/');

		if (name == NULL || strcmp(name, last) == 0)
			continue;
		snprintf(last, sizeof(last), "%s", name);
		say("mapped: %s\n", name);
	}
}

static void say_settings(void)
{
	char name[32] = "", where[512] = "";
	stack_t stack = { 0 };
	int cancel = -1, kind = -1, dies_of = -1;

	prctl(PR_GET_NAME, name);
	prctl(PR_GET_PDEATHSIG, &dies_of);
	syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/cwd", where, sizeof(where) - 1);
	sigaltstack(NULL, &stack);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &kind);
	say("name: %s, in %s, dies of signal %d, slack %ld, dumpable %ld\n", name, where, dies_of,
	    (long)prctl(PR_GET_TIMERSLACK), (long)prctl(PR_GET_DUMPABLE));
	say("signal stack: flags %d, %zu bytes; cancel %d %d; nice %ld\n", stack.ss_flags,
	    stack.ss_size, cancel, kind, (long)syscall(SYS_getpriority, 0, 0));
	say("locale: %s; loader's message: %s; h_errno %d\n", setlocale(LC_ALL, NULL),
	    dlerror() != NULL ? "one" : "none", h_errno);
	/* What comes next: anybody who took a number, or seeded, has moved it. */
	say("random: %d %ld %ld\n", rand(), random(), lrand48());
}

/* Into the file that the environment names, or where that cannot be, as in a new root, to stdout.
 * One write each: several processes may end at once. */
__attribute__((destructor)) static void say_all(void)
{
	const char *path = getenv("CONTRACT_STATE");
	int fd;

	if (path == NULL)
		return;
	used = 0;
	say("== a process\n");
	say_descriptors();
	say_environment();
	say_status();
	say_handlers();
	say_timers();
	say_limits();
	say_mappings();
	say_settings();
	fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	syscall(SYS_write, fd >= 0 ? fd : 1, text, used);
}
