/* SPDX-License-Identifier: MIT */
/* Tables by number, mapped as numbers come into use; and what becomes of numbers without memory. */
#include "conn/sockets.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct record {
	char bytes[88];
};

static block_base bases[BLOCKS];

static struct record *record_at(int fd)
{
	return (struct record *)(block_of(bases, fd) + (unsigned int)fd * sizeof(struct record));
}

/* Not one page more. */
static void use_up_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	struct rlimit limit;
	unsigned long pages;

	cr_assert(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = pages * (unsigned long)sysconf(_SC_PAGESIZE);
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

static void give_memory_back(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = limit.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

Test(blocks, every_number_has_a_record_of_its_own)
{
	const int numbers[] = { 0, 1, BLOCK_NUMBERS - 1, BLOCK_NUMBERS, 40000, SOCKETS - 1 };
	const int n = sizeof(numbers) / sizeof(numbers[0]);

	for (int i = 0; i < n; i++) {
		cr_assert(block_map(bases, sizeof(struct record), numbers[i]));
		cr_assert_eq(record_at(numbers[i])->bytes[0], 0);
		memset(record_at(numbers[i]), i + 1, sizeof(struct record));
	}
	for (int i = 0; i < n; i++) {
		cr_expect_eq(record_at(numbers[i])->bytes[0], i + 1);
		cr_expect_eq(record_at(numbers[i])->bytes[sizeof(struct record) - 1], i + 1);
	}
	cr_expect_eq(block_of(bases, 2 * BLOCK_NUMBERS), 0);
}

Test(blocks, there_are_none_beyond_the_tables)
{
	cr_expect_not(block_map(bases, sizeof(struct record), SOCKETS));
	cr_expect_not(block_map(bases, sizeof(struct record), -1));
}

static void *map_all(void *seen)
{
	uintptr_t *base = seen;

	for (int block = 0; block < BLOCKS; block++) {
		cr_assert(block_map(bases, sizeof(struct record), block * BLOCK_NUMBERS));
		base[block] = block_of(bases, block * BLOCK_NUMBERS);
	}
	return NULL;
}

/* A block that moved would lose what was written meanwhile. */
Test(blocks, of_two_threads_that_map_one_both_get_the_same)
{
	static uintptr_t seen[2][BLOCKS];
	pthread_t other;

	cr_assert_eq(pthread_create(&other, NULL, map_all, seen[1]), 0);
	map_all(seen[0]);
	pthread_join(other, NULL);
	cr_expect_eq(memcmp(seen[0], seen[1], sizeof(seen[0])), 0);
}

/* The data path looks at the entry of a number that is watched without asking whether it is there.
 */
Test(blocks, nothing_is_watched_without_memory_for_an_entry)
{
	const struct socket_entry entry = { .cookie = COOKIE_NONE, .state = SOCKET_OPEN };
	const unsigned int needing = WATCH_READ | WATCH_WRITE | WATCH_END;
	const int served = 3, beyond = 5 * BLOCK_NUMBERS;

	socket_created(served, WATCH_SERVER);
	cr_assert(socket_watched(served) & WATCH_READ);
	use_up_memory();
	errno = EILSEQ;
	cr_expect_null(socket_enter(beyond, &entry));
	cr_expect_eq(socket_watched(beyond) & needing, 0);
	socket_created(beyond, WATCH_SERVER);
	cr_expect_eq(socket_watched(beyond) & needing, 0);
	socket_created(beyond, WATCH_OTHER | WATCH_DATAGRAM);
	cr_expect_eq(socket_watched(beyond) & (needing | WATCH_DATAGRAM), 0);
	socket_duplicated(served, beyond);
	cr_expect_eq(socket_watched(beyond) & needing, 0);
	socket_forget(beyond);
	socket_created(beyond, WATCH_STREAM);
	cr_expect_eq(socket_watched(beyond), WATCH_STREAM);
	cr_expect_eq(errno, EILSEQ);
	give_memory_back();
	cr_expect_not_null(socket_enter(beyond, &entry));
	cr_expect(socket_watched(beyond) & WATCH_END);
}
