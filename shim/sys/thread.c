/* SPDX-License-Identifier: MIT */
/*
 * Facts per thread, and how a forked child notices that those it inherited are its parent's:
 * pthread_atfork handlers do not run for _Fork, clone or a vfork child (HAZARDS 19), so a page that
 * the kernel wipes on fork tells instead.
 */
#include "sys/thread.h"

#include "sys/cell.h"
#include "sys/process.h"
#include "sys/random.h"
#include "sys/real.h"

#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <string.h>
#include <unistd.h>

__thread struct thread_facts thread_facts;

_Atomic(int32_t) *thread_page;
#define FIRST 1 /* place on it: not wiped yet */
uint64_t thread_seed;

bool thread_setup(void)
{
	const void *entropy = (const void *)getauxval(AT_RANDOM);
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page;

	if (entropy)
		memcpy(&thread_seed, entropy, sizeof(thread_seed));
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return false;
	if (madvise(page, size, MADV_WIPEONFORK) == 0) {
		thread_page = page;
		thread_page[FIRST] = 1;
	} else {
		munmap(page, size);
	}
	return thread_page != NULL;
}

bool thread_is_of_first(void)
{
	return thread_page && LOAD(thread_page[FIRST]) != 0;
}

int32_t thread_ask_process(void)
{
	int32_t process = process_id();

	if (thread_page)
		STORE(*thread_page, process);
	return process;
}

bool thread_is_borrowed(void)
{
	int32_t process = thread_page ? thread_process_noted() : 0;

	return process != 0 && process != process_id();
}

struct thread_facts *thread_renew(int32_t process)
{
	struct thread_facts *mine = &thread_facts;
	uint64_t mix;

	mine->id = (int32_t)syscall(SYS_gettid);
	mix = thread_seed ^ ((uint64_t)mine->id << 32) ^ (uint64_t)monotonic();
	mine->random = random_next(&mix);
	mine->worked_off &= ~THREAD_TRIED;
	mine->served = 0;
	mine->serves_many = mine->owes = mine->deferred = false;
	mine->stuck = mine->never_waits = false;
	mine->refused = 0;
	mine->row = 0;
	mine->tried = 0;
	memset(mine->tries, 0, sizeof(mine->tries));
	mine->swept = 0;
	mine->process = process;
	return mine;
}

uint64_t *thread_random(void)
{
	return &thread_mine()->random;
}
