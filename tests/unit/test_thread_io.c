/* SPDX-License-Identifier: MIT */
/* What counts as work that a thread reads or writes, and what only wakes an event loop. */
#include "sys/real.h"
#include "sys/thread_io.h"

#include <criterion/criterion.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct thread_io mark;

static void begin(void)
{
	real_resolve();
	if (access("/proc/thread-self/io", R_OK) != 0)
		cr_skip_test("this kernel does not count it");
	thread_io_moved(&mark);
}

TestSuite(thread_io, .init = begin);

/* n bytes come through a pipe, read by `piece` bytes at a time. The writes are not looked at. */
static unsigned int read_through(size_t n, size_t piece)
{
	char bytes[64] = { 0 };
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], bytes, n), (ssize_t)n);
	thread_io_moved(&mark);
	for (size_t done = 0; done < n; done += piece)
		cr_assert_eq(read(ends[0], bytes, piece), (ssize_t)piece);
	close(ends[0]);
	close(ends[1]);
	return thread_io_moved(&mark);
}

Test(thread_io, nothing_moves_by_looking)
{
	cr_expect_eq(thread_io_moved(&mark), 0);
	cr_expect_eq(thread_io_moved(&mark), 0);
}

Test(thread_io, what_is_read_is_work)
{
	cr_expect_eq(read_through(40, 40), THREAD_IO_READ);
	cr_expect_eq(read_through(13, 13), THREAD_IO_READ);
	cr_expect_eq(read_through(2, 2), THREAD_IO_READ);
}

/* As a shell reads its lines. */
Test(thread_io, lines_that_come_by_the_byte_are_work)
{
	cr_expect_eq(read_through(8, 1), THREAD_IO_READ);
	cr_expect_eq(read_through(16, 1), THREAD_IO_READ);
}

Test(thread_io, what_wakes_is_none)
{
	uint64_t one = 1;
	int fd = eventfd(0, EFD_NONBLOCK);

	cr_expect_eq(read_through(1, 1), 0);
	for (int times = 1; times <= 3; times++) {
		for (int i = 0; i < times; i++) {
			cr_assert_eq(write(fd, &one, sizeof(one)), 8);
			cr_assert_eq(read(fd, &one, sizeof(one)), 8);
			cr_assert_eq(read(fd, &one, sizeof(one)), -1);
		}
		cr_expect_eq(thread_io_moved(&mark), 0);
	}
	close(fd);
}

Test(thread_io, what_is_written_is_told_apart)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "a line\n", 7), 7);
	cr_expect_eq(thread_io_moved(&mark), THREAD_IO_WROTE);
	close(ends[0]);
	close(ends[1]);
}

Test(thread_io, what_a_lookup_reads_is_left_out)
{
	struct thread_io from;
	char bytes[64];

	thread_io_pause(&from);
	for (int i = 0; i < 3; i++) {
		int ends[2];

		cr_assert_eq(pipe(ends), 0);
		cr_assert_eq(write(ends[1], "0123456", 7), 7);
		cr_assert_eq(read(ends[0], bytes, sizeof(bytes)), 7);
		close(ends[0]);
		close(ends[1]);
	}
	thread_io_resume(&mark, &from);
	cr_expect_eq(thread_io_moved(&mark), 0);
}
