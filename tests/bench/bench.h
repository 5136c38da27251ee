/* SPDX-License-Identifier: MIT */
/*
 * What the measuring programs share: a clock, medians, raw system calls for the half of a
 * connection that the library must not see, and how a child is started bare or preloaded.
 */
#ifndef RETRYBUDGET_BENCH_H
#define RETRYBUDGET_BENCH_H

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A call that may fail only if the machine or this program is broken. */
#define MUST(call)                                                                                 \
	({                                                                                         \
		long must_result = (long)(call);                                                   \
		if (must_result < 0)                                                               \
			die(#call);                                                                \
		must_result;                                                                       \
	})

__attribute__((noreturn, unused)) static void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

/*
 * A system call that no library sees: some hook syscall() as well, and know few of its numbers
 * (torsocks). Returns as syscall() does; elsewhere it is syscall().
 */
__attribute__((unused)) static long raw_call6(long number, long a, long b, long c, long d, long e,
                                              long f)
{
#if defined(__x86_64__) && defined(__LP64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
#else
	return syscall(number, a, b, c, d, e, f);
#endif
}

#define RAW(number, ...) RAW_OF(number, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define RAW_OF(number, a, b, c, d, e, f, ...)                                                      \
	raw_call6(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A whole number from the command line, at least low. */
__attribute__((unused)) static long number(const char *text, long low)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < low) {
		fprintf(stderr, "bench: %s is not a number from %ld up\n", text, low);
		exit(2);
	}
	return value;
}

__attribute__((unused)) static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value below which `share` (0..1) of them lie. Sorts the values in place. */
__attribute__((unused)) static double quantile(double *values, size_t n, double share)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return values[(size_t)(share * (double)(n - 1) + 0.5)];
}

/*
 * Prints what paired measurements say: median bare, median preloaded, median difference, its
 * standard error, median ratio. Pairs, so that drift of the machine cancels.
 */
__attribute__((unused)) static void print_pairs(double *bare, double *shim, size_t n)
{
	double *difference = calloc(2 * n, sizeof(*difference)), *ratio = difference + n, spread;
	size_t root = 1;

	if (!difference)
		die("calloc");
	for (size_t i = 0; i < n; i++) {
		difference[i] = shim[i] - bare[i];
		ratio[i] = shim[i] / bare[i];
	}
	while (root * root < n)
		root++;
	/* Of a median: 1.57 times the middle half over the root of n (McGill, Tukey, Larsen 1978).
	 */
	spread = quantile(difference, n, 0.75) - quantile(difference, n, 0.25);
	printf("%.2f %.2f %.2f %.2f %.4f\n", quantile(bare, n, 0.5), quantile(shim, n, 0.5),
	       quantile(difference, n, 0.5), 1.57 * spread / (double)root, quantile(ratio, n, 0.5));
	free(difference);
}

static inline struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in) { .sin_family = AF_INET,
		                      .sin_port = htons(port),
		                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* A listening TCP socket on loopback, made without libc; port 0: any. *bound gets its address. */
__attribute__((unused)) static int raw_listener(uint16_t port, struct sockaddr_in *bound)
{
	int one = 1, fd = (int)MUST(RAW(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	socklen_t len = sizeof(*bound);

	*bound = loopback(port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	MUST(RAW(SYS_bind, fd, bound, len));
	MUST(RAW(SYS_listen, fd, 4096));
	MUST(getsockname(fd, (struct sockaddr *)bound, &len));
	return fd;
}

/* The environment for a child: ours without LD_PRELOAD, with library as LD_PRELOAD unless "-". */
__attribute__((unused)) static char **environment_with(const char *library)
{
	extern char **environ;
	size_t n = 0, kept = 0;
	char **result;

	while (environ[n])
		n++;
	result = calloc(n + 2, sizeof(*result));
	if (!result)
		die("calloc");
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
			result[kept++] = environ[i];
	if (strcmp(library, "-") != 0 && asprintf(&result[kept], "LD_PRELOAD=%s", library) < 0)
		die("asprintf");
	return result;
}

#endif
