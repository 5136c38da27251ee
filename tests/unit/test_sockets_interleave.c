/* SPDX-License-Identifier: MIT */
/*
 * Every interleaving of two threads at one entry of the socket table (interleave.h): one that
 * enters a new socket under a number whose close was not seen, or learns an outcome, and one that
 * learns an outcome too. What is counted must be one socket's, and counted once.
 */
#ifndef __SANITIZE_THREAD__

/* Beside the table that the other tests are linked with. */
#define socket_watch       stepped_watch
#define socket_blocks      stepped_blocks
#define socket_limit       stepped_limit
#define socket_cookie      stepped_cookie
#define socket_begin       stepped_begin
#define socket_show        stepped_show
#define socket_enter       stepped_enter
#define socket_move        stepped_move
#define socket_put         stepped_put
#define socket_connected   stepped_connected
#define socket_move_twins  stepped_move_twins
#define socket_show_common stepped_show_common
#define socket_looked      stepped_looked
#define socket_identify    stepped_identify
#define socket_believe     stepped_believe
#define socket_forget      stepped_forget
#define socket_closed      stepped_closed
#define socket_created     stepped_created
#define socket_duplicated  stepped_duplicated
#define socket_shared      stepped_shared
#define socket_has_rival   stepped_has_rival

#include "sys/real.h"
#include "conn/flight.h"
#include "conn/sockets.h"
#include "interleave.h"

#include <string.h>

#define flight_end(entry) ((void)(entry))

enum { FD = 7, OLD = 1, NEW = 2 }; /* OLD, NEW: cookies and slots of the two sockets */

/* The other one may take over where it matters: more steps would be too many schedules. */
static void step_at(const volatile void *place)
{
	const struct socket_entry *entry = socket_at(FD);

	if (place == &entry->cookie || place == &entry->slot || place == &entry->generation ||
	    place == &entry->state || place == &socket_watch[FD])
		step();
}

/* Their operands have many types here. */
#undef atomic_compare_exchange_strong
#undef atomic_store_explicit
#undef atomic_load_explicit
#define atomic_compare_exchange_strong(place, seen, next)                                          \
	(step_at(place), __atomic_compare_exchange_n(place, seen, next, 0, 5, 5))
#define atomic_store_explicit(place, value, order) (step_at(place), (void)(*(place) = (value)))
#define atomic_load_explicit(place, order)         (step_at(place), *(place))
#include "../../shim/conn/sockets.c"
#include "../../shim/conn/twins.c"
#undef atomic_store_explicit
#undef atomic_load_explicit

static struct {
	bool moved;
	uint32_t slot, generation;
} saw[2];

/* The number is the new socket's all the while. */
static int its_cookie(int fd, int level, int name, void *value, socklen_t *len)
{
	(void)fd, (void)level, (void)name, (void)len;
	*(uint64_t *)value = NEW;
	return 0;
}

static struct socket_entry entry_of(uint32_t which)
{
	return (struct socket_entry) {
		.cookie = which, .slot = which, .generation = which, .state = SOCKET_CONNECTING
	};
}

/* The old one is there, as its close was not seen. */
static void with_the_old_one(void)
{
	struct socket_entry old = entry_of(OLD);

	real.getsockopt = its_cookie;
	socket_enter(FD, &old);
	memset(saw, 0, sizeof(saw));
}

static void with_the_new_one(void)
{
	struct socket_entry new = entry_of(NEW);

	real.getsockopt = its_cookie;
	socket_enter(FD, &new);
	memset(saw, 0, sizeof(saw));
}

/* As whoever learns how a connect ended. */
static void learn(int who)
{
	struct socket_entry *entry = socket_find(FD);

	if (!entry || !socket_believe(FD, entry) ||
	    !socket_move(FD, entry, SOCKET_CONNECTING, who ? ON_ERROR_TOLD : ON_CONNECTED))
		return;
	saw[who].moved = true;
	saw[who].slot = (step(), entry->slot);
	saw[who].generation = (step(), entry->generation);
}

static void enter_or_learn(int who)
{
	struct socket_entry new = entry_of(NEW);

	if (who == 0)
		socket_enter(FD, &new);
	else
		learn(1);
}

static void expect_the_new_one_or_nothing(void)
{
	if (saw[1].moved)
		cr_assert(saw[1].slot == NEW && saw[1].generation == NEW,
		          "counted for socket %u, %u", saw[1].slot, saw[1].generation);
}

static void expect_once(void)
{
	cr_assert_eq(saw[0].moved + saw[1].moved, 1);
}

Test(sockets_interleave, an_entry_is_never_torn, .timeout = 120)
{
	int n = walk_schedules(enter_or_learn, FOREVER, with_the_old_one,
	                       expect_the_new_one_or_nothing);

	cr_expect_gt(n, 100);
}

/* It is not known before its cookie is asked for: then it must not be taken for what was there. */
static void enter_unasked(int who)
{
	struct socket_entry new = entry_of(NEW);

	new.cookie = 0;
	if (who == 0)
		socket_enter(FD, &new);
	else
		learn(1);
}

Test(sockets_interleave, an_entry_without_a_cookie_is_never_torn, .timeout = 120)
{
	int n =
	    walk_schedules(enter_unasked, FOREVER, with_the_old_one, expect_the_new_one_or_nothing);

	cr_expect_gt(n, 100);
}

Test(sockets_interleave, an_outcome_counts_once, .timeout = 120)
{
	int n = walk_schedules(learn, FOREVER, with_the_new_one, expect_once);

	cr_expect_gt(n, 100);
}

#endif
