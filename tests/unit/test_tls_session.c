/* SPDX-License-Identifier: MIT */
/* TLS sessions and what carries them. A session is only ever compared, so any pointer will do; what
 * goes over the carrier is sent by a call inside the session, as a library does. */
#include "conn/tls_session.h"
#include "conn/exchange_begin.h"
#include "conn/tls_traffic.h"
#include "track_fixture.h"
#include "conn/settle.h"
#include "conn/kept.h"
#include "config/current.h"

#include <sys/wait.h>

#define ASK    "GET / HTTP/1.1\r\n\r\n"
#define FINE   "HTTP/1.1 200 OK\r\n\r\n"
#define BUSY   "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n"
#define HELLO  "\x16\x03\x01\x40\x05\x01hello" /* a record with the beginning of a ClientHello */
#define SEALED "\x17\x03\x03\x40\x05sealed"

static const char first[1], second[1];

static struct policy *policy;

static void start_tls(void)
{
	start_shim();
	policy = (struct policy *)&config_current()->policies[0];
	policy->tls = 1;
	policy->plain = 0;
	session_prepare();
}

TestSuite(tls_session, .init = start_tls);

/* As the hooks on the socket do. */
static void carry(const struct talk *talk, const char *text)
{
	uint32_t fingerprint = traffic_look(talk->host, text, strlen(text));
	ssize_t sent;

	fingerprint = session_carries(talk->host) ? 0 : traffic_begin(talk->host, fingerprint);
	sent = send(talk->host, text, strlen(text), MSG_NOSIGNAL);
	traffic_sent(talk->host, sent, MSG_NOSIGNAL, fingerprint);
}

static void carry_out(const struct talk *talk)
{
	carry(talk, SEALED);
}

static void carry_in(const struct talk *talk)
{
	peer_says(talk, SEALED);
	cr_assert_gt(host_recv(talk->host, 64, 0), 0);
}

static void shake_hands(const struct talk *talk, const void *session)
{
	const void *outer = session_enter(session);

	carry(talk, HELLO);
	peer_hears(talk);
	carry_in(talk);
	session_leave(outer);
}

static void say_goodbye(const struct talk *talk)
{
	const void *outer;

	tls_traffic_close_notify(talk->host);
	outer = session_enter(first);
	carry_out(talk);
	session_leave(outer);
}

/* A read that brings nothing. */
static void wait_inside(const struct talk *talk)
{
	tls_traffic_received(talk->host, NULL, -1);
}

static void open_session(const struct talk *talk, const void *session)
{
	shake_hands(talk, session);
	cr_assert_eq(session_fd(session), talk->host);
	tls_traffic_opened(talk->host);
}

static struct talk talk_inside(void)
{
	struct talk talk = talk_start();

	open_session(&talk, first);
	return talk;
}

/* The program hands a request to its library. */
static void ask_inside(const struct talk *talk, const void *session)
{
	uint32_t fingerprint =
	    exchange_begin(talk->host, tls_traffic_look(talk->host, ASK, strlen(ASK)));
	const void *outer = session_enter(session);

	carry_out(talk);
	session_leave(outer);
	tls_traffic_sent(talk->host, true, fingerprint);
	peer_hears(talk);
}

static void reply_inside(const struct talk *talk, const void *session, const char *text)
{
	const void *outer = session_enter(session);

	carry_in(talk);
	session_leave(outer);
	tls_traffic_received(talk->host, text, (ssize_t)strlen(text));
}

Test(tls_session, whose_handshake_is_no_answer)
{
	struct talk talk = talk_inside();

	talk.destination->budget.streak = 2;
	EXPECT_NOTHING(talk.destination);
	cr_expect_eq(talk.entry->state, SOCKET_OPEN);
	cr_expect(talk.entry->traits & TRAIT_CARRIER);
}

Test(tls_session, in_which_a_reply_is_one)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	cr_expect_eq(talk.entry->state, SOCKET_ASKED);
	reply_inside(&talk, first, FINE);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
}

Test(tls_session, in_which_a_status_is_a_failure_and_the_next_request_a_retry)
{
	struct talk talk = talk_inside();
	struct attempt try;

	ask_inside(&talk, first);
	reply_inside(&talk, first, BUSY);
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
	cr_expect_gt(talk.destination->budget.not_before, monotonic() + 5 * NS_PER_S);
	cr_assert(attempt_begin_request(&try, talk.host,
	                                tls_traffic_look(talk.host, ASK, strlen(ASK)), 0));
	cr_expect(try.trial.retry);
	attempt_start_request(&try);
	ask_inside(&talk, first);
	reply_inside(&talk, first, BUSY);
	cr_expect_eq(talk.destination->budget.streak, 2);
}

Test(tls_session, in_which_a_status_comes_in_pieces)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	for (const char *at = BUSY; *at; at++)
		tls_traffic_received(talk.host, at, 1);
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
	cr_expect_gt(talk.destination->budget.not_before, monotonic() + 5 * NS_PER_S);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
}

Test(tls_session, in_which_another_protocol_greets)
{
	struct talk talk = talk_inside();

	reply_inside(&talk, first, "* OK IMAP4rev1\r\n");
	EXPECT_SUCCESS(talk.destination);
	ask_inside(&talk, first);
	talk.destination->budget.streak = 2;
	reply_inside(&talk, first, "a OK\r\n");
	cr_expect_eq(talk.destination->budget.streak, 0);
}

Test(tls_session, that_nobody_wants_to_look_into)
{
	struct talk talk = talk_start();

	policy->tls = 0;
	shake_hands(&talk, first);
	cr_expect_eq(session_fd(first), -1);
	EXPECT_SUCCESS(talk.destination);
}

/* A library that the hooks do not see, as Java's: nobody is in a call of it. */
Test(tls_session, that_nobody_sees)
{
	struct talk talk = talk_start();

	shake_hands(&talk, NULL);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_not(talk.entry->traits & TRAIT_CARRIER);
}

Test(tls_session, that_ends_inside_its_handshake)
{
	struct talk talk = talk_start();
	const void *outer = session_enter(first);

	carry(&talk, HELLO);
	peer_hears(&talk);
	peer_closes(&talk);
	cr_expect_eq(host_recv(talk.host, 8, 0), 0);
	session_leave(outer);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* The peer's last word was an alert, and the program gave up without another read. */
Test(tls_session, that_its_peer_refuses)
{
	struct talk talk = talk_start();

	shake_hands(&talk, first);
	tls_traffic_close_notify(talk.host); /* of which the library sends nothing yet */
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* Where answers come soon: else a wait that the program ends says nothing. */
Test(tls_session, whose_handshake_hangs)
{
	struct talk talk = talk_start();

	talk.destination->answer_time = NS_PER_MS;
	shake_hands(&talk, first);
	usleep(1100000);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
}

Test(tls_session, that_was_only_kept_ready)
{
	struct talk talk = talk_inside();

	usleep(1100000);
	say_goodbye(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tls_session, that_was_only_kept_ready_until_its_peer_ended_it)
{
	struct talk talk = talk_inside();

	peer_closes(&talk);
	cr_expect_eq(host_recv(talk.host, 8, 0), 0);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

/* A shipper of log lines, which never reads. */
Test(tls_session, that_only_goes_one_way)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	usleep(1100000);
	say_goodbye(&talk);
	peer_hears(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

/* One that reads after each line, to see whether its peer has ended it. */
Test(tls_session, that_only_goes_one_way_and_is_looked_at)
{
	struct talk talk = talk_inside();
	struct account account;

	/* All is well: nobody asks whether it lives. */
	destination_account(talk.destination, config_current(), &account);
	bucket_start(account.process, account.process_rule, monotonic());
	bucket_start(&account.budget->bucket, &policy->bucket, monotonic());
	policy->min_life = 500 * NS_PER_MS;
	for (int i = 0; i < 2; i++) {
		ask_inside(&talk, first);
		wait_inside(&talk);
		usleep(1100000);
	}
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(tls_session, whose_first_request_comes_late_and_is_given_up_at_once)
{
	struct talk talk = talk_inside();

	usleep(1100000);
	ask_inside(&talk, first);
	wait_inside(&talk);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

/* The program waits in vain, says so and closes. */
static void give_up(struct talk *talk)
{
	wait_inside(talk);
	usleep(1100000);
	say_goodbye(talk);
	peer_hears(talk);
	host_close(talk->host);
}

Test(tls_session, whose_reply_the_host_waited_for_in_vain)
{
	struct talk talk = talk_inside();

	talk.destination->answer_time = NS_PER_MS;
	ask_inside(&talk, first);
	give_up(&talk);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
}

Test(tls_session, to_which_a_forked_child_says_goodbye)
{
	struct talk talk = talk_inside();
	pid_t child;

	ask_inside(&talk, first);
	wait_inside(&talk);
	usleep(1100000);
	child = fork();
	if (child == 0) {
		say_goodbye(&talk);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	EXPECT_NOTHING(talk.destination);
	reply_inside(&talk, first, FINE);
	EXPECT_SUCCESS(talk.destination);
}

/* Kept, and idle for long. */
static struct talk talk_after_a_pause(void)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	reply_inside(&talk, first, FINE);
	usleep(1100000);
	ask_inside(&talk, first);
	return talk;
}

Test(tls_session, whose_last_request_is_given_up_at_once)
{
	struct talk talk = talk_after_a_pause();

	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tls_session, whose_last_request_was_a_close_notify)
{
	struct talk talk = talk_after_a_pause();

	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tls_session, whose_last_request_is_waited_for_in_vain)
{
	struct talk talk = talk_after_a_pause();

	usleep(1100000);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_TIMEOUT);
}

/* HTTP/2: what was sent last acknowledged the peer's settings, or its ping. */
Test(tls_session, in_which_not_all_wants_an_answer)
{
	static const char settings[] = "\0\0\6\4\0\0\0\0\0\0\3\0\0\0\x64";
	struct talk talk = talk_inside();
	const void *outer;

	ask_inside(&talk, first);
	outer = session_enter(first);
	carry_in(&talk);
	session_leave(outer);
	tls_traffic_received(talk.host, settings, sizeof(settings) - 1);
	ask_inside(&talk, first);
	give_up(&talk);
	EXPECT_SUCCESS(talk.destination);
}

Test(tls_session, that_the_peer_ends_in_place_of_a_reply)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	wait_inside(&talk); /* what came ended the session in order */
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(tls_session, that_ends_idle)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	reply_inside(&talk, first, FINE);
	wait_inside(&talk);
	say_goodbye(&talk);
	peer_hears(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tls_session, whose_goodbye_is_no_request)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	reply_inside(&talk, first, FINE);
	say_goodbye(&talk);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
	peer_hears(&talk);
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tls_session, that_took_no_request_takes_it_again)
{
	struct talk talk = talk_inside();
	uint32_t fingerprint;

	ask_inside(&talk, first);
	reply_inside(&talk, first, FINE);
	fingerprint = exchange_begin(talk.host, 0);
	cr_assert_eq(fingerprint, TRAFFIC_BEGUN);
	tls_traffic_sent(talk.host, false, fingerprint);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
	talk.destination->budget.streak = 2;
	ask_inside(&talk, first);
	reply_inside(&talk, first, FINE);
	cr_expect_eq(talk.destination->budget.streak, 0);
}

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
	carry(&log, SEALED);
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
