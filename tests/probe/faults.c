/* SPDX-License-Identifier: MIT */
/*
 * What the shim asks of the kernel is refused, by a system-call filter or a mount, or the clock
 * jumps; the program must see what it sees without the shim. The fault is arranged, then the probe
 * executes itself, so that the shim's constructor meets it as well. Usage: faults KIND
 */
#include "probe.h"

#include "tallies.h"

#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mount.h>

#ifdef SYS_mmap2
#define SYS_MMAP SYS_mmap2
#else
#define SYS_MMAP SYS_mmap
#endif
/* By its own number, or as one of many behind another. */
#ifdef SYS_shmget
#define SYS_SEGMENT SYS_shmget
#define SYS_ATTACH  SYS_shmat
#define ATTACH      ALL, 0, 0
#else
#define SYS_SEGMENT SYS_ipc
#define SYS_ATTACH  SYS_ipc
#define ATTACH      0, UINT32_MAX, 21
#endif
#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

#define ALL (-1) /* whatever the arguments */

/* A system call that fails: always, or where (argument & mask) == value. */
static const struct refusal {
	const char *kind;
	long call;
	int error;
	int argument;
	uint32_t mask, value;
} refusals[] = {
	{ "memfd", SYS_memfd_create, ENOSYS, ALL, 0, 0 },
	{ "shared", SYS_MMAP, ENOMEM, 3, MAP_SHARED, MAP_SHARED },
	{ "region", SYS_MMAP, ENOMEM, 1, UINT32_MAX, sizeof(struct region) },
	{ "shm-segments", SYS_SEGMENT, ENOSYS, ALL, 0, 0 },
	{ "attach", SYS_ATTACH, ENOMEM, ATTACH },
	{ "wipe", SYS_madvise, EINVAL, 2, UINT32_MAX, 18 }, /* MADV_WIPEONFORK */
	{ "getrandom", SYS_getrandom, ENOSYS, ALL, 0, 0 },
	{ "timerfd", SYS_timerfd_create, EMFILE, ALL, 0, 0 },
	{ "wait", SYS_ppoll, EPERM, 1, UINT32_MAX, 0 },
	{ "readv", SYS_process_vm_readv, EPERM, ALL, 0, 0 },
	{ "cookie", SYS_getsockopt, EPERM, 2, UINT32_MAX, SO_COOKIE },
	{ "nocookie", SYS_getsockopt, ENOPROTOOPT, 2, UINT32_MAX, SO_COOKIE },
	{ "options", SYS_setsockopt, EPERM, ALL, 0, 0 },
	{ "questions", SYS_getsockopt, EPERM, 1, UINT32_MAX, IPPROTO_TCP },
	{ "datagram", SYS_socket, EACCES, 1, 0xf, SOCK_DGRAM },
	{ "signals", SYS_kill, EPERM, ALL, 0, 0 },
};

#define REFUSALS (int)(sizeof(refusals) / sizeof(*refusals))

/* Appends one refusal to a filter whose accumulator holds the number of the call. */
static int refuse(struct sock_filter *at, const struct refusal *one)
{
	unsigned int low = offsetof(struct seccomp_data, args) + 8 * one->argument;
	struct sock_filter error =
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)one->error);
	struct sock_filter number =
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	int n = 0;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	low += 4;
#endif
	if (one->argument == ALL) {
		at[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one->call, 0, 1);
		at[n++] = error;
		return n;
	}
	at[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one->call, 0, 5);
	at[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low);
	at[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, one->mask);
	at[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one->value, 0, 1);
	at[n++] = error;
	at[n++] = number;
	return n;
}

static bool refuse_calls(const char *kind)
{
	struct sock_filter filter[64];
	struct sock_fprog program = { .filter = filter };
	int n = 0;

	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                           offsetof(struct seccomp_data, nr));
	for (int i = 0; i < REFUSALS; i++)
		if (strcmp(refusals[i].kind, kind) == 0)
			n += refuse(filter + n, &refusals[i]);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	return n == 2 || (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	                  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* /dev/shm as the kind says. */
static bool change_mounts(const char *kind)
{
	if (strncmp(kind, "shm-", 4) != 0)
		return true;
	if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	if (strcmp(kind, "shm-segments") == 0) /* nor is there one from before */
		return mount("probe", "/dev/shm", "tmpfs", 0, "mode=1777") == 0;
	if (strcmp(kind, "shm-absent") == 0)
		return mount("probe", "/dev", "tmpfs", 0, "mode=755") == 0;
	if (strcmp(kind, "shm-full") == 0)
		return mount("probe", "/dev/shm", "tmpfs", 0, "size=64k,mode=1777") == 0;
	if (strcmp(kind, "shm-no-inodes") == 0)
		return mount("probe", "/dev/shm", "tmpfs", 0, "nr_inodes=1,mode=1777") == 0;
	return mount("probe", "/dev/shm", "tmpfs", MS_RDONLY, "mode=1777") == 0;
}

static int64_t offset; /* ns */
static bool frozen;

static int64_t kernel_clock(clockid_t id)
{
	struct timespec t;

	syscall(SYS_clock_gettime, id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Takes the place of libc's for the shim too, as libfaketime's would. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	static int64_t stopped_at;
	int64_t now = kernel_clock(id);

	if (id == CLOCK_MONOTONIC) {
		if (!frozen || stopped_at == 0)
			stopped_at = now;
		now = stopped_at + offset;
	}
	t->tv_sec = now / 1000000000;
	t->tv_nsec = now % 1000000000;
	return 0;
}

static uint16_t good, bad;

static const char *exchange(void)
{
	int fd = connected(good);
	bool works = fd >= 0 && echo(fd, "hello");

	if (fd >= 0)
		close(fd);
	return works ? "works" : "broken";
}

static const char *without_blocking(void)
{
	struct sockaddr_in nowhere = loopback(bad);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), err = 0;
	struct pollfd entry = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(err);

	if (connect(fd, (struct sockaddr *)&nowhere, sizeof(nowhere)) == 0 || errno != EINPROGRESS)
		err = errno;
	else if (poll(&entry, 1, 10000) != 1 ||
	         getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) != 0)
		err = errno;
	close(fd);
	return error_name(err);
}

static void work(void)
{
	int status, before = count_fds();
	int64_t took;
	pid_t child;

	printf("refused: %s\n", error_name(attempt(bad, NULL)));
	printf("refused: %s\n", error_name(attempt(bad, NULL)));
	printf("refused: %s\n", error_name(attempt(bad, NULL)));
	printf("non-blocking: %s\n", without_blocking());
	printf("non-blocking: %s\n", without_blocking());
	printf("held: %s\n", error_name(spin_until_held(-1, bad, &took)));
	printf("healthy: %s\n", exchange());
	fflush(stdout);
	child = fork();
	if (child == 0) {
		printf("child: %s, %s\n", error_name(attempt(bad, NULL)), exchange());
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("child ended: %d, descriptors: %d more\n", status, count_fds() - before);
}

/* The same at other times. */
static void jump(void)
{
	static const int64_t hours[] = { 1, -1, 24 * 365 * 90, -10, 0 };

	for (size_t i = 0; i < sizeof(hours) / sizeof(*hours); i++) {
		int64_t start = kernel_clock(CLOCK_MONOTONIC_RAW), took;

		offset = hours[i] * 3600 * INT64_C(1000000000);
		frozen = hours[i] == 0;
		printf("by %ld hours: %s, %s", (long)hours[i], error_name(attempt(bad, NULL)),
		       error_name(attempt(bad, NULL)));
		printf(", %s, %s", without_blocking(), exchange());
		took = kernel_clock(CLOCK_MONOTONIC_RAW) - start;
		printf(", %s\n", took < INT64_C(5000000000) ? "in time" : "late");
	}
}

int main(int argc, char **argv)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const struct region *region;
	int held;

	if (argc == 2) {
		if (n < 0 || !change_mounts(argv[1]) || !refuse_calls(argv[1]))
			return PROBE_CANNOT;
		self[n] = '\0';
		execv(self, (char *[]) { argv[0], argv[1], (char[]) { "now" }, NULL });
		give_up("exec");
	}
	bad = refusing_port(&held);
	good = start_server(SERVER_ECHO, NULL);
	work();
	if (strcmp(argv[1], "clock") == 0)
		jump();
	region = own_region();
	if (region != NULL) {
		struct tally sum;

		region_sum(region, &sum);
		printf("# faults=%ld lost=%ld retries=%ld refused=%ld\n", (long)region->faults,
		       (long)region->lost_records, (long)sum.retries, (long)sum.refused);
	} else {
		printf("# no region\n");
	}
	return 0;
}
