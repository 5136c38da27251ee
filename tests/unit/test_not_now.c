/* SPDX-License-Identifier: MIT */
/* What servers say that answer a connection only to refuse it. */
#include "conn/not_now.h"
#include "track_fixture.h"

#define SAYS(text) not_now_said(text, sizeof(text) - 1)

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
		bytes[0] = "4\025E-5"[random_next(&random) % 5];
		copy = malloc(n); /* of that very size: AddressSanitizer watches its end */
		memcpy(copy, bytes, n);
		not_now_said(copy, n);
		free(copy);
	}
}

Test(not_now, is_a_failure_and_not_an_answer)
{
	struct talk talk = talk_start();

	peer_says(&talk, "421 4.3.2 not now\r\n");
	cr_assert_gt(host_recv(talk.host, 64, 0), 0);
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
	peer_says(&talk, "N");
	cr_assert_gt(host_recv(talk.host, 64, 0), 0);
	cr_expect_eq(talk.destination->tally.successes, 0);
	host_send(talk.host, "start");
	cr_assert_eq(send(talk.peer, busy, sizeof(busy) - 1, 0), (ssize_t)sizeof(busy) - 1);
	cr_assert_gt(host_recv(talk.host, 64, 0), 0);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_STATUS], 1);
}

Test(not_now, is_looked_for_in_the_first_bytes_alone)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	peer_says(&talk, "250 well\r\n");
	cr_assert_gt(host_recv(talk.host, 64, 0), 0);
	host_send(talk.host, "ask");
	peer_says(&talk, "554 no such user\r\n");
	cr_assert_gt(host_recv(talk.host, 64, 0), 0);
	cr_expect_eq(failures_in(&talk.destination->tally), 0);
}
