/* SPDX-License-Identifier: MIT */
/*
 * A sandbox that raises SIGSYS for calls that it does not like, and a handler that answers them: so
 * do browsers' and Android's. Were the signal blocked, the kernel would end the program. Here every
 * call that opens a datagram socket, sends a message or waits without a descriptor is answered so.
 */
#include "probe.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <ucontext.h>

static volatile sig_atomic_t answered;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal;
	(void)info;
	answered++;
#if defined(__x86_64__)
	at->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__i386__)
	at->uc_mcontext.gregs[REG_EAX] = -EPERM;
#elif defined(__aarch64__)
	at->uc_mcontext.regs[0] = -EPERM;
#else
	(void)at;
	_exit(PROBE_CANNOT);
#endif
}

#define TRAP     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
#define LOOK(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, at))

static bool sandboxed(void)
{
	struct sock_filter filter[] = {
		LOOK(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		LOOK(args[1]),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		TRAP,
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct sockaddr_in address;
	int held, fd;

	address = loopback(refusing_port(&held));
	sigaction(SIGSYS, &action, NULL);
	if (!sandboxed())
		return PROBE_CANNOT;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	printf("a datagram socket: %s, answered: %d\n", error_name(fd < 0 ? errno : 0), answered);
	for (int i = 0; i < 3; i++)
		printf("connect: %s\n", error_name(attempt(ntohs(address.sin_port), NULL)));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		give_up("connect");
	return 0;
}
