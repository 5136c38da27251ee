/* SPDX-License-Identifier: MIT */
/* What replies of name servers come to. */
#include "track_fixture.h"

#include "conn/datagram.h"
#include "conn/datagram_end.h"
#include "conn/dns.h"
#include "conn/datagrams.h"

TestSuite(dns, .init = start_shim);

static bool fails(unsigned char flags, unsigned char code, size_t n)
{
	unsigned char head[12] = { 1, 2, flags, code };
	struct iovec parts[] = { { head, 3 }, { head + 3, sizeof(head) - 3 } };
	struct iovec whole = { head, sizeof(head) };
	bool answer = dns_is_failure(&whole, 1, n);

	cr_expect_eq(dns_is_failure(parts, 2, n), answer);
	return answer;
}

Test(dns, servfail_and_refused_are_failures)
{
	cr_expect(fails(0x81, 0x82, 12));
	cr_expect(fails(0x81, 0x05, 12));
	cr_expect_not(fails(0x81, 0x80, 12), "no error");
	cr_expect_not(fails(0x81, 0x83, 12), "no such name");
	cr_expect_not(fails(0x81, 0x81, 12), "a format error");
	cr_expect_not(fails(0x01, 0x02, 12), "a question");
	cr_expect_not(fails(0x81, 0x82, 11), "no header");
	cr_expect_not(dns_is_failure(NULL, 0, 0));
	cr_expect_not(dns_is_failure(NULL, 0, 12), "nobody can look");
}

/* A question to this port, and a reply with this code. */
static struct destination *asked(int64_t port, unsigned char code)
{
	unsigned char head[12] = { 1, 2, 0x81, code };
	struct iovec part = { head, sizeof(head) };
	struct talk talk = talk_start();
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct sent_datagram sent = {
		.mark = 1,
		.at = monotonic(),
		.slot = destination_slot(talk.destination),
		.generation = (uint32_t)talk.destination->generation,
		.process = thread_process(),
		.owner = thread_id(),
		.number = 1,
	};
	socklen_t len = sizeof(sent.cookie);

	talk.destination->port = port;
	cr_assert_eq(getsockopt(fd, SOL_SOCKET, SO_COOKIE, &sent.cookie, &len), 0);
	datagrams_add(&sent);
	cr_expect_eq(datagram_received(fd, 12, 0, NULL, 0, &part, 1), 12);
	cr_expect(datagrams_none());
	close(fd);
	return talk.destination;
}

Test(dns, a_reply_is_judged_by_its_code)
{
	EXPECT_FAILED(asked(53, 2), FAILURE_STATUS);
}

Test(dns, no_such_name_is_a_success)
{
	EXPECT_SUCCESS(asked(53, 3));
}

Test(dns, on_other_ports_bytes_are_an_answer)
{
	EXPECT_SUCCESS(asked(5353, 2));
}
