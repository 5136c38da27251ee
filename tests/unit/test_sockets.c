/* SPDX-License-Identifier: MIT */
/* The socket table: a hint that is believed only while the cookie matches. */
#include "conn/sockets.h"
#include "conn/twins.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <unistd.h>

static int tcp(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static struct socket_entry *enter(int fd, enum socket_state state)
{
	struct socket_entry entry = { .slot = 5, .owner = 77, .state = state };
	struct socket_entry *entered = socket_enter(fd, &entry);

	return entered && socket_identify(fd, entered) ? entered : NULL;
}

Test(sockets, an_entry_is_found_and_believed)
{
	int fd = tcp();
	struct socket_entry *entry = enter(fd, SOCKET_OPEN);

	cr_assert_not_null(entry);
	cr_assert_eq(socket_find(fd), entry);
	cr_assert(socket_believe(fd, entry));
	cr_assert_eq(entry->slot, 5);
	cr_assert(socket_watched(fd) & WATCH_READ);
}

Test(sockets, numbers_outside_the_table_are_not_tracked)
{
	struct socket_entry entry = { .state = SOCKET_OPEN };

	cr_assert_null(socket_enter(SOCKETS, &entry));
	cr_assert_null(socket_enter(-1, &entry));
	cr_assert_eq(socket_watched(-1), 0);
	cr_assert_eq(socket_watched(SOCKETS), 0);
	socket_forget(-1);
	socket_created(SOCKETS, WATCH_STREAM);
}

Test(sockets, a_file_is_dropped_at_its_first_traffic)
{
	int fd = open("/dev/null", O_RDWR);

	cr_assert_null(enter(fd, SOCKET_OPEN));
	cr_assert_null(socket_find(fd));
}

Test(sockets, a_number_reused_unseen_is_not_believed)
{
	int fd = tcp(), file = open("/dev/null", O_RDWR), other = tcp();
	struct socket_entry *entry = enter(fd, SOCKET_ASKED);

	cr_assert_eq(dup2(other, fd), fd);
	cr_assert_not(socket_believe(fd, entry), "another socket");
	cr_assert_null(socket_find(fd));

	entry = enter(fd, SOCKET_ASKED);
	cr_assert_eq(dup2(file, fd), fd);
	cr_assert_not(socket_believe(fd, entry), "a file");
	cr_assert_eq(socket_watched(fd) & (WATCH_READ | WATCH_WRITE), 0);
}

Test(sockets, a_close_that_was_another_process_s_is_survived)
{
	int fd = tcp();
	struct socket_entry *entry = enter(fd, SOCKET_ASKED);

	socket_closed(fd, socket_at(fd)); /* as a vfork child does it: the socket is still ours */
	cr_assert(socket_watched(fd) & WATCH_STALE);
	cr_assert(socket_believe(fd, entry));
	cr_assert_not(socket_watched(fd) & WATCH_STALE);
	cr_assert_eq(entry->state, SOCKET_ASKED);
}

Test(sockets, phases_say_what_is_watched)
{
	int fd = tcp();
	struct socket_entry *entry = enter(fd, SOCKET_OPEN);

	cr_assert(socket_move(fd, entry, SOCKET_OPEN, ON_WORDS));
	cr_assert_not(socket_watched(fd) & WATCH_READ, "the rest of a reply tells nothing");
	cr_assert(socket_watched(fd) & WATCH_WRITE, "the next request does");
	entry->traits = TRAIT_SERVED;
	cr_assert(socket_move(fd, entry, SOCKET_ANSWERED, ON_REQUEST));
	cr_assert(socket_watched(fd) & WATCH_READ);
	cr_assert_not(socket_watched(fd) & WATCH_WRITE);
	cr_assert(socket_move(fd, entry, SOCKET_ASKED, ON_ENDED));
	cr_assert_not(socket_watched(fd) & (WATCH_READ | WATCH_WRITE));
}

/* A kept connection of which nothing else is known. */
static struct socket_entry *enter_common(int fd, uint32_t changes)
{
	struct socket_entry *entry = enter(fd, SOCKET_ANSWERED);

	entry->traits = TRAIT_SERVED;
	entry->cookie = socket_cookie(fd);
	socket_show_common(fd, entry, changes);
	return entry;
}

Test(sockets, each_trait_that_is_to_be_looked_at_ends_the_common_exchanges)
{
	int fd = tcp();

	for (int bit = 0; bit < 32; bit++) {
		struct socket_entry *entry = enter_common(fd, 7);
		bool common = (uint32_t)TRAITS_COMMON >> bit & 1;

		cr_assert_eq(entry->common, socket_common(7));
		socket_mark(entry, UINT32_C(1) << bit);
		cr_expect_eq(entry->common == socket_common(7), common, "trait %d", bit);
		socket_show_common(fd, entry, 8);
		cr_expect_eq(entry->common == socket_common(8), common, "trait %d", bit);
		cr_expect_eq(socket_exchange(fd, entry, 8, SOCKET_ANSWERED), common, "trait %d",
		             bit);
	}
}

/* Whatever a member of the share writes there: as long as nothing has been shown all is looked at.
 */
Test(sockets, no_exchange_is_common_before_it_was_shown)
{
	static const uint32_t changes[] = { 0, 1, 7, UINT32_MAX / 2, UINT32_MAX };
	int fd = tcp();
	struct socket_entry *entry = enter_common(fd, 7);

	STORE(entry->common, 0);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		cr_expect_not(socket_exchange(fd, entry, changes[i], SOCKET_ANSWERED));
}

Test(sockets, no_exchange_is_common_on_what_is_closed_unserved_or_something_else)
{
	int fd = tcp(), other = tcp();
	struct socket_entry *entry = enter_common(fd, 7);

	cr_expect_not(socket_exchange(fd, entry, 8, SOCKET_ANSWERED), "something has failed since");
	cr_expect_not(socket_exchange(fd, entry, 7, SOCKET_ASKED));
	cr_expect(socket_exchange(fd, entry, 7, SOCKET_ANSWERED));
	cr_expect(socket_exchange(fd, entry, 7, SOCKET_ASKED));
	socket_closed(fd, entry);
	cr_expect_not(socket_exchange(fd, entry, 7, SOCKET_ANSWERED));
	socket_show_common(fd, entry, 7);
	cr_expect_not(socket_exchange(fd, entry, 7, SOCKET_ANSWERED), "stale");

	entry = enter_common(fd, 7);
	socket_created(other, WATCH_SERVER);
	socket_duplicated(other, fd);
	cr_expect_not(socket_exchange(fd, entry, 7, SOCKET_ANSWERED), "one that was accepted");

	entry = enter(other, SOCKET_ANSWERED);
	socket_show_common(other, entry, 7);
	cr_expect_not(socket_exchange(other, entry, 7, SOCKET_ANSWERED), "no reply yet");
}

Test(sockets, duplicates_share_and_the_last_one_tells)
{
	int fd = tcp(), to = dup(fd), third;
	struct socket_entry *entry = enter(fd, SOCKET_OPEN), *copy;

	cr_assert_not(socket_shared(fd, entry));
	socket_duplicated(fd, to);
	copy = socket_find(to);
	cr_assert_not_null(copy);
	cr_assert_eq(copy->owner, 77);
	cr_assert(socket_shared(fd, entry));
	socket_closed(fd, socket_at(fd));
	cr_assert_not(socket_shared(to, copy), "the other one was closed");
	third = open("/dev/null", O_RDWR);
	socket_duplicated(third, to);
	cr_assert_null(socket_find(to), "a file over a connection");
}

struct race {
	int fd;
	struct socket_entry *entry;
	int won;
};

static void *settle(void *arg)
{
	struct race *race = arg;

	race->won = socket_move(race->fd, race->entry, SOCKET_ASKED, ON_LOST);
	return NULL;
}

Test(sockets, of_racing_threads_one_settles_an_outcome)
{
	int fd = tcp();
	struct socket_entry *entry = enter(fd, SOCKET_ASKED);

	for (int round = 0; round < 200; round++) {
		struct race races[8];
		pthread_t threads[8];
		int won = 0;

		entry->state = SOCKET_ASKED;
		for (int i = 0; i < 8; i++) {
			races[i] = (struct race) { fd, entry, 0 };
			pthread_create(&threads[i], NULL, settle, &races[i]);
		}
		for (int i = 0; i < 8; i++) {
			pthread_join(threads[i], NULL);
			won += races[i].won;
		}
		cr_assert_eq(won, 1);
	}
}

Test(sockets, who_looks_without_waiting_need_not_be_asked_again)
{
	int fd = tcp();
	struct socket_entry *entry = enter(fd, SOCKET_ASKED);

	atomic_fetch_or(&entry->traits, TRAIT_WAITED);
	socket_looked(fd, entry);
	cr_assert_not(socket_watched(fd) & WATCH_EMPTY, "a read may have run out of time");
	atomic_fetch_or(&entry->traits, TRAIT_NOWAIT);
	socket_looked(fd, entry);
	cr_assert(socket_watched(fd) & WATCH_EMPTY);
	cr_assert(socket_move(fd, entry, SOCKET_ASKED, ON_REPLY));
	cr_assert(socket_watched(fd) & WATCH_EMPTY, "nor for the next reply");
	enter(fd, SOCKET_CONNECTING);
	cr_assert_not(socket_watched(fd) & WATCH_EMPTY, "another connection");
}

Test(sockets, that_nothing_came_is_no_way_to_be_made)
{
	int fd = tcp();
	struct socket_entry *entry = enter(fd, SOCKET_ASKED);

	atomic_fetch_or(&entry->traits, TRAIT_WAITED | TRAIT_NOWAIT);
	socket_looked(fd, entry);
	close(fd);
	cr_assert_not(socket_believe(fd, entry));
	cr_assert_eq(socket_watched(fd), 0, "dropped");
	socket_created(fd, WATCH_OTHER);
	socket_looked(fd, entry); /* by a thread that is late */
	cr_assert_eq(socket_watched(fd), WATCH_OTHER);
}
