/* SPDX-License-Identifier: MIT */
/*
 * Filters that kill for a system call they do not expect (HAZARDS 75). What a program asks of the
 * kernel from then on must be what it asks bare.
 *   server	accepted, then a list like that of sshd's monitor child
 *   pipes	SECCOMP_MODE_STRICT, read, write and exit, on pipes and files
 *   client	connected and answered before; then a list of a network client's, getsockopt in it
 *   loops	the client's list, and then a port that refuses, forty times and without a pause
 *   twice	a list of two calls, and then a second of the same
 *   no-network	socket() and connect() fail with EACCES from now on
 */
#include "trap.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static const int sshd_like[] = {
	SYS_brk,
	SYS_clock_gettime,
	SYS_close,
	SYS_exit,
	SYS_exit_group,
	SYS_futex,
	SYS_getpid,
	SYS_gettid,
	SYS_getpgid,
	SYS_geteuid,
	SYS_getuid,
	SYS_getrandom,
	SYS_gettimeofday,
	SYS_madvise,
	SYS_mmap,
	SYS_mremap,
	SYS_munmap,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_ppoll,
	SYS_pselect6,
	SYS_read,
	SYS_rt_sigprocmask,
	SYS_shutdown,
	SYS_write,
	SYS_writev,
#ifdef SYS_poll
	SYS_poll,
	SYS_select,
	SYS_time,
#endif
};

static const int client_like[] = {
	SYS_sendto,     SYS_recvfrom, SYS_sendmsg,        SYS_recvmsg,       SYS_getsockopt,
	SYS_setsockopt, SYS_fcntl,    SYS_close,          SYS_read,          SYS_write,
	SYS_getpid,     SYS_gettid,   SYS_exit,           SYS_exit_group,    SYS_shutdown,
	SYS_connect,    SYS_socket,   SYS_rt_sigprocmask, SYS_clock_gettime,
};

/* How a client ends, and what its own exit needs. Rows are given up to `other`. */
static void restrict_to(const int *calls, size_t n, unsigned int other, unsigned int listed)
{
	struct sock_filter filter[64];
	struct sock_fprog program = { .filter = filter };
	size_t used = 0;

	filter[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                              offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++)
		filter[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i],
		                                              (uint8_t)(n - i), 0);
	filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, other);
	filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
	program.len = (unsigned short)used;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(PROBE_CANNOT);
}

static void kill_unless(const int *calls, size_t n)
{
	restrict_to(calls, n, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
}

/* exit_group is not in the strict list. */
static void leave(bool well)
{
	syscall(SYS_exit, well ? 0 : 4);
}

/* As the child of a server, which has accepted: answers every word until the end. */
static void serve_inside(int peer)
{
	char data[64];
	ssize_t n;
	bool well = true;

	kill_unless(sshd_like, LENGTH(sshd_like));
	while ((n = read(peer, data, sizeof(data))) > 0)
		well = well && write(peer, data, n) == n;
	shutdown(peer, SHUT_RDWR);
	close(peer);
	leave(well && n == 0);
}

static void run_server(void)
{
	int listener;
	uint16_t port = refusing_port(&listener);
	pid_t child;
	int fd;

	listen(listener, 4);
	child = fork();
	if (child == 0)
		serve_inside(accept(listener, NULL, NULL));
	fd = connected(port);
	printf("words: %d %d\n", echo(fd, "one"), echo(fd, "two"));
	close(fd);
	printf("server: %s\n", ending_of(child));
}

static void use_pipes(void)
{
	int ends[2], file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	pid_t child;
	char data[16];

	if (pipe(ends) != 0)
		give_up("pipe");
	child = fork();
	if (child == 0) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
			_exit(PROBE_CANNOT);
		leave(write(ends[1], "word", 4) == 4 && read(ends[0], data, 4) == 4 &&
		      read(file, data, 16) == 16);
	}
	printf("pipes and files: %s\n", ending_of(child));
}

static void be_client(void)
{
	uint16_t port = start_server(SERVER_ECHO, NULL);
	pid_t child = fork();

	if (child == 0) {
		int fd = connected(port), second;
		bool well = echo(fd, "one");

		kill_unless(client_like, LENGTH(client_like));
		well = well && echo(fd, "two");
		close(fd);
		second = connected(port);
		well = well && echo(second, "three");
		close(second);
		leave(well);
	}
	printf("client: %s\n", ending_of(child));
}

static void loop_as_client(void)
{
	int held;
	uint16_t bad = refusing_port(&held);
	pid_t child = fork();

	if (child == 0) {
		struct sockaddr_in to = loopback(bad);
		int refused = 0;

		kill_unless(client_like, LENGTH(client_like));
		for (int i = 0; i < 40; i++) {
			int fd = socket(AF_INET, SOCK_STREAM, 0);

			refused += connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 &&
			           errno == ECONNREFUSED;
			close(fd);
		}
		leave(refused == 40);
	}
	printf("loops: %s\n", ending_of(child));
}

static void filter_twice(void)
{
	static const int calls[] = { SYS_prctl, SYS_exit };
	uint16_t port = start_server(SERVER_ECHO, NULL);
	pid_t child = fork();

	if (child == 0) {
		close(connected(port)); /* from here on the library knows this process */
		kill_unless(calls, LENGTH(calls));
		kill_unless(calls, LENGTH(calls));
		leave(true);
	}
	printf("twice: %s\n", ending_of(child));
}

static void without_network(void)
{
	static const int calls[] = { SYS_socket, SYS_connect };
	int held;
	uint16_t bad = refusing_port(&held);
	pid_t child = fork();

	if (child == 0) {
		struct sockaddr_in to = loopback(bad);
		int fd = socket(AF_INET, SOCK_STREAM, 0), wrong = 0;

		restrict_to(calls, LENGTH(calls), SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EACCES);
		for (int i = 0; i < 3; i++) {
			wrong += socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EACCES;
			wrong +=
			    connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno != EACCES;
		}
		close(fd);
		_exit(wrong);
	}
	printf("wrong: %s\n", ending_of(child));
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "server";

	if (strcmp(way, "pipes") == 0)
		use_pipes();
	else if (strcmp(way, "client") == 0)
		be_client();
	else if (strcmp(way, "loops") == 0)
		loop_as_client();
	else if (strcmp(way, "twice") == 0)
		filter_twice();
	else if (strcmp(way, "no-network") == 0)
		without_network();
	else
		run_server();
	return 0;
}
