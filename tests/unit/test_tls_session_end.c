/* SPDX-License-Identifier: MIT */
/* How TLS sessions end, and what was asked last in them. */
#include "tls_fixture.h"

Test(tls_session, that_was_only_kept_ready)
{
	struct talk talk = talk_inside();

	usleep(1100000);
	send_close_notify(&talk);
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
	send_close_notify(&talk);
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
	bucket_start(&account.budget->bucket, &policy_of_all()->bucket, monotonic());
	policy_of_all()->min_life = 500 * NS_PER_MS;
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
	send_close_notify(talk);
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

Test(tls_session, on_which_a_forked_child_sends_its_close_notify)
{
	struct talk talk = talk_inside();
	pid_t child;

	ask_inside(&talk, first);
	wait_inside(&talk);
	usleep(1100000);
	child = fork();
	if (child == 0) {
		send_close_notify(&talk);
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
	send_close_notify(&talk);
	peer_hears(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tls_session, whose_close_notify_is_no_request)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	reply_inside(&talk, first, FINE);
	send_close_notify(&talk);
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
