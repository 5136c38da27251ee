/* SPDX-License-Identifier: MIT */
/* What servers say that answer a connection only to refuse it. */
#include "conn/not_now.h"
#include "dest/answer_time.h"
#include "track_fixture.h"

#define SAID(text, ...) not_now_said(text, sizeof(text) - 1, (struct said_when) { __VA_ARGS__ })
#define SAYS(text)      SAID(text, .asked = true, .greets = true)
#define GREETS(text)    SAID(text, .greets = true)
#define TELLS(text)     SAID(text, .asked = false)
#define GIVES(text)     SAID(text, .asked = true)
#define AGREES(text)    SAID(text, .asked = true, .offered = true)
#define GOES_ON(text)   SAID(text, .asked = true, .offered = true, .agreed = true)

TestSuite(not_now, .init = start_shim);

Test(not_now, is_known_by_its_first_bytes)
{
	cr_expect_eq(SAYS("421 4.3.2 not now\r\n"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("421-4.3.2 not\r\n"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("554 no service\r\n"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("\x17\0\0\0\xff\x10\x04#08004Too many clients"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("E\0\0\0\x1bSFATAL\0C53300\0Mbusy\0\0"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("E\0\0\0\x1bSFATAL\0C57P03\0Mbusy\0\0"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("-ERR max number of clients reached\r\n"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("\x15\x03\x03\0\x02\x02\x50"), SAID_NOT_NOW);
}

Test(not_now, is_said_by_brokers_and_directories)
{
	cr_expect_eq(SAYS("\x20\x02\0\x03"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("\x20\x03\0\x89\0"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("-LOADING Redis is loading the dataset in memory\r\n"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("-CLUSTERDOWN The cluster is down\r\n"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x33\x04\0\x04\0"), SAID_NOT_NOW);
	cr_expect_eq(SAYS("\x30\x84\0\0\0\x10\x02\x01\0\x78\x84\0\0\0\x07\x0a\x01\x34\x04\0\x04\0"),
	             SAID_NOT_NOW, "as Active Directory writes lengths");
	cr_expect_eq(GREETS("451 4.3.0 try later\r\n"), SAID_NOT_NOW);
	cr_expect_eq(GREETS("400 service temporarily unavailable\r\n"), SAID_NOT_NOW);
}

Test(not_now, is_no_answer_that_looks_like_one)
{
	cr_expect_eq(SAYS("\x20\x02\0\0"), SAID_ANSWER, "a session");
	cr_expect_eq(SAYS("\x20\x02\0\x05"), SAID_ANSWER, "not authorized");
	cr_expect_eq(SAYS("\x20\x09\0\0\x06"), SAID_ANSWER, "with properties");
	cr_expect_eq(SAYS("  \0\x03 text"), SAID_ANSWER);
	cr_expect_eq(GREETS("\x20\x02\0\x03"), SAID_ANSWER, "nobody has asked");
	cr_expect_eq(SAYS("-LOADINGS"), SAID_ANSWER);
	cr_expect_eq(SAYS("-BUSY a script runs\r\n"), SAID_ANSWER);
	cr_expect_eq(SAYS("$9\r\n-LOADING \r\n"), SAID_ANSWER, "a value");
	cr_expect_eq(SAYS("\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x31\x04\0\x04\0"), SAID_ANSWER,
	             "a wrong password");
	cr_expect_eq(SAYS("\x30\x0c\x02\x01\x01\x65\x07\x0a\x01\x33\x04\0\x04\0"), SAID_ANSWER,
	             "the end of a search");
	cr_expect_eq(SAYS("0123456789"), SAID_ANSWER, "0 is where a message of LDAP begins");
	cr_expect_eq(SAYS("451 4.7.1 greylisted\r\n"), SAID_ANSWER, "within a conversation");
	cr_expect_eq(GREETS("451 "), SAID_ANSWER);
	cr_expect_eq(GREETS("45 1\r\n"), SAID_ANSWER);
	cr_expect_eq(GREETS("451\r\n"), SAID_ANSWER, "a number");
	cr_expect_eq(TELLS("451 mV\r\n"), SAID_ANSWER, "a reading");
	cr_expect_eq(GIVES("421 jobs\r\n"), SAID_ANSWER, "what was asked for");
	cr_expect_eq(GIVES("554-1\r\n"), SAID_ANSWER);
	cr_expect_eq(TELLS("421 4.3.2 not now\r\n"), SAID_NOT_NOW);
}

Test(not_now, is_said_by_a_proxy_for_what_it_cannot_reach)
{
	cr_expect_eq(AGREES("\x05\0"), SAID_GO_ON);
	cr_expect_eq(AGREES("\x05\x02"), SAID_GO_ON, "it wants a password");
	cr_expect_eq(GIVES("\x05\0"), SAID_ANSWER, "none was offered");
	cr_expect_eq(GOES_ON("\x01\0"), SAID_GO_ON, "which is right");
	cr_expect_eq(AGREES("\x05\xff"), SAID_ANSWER, "no method");
	cr_expect_eq(GOES_ON("\x01\x01"), SAID_ANSWER, "a wrong password");
	cr_expect_eq(GOES_ON("\x05\0"), SAID_ANSWER, "once");
	cr_expect_eq(GOES_ON("\x05\x05\0"), SAID_NOT_NOW);
	cr_expect_eq(GOES_ON("\x05\x01\0\x01\0\0\0\0\0\0"), SAID_NOT_NOW);
	cr_expect_eq(GOES_ON("\x05\0\0\x01\0\0\0\0\0\0"), SAID_ANSWER);
	cr_expect_eq(GOES_ON("\x05\x02\0\x01\0\0\0\0\0\0"), SAID_ANSWER, "forbidden");
	cr_expect_eq(GOES_ON("\x05\x07\0\x01\0\0\0\0\0\0"), SAID_ANSWER, "not supported");
	cr_expect_eq(AGREES("\x05\x05\0\x01\0\0\0\0\0\0"), SAID_ANSWER, "nothing was agreed on");
}

Test(not_now, is_not_what_looks_like_one)
{
	cr_expect_eq(SAYS("4210"), SAID_ANSWER);
	cr_expect_eq(SAYS("421"), SAID_ANSWER);
	cr_expect_eq(SAYS("220 welcome\r\n"), SAID_ANSWER);
	cr_expect_eq(SAYS("\x4a\0\0\0\x0a"
	                  "8.0.33"),
	             SAID_ANSWER, "a greeting of MySQL");
	cr_expect_eq(SAYS("\x17\0\0\1\xff\x10\x04#08004"), SAID_ANSWER, "a later packet");
	cr_expect_eq(SAYS("E\0\0\0\x1bSFATAL\0C28P01\0Mpassword\0\0"), SAID_ANSWER);
	cr_expect_eq(SAYS("-ERR unknown command\r\n"), SAID_ANSWER);
	cr_expect_eq(SAYS("\x16\x03\x03\0\x02\x02\x50"), SAID_ANSWER, "a handshake");
	cr_expect_eq(SAYS("N"), SAID_NOTHING);
	cr_expect_eq(SAYS("NO"), SAID_ANSWER);
}

Test(not_now, reads_no_byte_beyond)
{
	uint64_t random = 3;

	for (int i = 0; i < 100000; i++) {
		char bytes[24], *copy;
		size_t n = 1 + random_next(&random) % sizeof(bytes);

		for (size_t b = 0; b < n; b++)
			bytes[b] = (char)random_next(&random);
		bytes[0] = "4\025E-5\x20\x30\x05"[random_next(&random) % 8];
		copy = malloc(n); /* of that very size: AddressSanitizer watches its end */
		memcpy(copy, bytes, n);
		not_now_said(copy, n,
		             (struct said_when) { i % 2, i % 4 < 2, i % 16 < 8, i % 8 < 4 });
		free(copy);
	}
}

Test(not_now, is_a_failure_and_not_an_answer)
{
	struct talk talk = talk_start();

	host_hears(&talk, "421 4.3.2 not now\r\n");
	cr_expect_eq(talk.destination->tally.failures[FAILURE_STATUS], 1);
	cr_expect_eq(talk.destination->tally.successes, 0);
	peer_closes(&talk);
	host_recv(talk.host, 64, 0);
	host_close(talk.host);
	cr_expect_eq(failures_in(&talk.destination->tally), 1, "counted once");
}

Test(not_now, of_postgres_comes_after_it_agreed_to_go_on_without_tls)
{
	static const char busy[] = "E\0\0\0\x1bSFATAL\0C53300\0Mbusy\0\0";
	struct talk talk = talk_start();

	host_send(talk.host, "may we speak TLS?");
	host_hears(&talk, "N");
	cr_expect_eq(talk.destination->tally.successes, 0);
	host_send(talk.host, "start");
	cr_assert_eq(send(talk.peer, busy, sizeof(busy) - 1, 0), (ssize_t)sizeof(busy) - 1);
	cr_assert_gt(host_recv(talk.host, 64, 0), 0);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_STATUS], 1);
}

/* One connection through a SOCKS proxy to a host with this number. code: what the proxy says. True
 * if it was taken for a retry once that was known. */
static bool ask_proxy(const struct server *server, char host, char code)
{
	const char request[] = { 5, 1, 0, 1, 10, 0, 0, host, 0, 80 };
	const char reply[] = { 5, code, 0, 1, 0, 0, 0, 0, 0, 0 };
	struct talk talk = talk_to(server);
	bool is_retry;

	host_send_bytes(talk.host, "\x05\x01\0", 3);
	peer_hears(&talk);
	cr_assert_eq(send(talk.peer, "\x05\0", 2, 0), 2);
	cr_assert_eq(host_recv(talk.host, 2, 0), 2);
	host_send_bytes(talk.host, request, sizeof(request));
	peer_hears(&talk);
	is_retry = talk.entry->traits & TRAIT_RETRY;
	cr_assert_eq(send(talk.peer, reply, sizeof(reply), 0), (ssize_t)sizeof(reply));
	cr_assert_eq(host_recv(talk.host, sizeof(reply), 0), (ssize_t)sizeof(reply));
	peer_closes(&talk);
	host_close(talk.host);
	return is_retry;
}

/* Which target it was for is known once that is asked for: another is other work. */
Test(not_now, of_a_proxy_is_of_the_target_that_was_asked_for)
{
	struct server server = serve(8);
	struct destination *proxy;

	ask_proxy(&server, 1, 5); /* requests are read from the first failure on */
	cr_expect(ask_proxy(&server, 1, 5));
	cr_expect_not(ask_proxy(&server, 2, 0));
	cr_expect(ask_proxy(&server, 1, 5), "the same again");
	proxy = destination_at_port(&server);
	EXPECT_COUNTED(proxy, 1, 3, FAILURE_STATUS);
	cr_expect_eq(proxy->tally.mistaken, 1);
	cr_expect_not(answer_time_converses(proxy), "a tunnel is no conversation");
}

Test(not_now, is_offered_by_a_client_of_a_proxy_alone)
{
	cr_expect(not_now_is_offer("\x05\x01\0", 3));
	cr_expect(not_now_is_offer("\x05\x02\0\x02", 4));
	cr_expect(not_now_is_offer("\x05\x04\0\1\2\x80", 6));
	cr_expect_not(not_now_is_offer("\x05\0", 2), "no method");
	cr_expect_not(not_now_is_offer("\x05\x01", 2));
	cr_expect_not(not_now_is_offer("\x05\x02\0", 3));
	cr_expect_not(not_now_is_offer("\x05\x01\0\0", 4));
	cr_expect_not(not_now_is_offer("\x04\x01\0", 3));
	cr_expect_not(not_now_is_offer("ask", 3));
}

/* One request, the two bytes of the answer that a program reads first, and the rest of it. */
static void asks_with_lengths(struct talk *talk, const char *request, size_t n)
{
	cr_assert_eq(host_send_bytes(talk->host, request, n), (ssize_t)n);
	peer_hears(talk);
	cr_assert_eq(send(talk->peer, "\x05\0hello", 7, 0), 7);
	cr_assert_eq(host_recv(talk->host, 2, 0), 2);
	cr_assert_eq(host_recv(talk->host, 5, 0), 5);
	peer_closes(talk);
	host_recv(talk->host, 2, 0);
	host_close(talk->host);
}

/* The length of an answer, the low byte first, looks like the method that a proxy agrees to. */
Test(not_now, an_answer_may_begin_with_its_length)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);

	asks_with_lengths(&talk, "what is next?", 13);
	talk = talk_to(&server);
	asks_with_lengths(&talk, "ask", 3);
	talk = talk_to(&server);
	asks_with_lengths(&talk, "\x01\0g", 3);
	EXPECT_COUNTED(talk.destination, 3, 0, FAILURE_NONE);
}

/* Not by who has spoken first, as a proxy does not. */
Test(not_now, of_a_proxy_is_said_after_no_other_greeting)
{
	struct talk talk = talk_start();

	peer_says(&talk, "ready");
	cr_assert_eq(host_recv(talk.host, 64, 0), 5);
	host_asks(&talk, "what is next?");
	cr_assert_eq(send(talk.peer, "\x05\x01\0\1\2\3\4\5", 8, 0), 8);
	cr_assert_eq(host_recv(talk.host, 64, 0), 8);
	cr_expect_eq(failures_in(&talk.destination->tally), 0);
}

/* What a connection begins with tells who speaks there, and not what comes later. */
Test(not_now, of_a_proxy_is_offered_at_the_beginning)
{
	struct talk talk = talk_start();

	host_send(talk.host, "GET ");
	host_send_bytes(talk.host, "\x05\x01\0", 3);
	peer_hears(&talk);
	cr_assert_eq(send(talk.peer, "\x05\0", 2, 0), 2);
	cr_assert_eq(host_recv(talk.host, 2, 0), 2);
	EXPECT_SUCCESS(talk.destination);
}

Test(not_now, is_looked_for_in_the_first_bytes_alone)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	host_hears(&talk, "250 well\r\n");
	host_send(talk.host, "ask");
	host_hears(&talk, "554 no such user\r\n");
	cr_expect_eq(failures_in(&talk.destination->tally), 0);
}

/* A reply 4yz to a recipient is an answer of a server that is well. */
Test(not_now, of_mail_is_no_reply_within_a_conversation)
{
	struct talk talk = talk_start();

	host_hears(&talk, "220 welcome\r\n");
	host_asks(&talk, "RCPT TO:<a@b>\r\n");
	host_hears(&talk, "451 4.7.1 greylisted\r\n");
	cr_expect_eq(failures_in(&talk.destination->tally), 0);
}

/* A server whose reply to a question is a line with a number serves, whatever the number. */
Test(not_now, an_answer_may_begin_with_a_number)
{
	struct server server = serve(8);
	struct destination *destination = NULL;

	for (int i = 0; i < 3; i++) {
		struct talk talk = talk_to(&server);

		destination = talk.destination;
		host_asks(&talk, "count\r\n");
		host_hears(&talk, i == 1 ? "554 jobs\r\n" : "421 jobs\r\n");
		host_close(talk.host);
	}
	EXPECT_COUNTED(destination, 3, 0, FAILURE_NONE);
}

/* After a greeting it refuses: the first server that ever does need not be known by its port. */
Test(not_now, of_mail_comes_after_its_greeting_too)
{
	struct talk talk = talk_start();

	host_hears(&talk, "220 welcome\r\n");
	host_asks(&talk, "EHLO a\r\n");
	host_hears(&talk, "421 4.3.2 not now\r\n");
	cr_expect_eq(talk.destination->tally.failures[FAILURE_STATUS], 1);
}

/* Nor is that it ends the conversation in order, with whom it has refused. */
Test(not_now, an_orderly_end_is_no_answer)
{
	struct talk talk = talk_start();

	talk.destination->converses = 1;
	host_hears(&talk, "451 4.3.0 try later\r\n");
	host_asks(&talk, "QUIT\r\n");
	host_hears(&talk, "221 2.0.0 Bye\r\n");
	EXPECT_COUNTED(talk.destination, 0, 1, FAILURE_STATUS);
	host_asks(&talk, "EHLO a\r\n");
	host_hears(&talk, "250 a\r\n");
	cr_expect_eq(talk.destination->budget.streak, 0);
}
