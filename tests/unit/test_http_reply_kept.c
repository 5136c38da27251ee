/* SPDX-License-Identifier: MIT */
/* What a failed HTTP/1 reply makes of its connection. */
#include "http_reply_fixture.h"

/* New work on a connection that lives, which an open breaker throttles, replaces no lost one:
 * there is no address to park it for. */
Test(http_reply, makes_no_reconnect_of_a_request)
{
	struct policy *policy = (struct policy *)&config_current()->policies[0];
	struct talk talk = talk_start();
	int64_t now = monotonic();
	struct attempt try;

	policy->breaker.on = 1;
	policy->breaker.open = 3600 * NS_PER_S;
	policy->reconnect_spread = 3600 * NS_PER_S;
	policy->bounds_first = 1;
	policy->plain = 0;
	asks(&talk, ASK);
	replies(&talk, FINE, 64);
	fcntl(talk.host, F_SETFL, O_NONBLOCK);
	for (int i = 0; i <= SPREAD_MANY; i++)
		spread_lost(&talk.destination->spread, policy->reconnect_spread, now);
	cr_assert_gt(atomic_load(&talk.destination->spread.left), 0);
	atomic_store(&talk.destination->budget.breaker.state,
	             (now + 1800 * NS_PER_S) << 2 | 1); /* open */
	cr_assert(attempt_begin_request(&try, talk.host, 5, 0));
	cr_expect_not(try.trial.retry);
	cr_expect_not(pace(&try));
	cr_expect_eq(try.told, 0, "the host is to think that it went");
	cr_expect_eq(talk.entry->state, SOCKET_CUT);
}

/* Which rule says what this request is. It does not go. */
static const char *why(const struct talk *talk, const char *text)
{
	uint32_t fingerprint = traffic_look(talk->host, text, strlen(text));
	struct attempt try;

	if (!attempt_begin_request(&try, talk->host, fingerprint, 0))
		return "none";
	attempt_unanswered(&try, false, monotonic());
	return try.rule->name;
}

/* One request was answered; another failed twice: fingerprints are taken from the first failure on.
 */
static void fail_beside_an_answer(const struct talk *talk)
{
	asks(talk, ASK);
	replies(talk, FINE, 64);
	for (int i = 0; i < 2; i++) {
		asks(talk, OTHER);
		replies(talk, BUSY, 64);
	}
}

/* To refuse it would end its connection. */
Test(http_reply, a_repeat_is_not_worth_a_connection_where_most_is_answered)
{
	struct talk talk = talk_start();
	struct allowance *allowance = &talk.destination->budget.allowance;

	fail_beside_an_answer(&talk);
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "two failures, and nothing since");
	allowance_answered(allowance, monotonic());
	cr_expect_str_eq(why(&talk, OTHER), "kept");
	talk.destination->budget.barred = 1;
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "no failure is to be retried");
	talk.destination->budget.barred = 0;
	budget_retry_after(&(struct account) { .budget = &talk.destination->budget,
	                                       .policy = &config_current()->policies[0] },
	                   NS_PER_S, monotonic());
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "the server asks for a pause");
}

/* A long poll that ends by a status of failure when there is nothing: its server paces it. */
Test(http_reply, who_waits_a_second_for_each_failure_keeps_the_connection)
{
	struct talk talk = talk_start();

	fail_beside_an_answer(&talk);
	talk.destination->budget.allowance.answered_at = monotonic() - 3 * NS_PER_S;
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "failures come at once");
	talk.destination->failing_time = 3 * NS_PER_S / 2;
	cr_expect_str_eq(why(&talk, OTHER), "kept");
	talk.destination->budget.allowance.answered_at = monotonic() - 20 * NS_PER_S;
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "nothing is answered any more");
}

/* One that always fails is left after fifteen failures; that we refused it says nothing of it. */
Test(http_reply, what_always_fails_is_worth_its_connection_no_more)
{
	struct talk talk = talk_start();
	struct allowance *allowance = &talk.destination->budget.allowance;

	fail_beside_an_answer(&talk);
	allowance_answered(allowance, monotonic());
	for (int i = 0; i < 20; i++)
		cr_expect_str_eq(why(&talk, OTHER), "kept", "refused %d times", i);
	for (int i = 0; i < 15; i++)
		tries_ended(talk.entry->slot, false);
	cr_expect_str_eq(why(&talk, OTHER), "same-request");
}

/* A limiter tells each when to come again; who has waited so long is no storm. */
Test(http_reply, whose_time_has_come_is_invited)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	asks(&talk, ASK);
	replies(&talk, LATER, 64);
	cr_expect_str_eq(why(&talk, ASK), "same-request");
	talk.destination->budget.retry_after = NS_PER_MS;
	talk.destination->budget.not_before = monotonic();
	usleep(2000);
	cr_expect_str_eq(why(&talk, ASK), "invited");
}
