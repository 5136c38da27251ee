/* SPDX-License-Identifier: MIT */
/* One operation at a time on an io_uring of its own, by the system calls alone. */
#ifndef RETRYBUDGET_TESTS_PROBE_RING_H
#define RETRYBUDGET_TESTS_PROBE_RING_H

#include "probe.h"

#include <linux/io_uring.h>

static struct {
	int fd;
	char *submissions, *completions;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
} ring = { .fd = -1 };

/* False: this kernel, or its owner, does not allow it. */
static inline bool ring_start(void)
{
	struct io_uring_params *params = &ring.params;
	size_t size;

	ring.fd = (int)syscall(SYS_io_uring_setup, 4, params);
	if (ring.fd < 0)
		return false;
	size = params->sq_off.array + params->sq_entries * sizeof(unsigned int);
	ring.submissions =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
	size = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);
	ring.completions =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_CQ_RING);
	ring.entries = mmap(NULL, params->sq_entries * sizeof(struct io_uring_sqe),
	                    PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQES);
	return ring.submissions != MAP_FAILED && ring.completions != MAP_FAILED &&
	       (void *)ring.entries != MAP_FAILED;
}

/* Does one operation and waits for it; the result, or -1 with errno. */
static inline int ring_do(int operation, int fd, const void *data, unsigned int len, uint64_t more)
{
	unsigned int mask = *(unsigned int *)(ring.submissions + ring.params.sq_off.ring_mask);
	unsigned int *tail = (unsigned int *)(ring.submissions + ring.params.sq_off.tail);
	unsigned int *head = (unsigned int *)(ring.completions + ring.params.cq_off.head);
	unsigned int *array = (unsigned int *)(ring.submissions + ring.params.sq_off.array);
	struct io_uring_cqe *results =
	    (struct io_uring_cqe *)(ring.completions + ring.params.cq_off.cqes);
	struct io_uring_sqe *entry = &ring.entries[*tail & mask];
	int result;

	*entry = (struct io_uring_sqe) { .opcode = (uint8_t)operation,
		                         .fd = fd,
		                         .addr = (uintptr_t)data,
		                         .len = len,
		                         .off = more };
	array[*tail & mask] = *tail & mask;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	while (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		if (errno != EINTR)
			give_up("io_uring_enter");
	result = results[*head & (ring.params.cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

#endif
