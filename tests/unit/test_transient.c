/* SPDX-License-Identifier: MIT */
/* Descriptors of ours, in a program that closes all there are. */
#include "sys/real.h"
#include "sys/transient.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

static void resolve(void)
{
	cr_assert(real_resolve());
}

TestSuite(transient, .init = resolve);

Test(transient, file_is_opened_where_the_host_has_none_and_closed)
{
	struct transient at;

	close(0);
	cr_assert(transient_open_file(&at, "/proc/self/stat"));
	cr_expect_geq(at.fd, 3);
	cr_expect_eq(fcntl(0, F_GETFD), -1);
	cr_expect(fcntl(at.fd, F_GETFD) & FD_CLOEXEC);
	transient_close(&at);
	cr_expect_eq(fcntl(at.fd, F_GETFD), -1);
}

Test(transient, file_that_the_host_has_closed_leaves_its_number_to_it)
{
	struct transient at;
	int file;

	cr_assert(transient_open_file(&at, "/proc/self/stat"));
	close(at.fd);
	file = open("/proc/self/status", O_RDONLY);
	cr_assert_eq(file, at.fd);
	cr_expect_not(transient_is_ours(&at));
	transient_close(&at);
	cr_expect_neq(fcntl(file, F_GETFD), -1);
}

Test(transient, file_that_is_not_there_is_none)
{
	struct transient at;

	cr_expect_not(transient_open_file(&at, "/proc/self/none"));
}
