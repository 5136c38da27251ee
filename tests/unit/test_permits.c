/* SPDX-License-Identifier: MIT */
/* Every way in which a probe ends gives back its permit, once its outcome is counted. */
#include "flight_fixture.h"

#include "report/record.h"
#include "report/report.h"

TestSuite(permits, .init = start_counting);

/* Half-opens the breaker of a destination. Its open time is spent: the clock may have begun a
 * moment ago.
 */
static void wear_out(struct destination *destination)
{
	struct breaker_rule brief = policy->breaker;
	uint64_t random = 1;

	brief.open = NS_PER_MS;
	for (int i = 0; i < brief.failures; i++)
		breaker_failed(&destination->budget.breaker, &brief, false, monotonic(), &random);
	cr_assert(!breaker_is_closed(&destination->budget.breaker));
	usleep(2000);
}

Test(permits, a_probe_that_is_answered_closes_the_breaker)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);

	wear_out(talk.destination);
	talk.host = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(let_go(&server, false, talk.host), 0);
	cr_expect_eq(permits(talk.destination), 1);
	talk.peer = accept(server.fd, NULL, NULL);
	one_exchange(&talk);
	cr_expect_eq(permits(talk.destination), 0);
	cr_expect(breaker_is_closed(&talk.destination->budget.breaker));
}

Test(permits, a_probe_that_fails_opens_it_again)
{
	struct server server = serve(-1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct destination *destination;
	enum breaker_change change;

	host_connect(fd, &server);
	destination = destination_at_port(&server);
	wear_out(destination);
	cr_assert_eq(let_go(&server, false, fd), -1);
	cr_expect_eq(permits(destination), 0);
	cr_expect_eq(
	    breaker_ask(&destination->budget.breaker, &policy->breaker, monotonic(), &change),
	    BREAKER_HOLD);
}

static struct destination *probed;
static int64_t permits_in_record;

static ssize_t look_at_permits(int fd, const struct msghdr *message, int flags)
{
	(void)fd, (void)message, (void)flags;
	permits_in_record = permits(probed);
	errno = ENOENT;
	return -1;
}

static void watch_records(struct destination *destination)
{
	static const struct log_settings settings = { .target = LOG_TARGET_SYSLOG,
		                                      .socket = "/nowhere" };

	probed = destination;
	permits_in_record = -1;
	report_settings(&settings, shim_region);
	real.sendmsg = look_at_permits;
}

/* Until then the breaker is half open, and whoever comes would get the permit. */
Test(permits, a_probe_that_fails_keeps_its_permit_until_that_is_counted)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	wear_out(talk.destination);
	talk.host = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(let_go(&server, false, talk.host), 0);
	talk.peer = accept(server.fd, NULL, NULL);
	watch_records(talk.destination);
	close(talk.peer);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	cr_expect_eq(permits_in_record, 1, "dropped");
	cr_expect_eq(permits(talk.destination), 0);

	close(server.fd);
	talk.destination->budget.breaker = (struct breaker) { 0 };
	wear_out(talk.destination);
	permits_in_record = -1;
	cr_assert_eq(let_go(&server, false, fd), -1);
	cr_expect_eq(permits_in_record, 1, "refused");
	cr_expect_eq(permits(talk.destination), 0);
}

/* Of a connect that is asked about by another. */
Test(permits, a_probe_that_is_asked_about_keeps_its_permit_until_its_failure_is_counted)
{
	struct server server = serve(-1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct destination *destination;

	host_connect(fd, &server);
	destination = destination_at_port(&server);
	wear_out(destination);
	fd = nonblocking_socket();
	cr_assert_eq(let_go(&server, false, fd), -1);
	until_over(fd);
	watch_records(destination);
	cr_assert_eq(host_connect(fd, &server), -1);
	cr_expect_eq(errno, ECONNREFUSED);
	cr_expect_eq(permits_in_record, 1);
	cr_expect_eq(permits(destination), 0);
}

/* The answer may still come, but what the breaker wanted to know it knows. */
Test(permits, a_probe_that_times_out_gives_its_permit_back_once_that_is_counted)
{
	const struct timeval bound = { .tv_usec = 10000 };
	struct server server = serve(8);
	struct talk talk = talk_to(&server);

	wear_out(talk.destination);
	talk.host = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(let_go(&server, false, talk.host), 0);
	talk.entry = socket_at(talk.host);
	setsockopt(talk.host, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof(bound));
	watch_records(talk.destination);
	back_date(&talk, 1500);
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_TIMEOUT], 1);
	cr_expect_eq(permits_in_record, 1);
	cr_expect_eq(permits(talk.destination), 0);
}

Test(permits, a_probe_without_an_outcome_gives_its_permit_back)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);

	wear_out(talk.destination);
	talk.host = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(let_go(&server, false, talk.host), 0);
	host_close(talk.host);
	cr_expect_eq(permits(talk.destination), 0);
	cr_expect(!breaker_is_closed(&talk.destination->budget.breaker));
}
