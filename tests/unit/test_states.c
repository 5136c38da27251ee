/* SPDX-License-Identifier: MIT */
/* The state table of connections: every pair of state and event, by the function that moves them.
 */
#include "conn/sockets.h"
#include "conn/twins.h"

#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const states[] = {
#define STATE(name, meaning) #name,
#include "conn/states.def"
};

static const char *const events[] = {
#define ON(name, meaning) #name,
#include "conn/states.def"
};

/* States in which the outcome of the attempt is known, or is none of the peer's. */
static bool is_over(int state)
{
	return state == SOCKET_NONE || state == SOCKET_THROTTLED || state == SOCKET_FAILED ||
	       state == SOCKET_HEAD || state == SOCKET_DONE || state == SOCKET_CUT;
}

Test(states, every_pair_goes_where_the_table_says)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct socket_entry *entry =
	    socket_enter(fd, &(struct socket_entry) { .state = SOCKET_OPEN });

	cr_assert_not_null(entry);
	for (int from = 0; from < SOCKET_COUNT; from++) {
		for (int event = 0; event < ON_COUNT; event++) {
			const struct move *move = &moves[from][event];
			bool moves_on = move->outcome != MOVE_IMPOSSIBLE;

			entry->state = (uint8_t)from;
			cr_expect_eq(socket_move(fd, entry, (enum socket_state)from,
			                         (enum socket_event)event),
			             moves_on, "%s on %s", states[from], events[event]);
			cr_expect_eq(entry->state, moves_on ? move->next : from, "%s on %s",
			             states[from], events[event]);
			entry->state = (uint8_t)((from + 1) % SOCKET_COUNT);
			cr_expect_not(socket_move(fd, entry, (enum socket_state)from,
			                          (enum socket_event)event),
			              "%s on %s: somebody was first", states[from], events[event]);
			cr_expect_eq(entry->state, (from + 1) % SOCKET_COUNT);
		}
	}
	socket_closed(fd, socket_at(fd));
	close(fd);
}

Test(states, an_outcome_is_told_once)
{
	for (int from = 0; from < SOCKET_COUNT; from++)
		for (int event = 0; event < ON_COUNT; event++)
			cr_expect(!is_over(from) || moves[from][event].outcome <= MOVE_NOTHING,
			          "%s on %s", states[from], events[event]);
}

/* A failure leaves the attempt over, or at the next request. */
Test(states, after_a_failure_nothing_more_is_due)
{
	for (int from = 0; from < SOCKET_COUNT; from++)
		for (int event = 0; event < ON_COUNT; event++)
			cr_expect(moves[from][event].outcome != MOVE_FAILURE ||
			              is_over(moves[from][event].next) ||
			              moves[from][event].next == SOCKET_ANSWERED,
			          "%s on %s", states[from], events[event]);
}

Test(states, every_one_is_reached_and_every_event_leads_somewhere)
{
	/* Entries begin in these: socket_enter(). */
	bool reached[SOCKET_COUNT] = { [SOCKET_CONNECTING] = true, [SOCKET_THROTTLED] = true };

	for (int round = 0; round < SOCKET_COUNT; round++)
		for (int from = 0; from < SOCKET_COUNT; from++)
			for (int event = 0; event < ON_COUNT && reached[from]; event++)
				if (moves[from][event].outcome != MOVE_IMPOSSIBLE)
					reached[moves[from][event].next] = true;
	for (int state = 0; state < SOCKET_COUNT; state++)
		cr_expect(reached[state], "%s", states[state]);
	for (int event = 0; event < ON_COUNT; event++) {
		bool leads = false;

		for (int from = 0; from < SOCKET_COUNT; from++)
			leads |= moves[from][event].outcome != MOVE_IMPOSSIBLE;
		cr_expect(leads, "%s", events[event]);
	}
}

/* What conn/sockets.h does in line: it leads where the table does, and the same is watched then. */
Test(states, the_short_cuts_are_moves_of_the_table)
{
	static const struct {
		enum socket_state from;
		enum socket_event event;
	} cuts[] = {
		{ SOCKET_ANSWERED, ON_REQUEST },
		{ SOCKET_ASKED, ON_REPLY },
		{ SOCKET_CONNECTING, ON_CONNECTED },
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		enum socket_state from = cuts[i].from;
		struct socket_entry start = { .state = (uint8_t)from }, *entry;
		unsigned int watched, state;

		start.traits = from == SOCKET_CONNECTING ? 0 : TRAIT_SERVED;
		entry = socket_enter(fd, &start);
		cr_assert(socket_move(fd, entry, from, cuts[i].event));
		state = entry->state;
		watched = socket_watched(fd);
		entry = socket_enter(fd, &start);
		entry->common = socket_common(1);
		if (from == SOCKET_CONNECTING)
			socket_connected(fd, entry);
		else
			cr_assert(socket_exchange(fd, entry, 1, from));
		cr_expect_eq(entry->state, state, "%s", states[from]);
		cr_expect_eq(socket_watched(fd), watched, "%s", states[from]);
	}
	close(fd);
}
