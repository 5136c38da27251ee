/* SPDX-License-Identifier: MIT */
/* Mapping the tables by descriptor number. */
#include "sys/blocks.h"

#include "sys/fault.h"

#include <errno.h>
#include <sys/mman.h>

bool block_map(block_base *bases, size_t record, int fd)
{
	unsigned int block = (unsigned int)fd / BLOCK_NUMBERS;
	size_t size = BLOCK_NUMBERS * record;
	uintptr_t none = 0;
	int saved = errno;
	void *new;

	if ((unsigned int)fd >= SOCKETS)
		return false;
	if (LOAD(bases[block]))
		return true;
	new = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (new == MAP_FAILED) {
		fault_count();
		return false;
	}
	if (!atomic_compare_exchange_strong(&bases[block], &none, (uintptr_t) new - block *size))
		munmap(new, size);
	errno = saved;
	return true;
}
