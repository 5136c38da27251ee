/* SPDX-License-Identifier: MIT */
/*
 * Coroutines on small stacks of their own, switched between any two calls, and taken up by another
 * thread than the one that left them (HAZARDS 13, 64): nothing that the shim remembers may hang
 * on the order of frames or on the stack.
 */
#include "trap.h"

#include <ucontext.h>

#define COROUTINES 8
#define STACK      16384

static ucontext_t back, at[COROUTINES];
static uint16_t good, bad;
static int works, refused, found;

/* Apart: the address of errno may be another one after each switch. */
static __attribute__((noinline)) int try_refused(void)
{
	return attempt(bad, NULL);
}

static __attribute__((noinline)) int look_up(void)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *list = NULL;
	int code = getaddrinfo("127.0.0.1", "80", &hints, &list);

	if (code == 0)
		freeaddrinfo(list);
	return code;
}

static void leave(int number)
{
	swapcontext(&at[number], &back);
}

static void coroutine(int number)
{
	char data[4];
	int fd;

	for (int i = 0; i < 3; i++) {
		fd = connected(good);
		leave(number);
		send(fd, "abcd", 4, MSG_NOSIGNAL);
		leave(number);
		works += recv(fd, data, 4, MSG_WAITALL) == 4;
		leave(number);
		refused += try_refused() == ECONNREFUSED;
		leave(number);
		found += look_up() == 0;
		close(fd);
	}
}

/* Each goes on for one step. */
static void *go_round(void *unused)
{
	for (int i = 0; i < COROUTINES; i++)
		swapcontext(&back, &at[i]);
	return unused;
}

static void *idle(void *unused)
{
	return unused;
}

int main(void)
{
	int held;

	good = start_server(SERVER_ECHO, NULL);
	bad = refusing_port(&held);
	for (int i = 0; i < COROUTINES; i++) {
		char *stack = mmap(NULL, STACK + 4096, PROT_READ | PROT_WRITE,
		                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (stack == MAP_FAILED || mprotect(stack, 4096, PROT_NONE) != 0)
			give_up("stack");
		getcontext(&at[i]);
		at[i].uc_stack.ss_sp = stack + 4096;
		at[i].uc_stack.ss_size = STACK;
		at[i].uc_link = &back;
		makecontext(&at[i], (void (*)(void))coroutine, 1, i);
	}
	/* Twelve steps and the end; every second round on a thread of its own. */
	for (int round = 0; round < 13; round++) {
		pthread_t thread;

		pthread_create(&thread, NULL, round % 2 ? go_round : idle, NULL);
		pthread_join(thread, NULL);
		if (round % 2 == 0)
			go_round(NULL);
	}
	printf("works: %d, refused: %d, found: %d\n", works, refused, found);
	return 0;
}
