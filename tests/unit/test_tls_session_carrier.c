/* SPDX-License-Identifier: MIT */
/* Which socket carries a TLS session. */
#include "tls_fixture.h"

Test(tls_session, that_is_carried_by_another_socket_of_the_same_number)
{
	struct server server = serve(8);
	struct talk old = talk_to(&server), new;

	open_session(&old, first);
	host_close(old.host);
	new = talk_to(&server);
	cr_assert_eq(new.host, old.host);
	cr_expect_eq(session_fd(first), -1, "not before its first bytes");
	shake_hands(&new, second);
	cr_expect_not(new.entry->traits &TRAIT_HANDSHAKE_DONE, "not before its handshake is over");
	cr_expect_eq(session_fd(first), -1);
	cr_expect_eq(session_fd(second), new.host);
}

/* The memory of one that was freed is soon another's, and of the close nothing was seen. */
Test(tls_session, that_is_the_same_pointer_on_another_connection)
{
	struct server server = serve(8);
	struct talk old = talk_to(&server), new = talk_to(&server);

	open_session(&old, first);
	close(old.host);
	open_session(&new, first);
	cr_expect_eq(session_fd(first), new.host);
}

/* A callback of the library asks somebody else, for a list of revoked certificates say. */
Test(tls_session, in_a_call_of_which_others_are_talked_to)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server), other = talk_to(&server);
	const void *outer;

	open_session(&talk, first);
	outer = session_enter(first);
	for (int i = 0; i < 2; i++) {
		carry(&other, i == 0 ? ASK : HELLO);
		peer_hears(&other);
		carry_in(&other);
	}
	session_leave(outer);
	cr_expect_not(session_carries(other.host));
	cr_expect_eq(session_fd(first), talk.host);
	EXPECT_SUCCESS(talk.destination);
}

/* Words that are no ClientHello, before the session has any. */
Test(tls_session, in_a_call_of_which_something_is_logged)
{
	struct server server = serve(8);
	struct talk log = talk_to(&server), talk = talk_to(&server);
	const void *outer = session_enter(first);

	carry(&log, "it begins");
	carry(&log, ENCRYPTED);
	carry(&log, "\x16\x03");
	session_leave(outer);
	cr_expect_eq(session_fd(first), -1);
	open_session(&talk, first);
}

/* As many as share a place. */
Test(tls_session, that_shares_its_place_with_another)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	struct server server = serve(8);
	struct talk talks[4];
	const void *sessions[4] = { first };
	uintptr_t at = (uintptr_t)first;

	for (int i = 1; i < 4; i++) {
		do
			at += 16;
		while (at * factor >> 48 != (uintptr_t)first * factor >> 48);
		sessions[i] = (const void *)at;
	}
	for (int i = 0; i < 4; i++) {
		talks[i] = talk_to(&server);
		open_session(&talks[i], sessions[i]);
	}
	for (int i = 0; i < 4; i++)
		cr_expect_eq(session_fd(sessions[i]), talks[i].host, "%d", i);
}

Test(tls_session, inside_another_gives_the_way_back)
{
	struct talk talk = talk_start();
	const void *outer = session_enter(first), *inner = session_enter(second);

	session_leave(inner);
	carry(&talk, HELLO);
	session_leave(outer);
	cr_expect_eq(session_fd(first), talk.host);
	cr_expect_eq(session_fd(second), -1);
	cr_expect_null(thread_facts.session);
}

/* BIO_read, a pointer from dlsym: nobody sees what was in it, and that it came has to do. */
Test(tls_session, whose_replies_are_read_unseen)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	carry_in(&talk);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
}

Test(tls_session, in_which_nothing_is_seen)
{
	struct talk talk = talk_inside();

	talk.destination->budget.streak = 2;
	for (int i = 0; i < 3; i++) {
		carry_out(&talk);
		peer_hears(&talk);
		cr_expect_eq(talk.entry->state, SOCKET_ASKED);
		carry_in(&talk);
		cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
	}
	cr_expect_eq(talk.destination->budget.streak, 0);
	EXPECT_SUCCESS(talk.destination);
	cr_expect(talk.entry->traits & TRAIT_HTTP, "nobody has looked at what it spoke");
}

/* Two fibers of one thread: each makes way for the other inside a call. */
Test(tls_session, of_one_fiber_is_not_taken_for_another_s)
{
	struct server server = serve(8);
	struct talk one = talk_to(&server), other = talk_to(&server);
	const void *outer;

	open_session(&one, first);
	open_session(&other, second);
	ask_inside(&one, first);
	outer = session_enter(first);
	session_enter(second);
	carry_in(&one);
	session_leave(outer);
	cr_expect_eq(session_fd(first), one.host);
	cr_expect_eq(session_fd(second), other.host);
}

/* SSL_free and SSL_new, and the same socket. */
Test(tls_session, that_takes_over_a_carrier)
{
	struct talk talk = talk_inside();

	shake_hands(&talk, second);
	cr_expect_eq(session_fd(second), talk.host);
	cr_expect_eq(session_fd(first), -1);
	cr_expect_not(talk.entry->traits & TRAIT_HANDSHAKE_DONE);
}

Test(tls_session, is_told_once_but_of_an_end)
{
	struct talk talk = talk_inside();

	session_tell(talk.host, EINTR);
	cr_expect_eq(session_told(talk.host), EINTR);
	cr_expect_eq(session_told(talk.host), 0);
	session_tell(talk.host, ECONNRESET);
	cr_expect_eq(session_told(talk.host), ECONNRESET);
	cr_expect_eq(session_told(talk.host), ECONNRESET);
}

/* The other number is closed as the first would be. */
Test(tls_session, by_two_numbers)
{
	struct talk talk = talk_inside();
	int to = dup(talk.host);

	socket_duplicated(talk.host, to);
	cr_expect(session_carries(to));
	cr_expect(socket_find(to)->traits & TRAIT_HANDSHAKE_DONE);
}

/* Its number is given to the carrier of another, which has been told nothing. */
Test(tls_session, takes_what_it_was_told_along)
{
	struct talk talk = talk_inside(), other = talk_start();

	open_session(&other, second);
	session_tell(talk.host, ECONNRESET);
	attempt_end(talk.host);
	cr_assert_eq(dup2(other.host, talk.host), talk.host);
	socket_duplicated(other.host, talk.host);
	cr_expect(session_carries(talk.host));
	cr_expect_eq(session_told(talk.host), 0);
	cr_expect_eq(session_fd(first), -1);
	cr_expect_eq(session_fd(second), other.host);
}

Test(tls_session, without_tables_is_none)
{
	cr_expect_eq(session_fd(second), -1);
}
