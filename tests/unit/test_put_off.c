/* SPDX-License-Identifier: MIT */
/* Whom a server's Retry-After binds: what it was said of, and nothing else. */
#include "track_fixture.h"

#include "budget/budget_wait.h"
#include "dest/profile.h"

TestSuite(put_off, .init = start_shim);

#define PUT_OFF "HTTP/1.1 429 Later\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n"
#define SERVED  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

/* One request on a connection of its own, and its reply. */
static void asks(const struct server *server, const char *path, const char *reply)
{
	struct talk talk = talk_to(server);
	char request[64];

	snprintf(request, sizeof(request), "GET /%s HTTP/1.1\r\nHost: a\r\n\r\n", path);
	cr_assert_eq(host_send(talk.host, request), (ssize_t)strlen(request));
	peer_hears(&talk);
	peer_says(&talk, reply);
	host_recv(talk.host, 64, 0);
	close(talk.peer);
	host_close(talk.host);
}

/* True if the next connect does not wait for the moment that the server asked for; it is then
 * refused by us. */
static bool may_go(const struct server *server)
{
	struct attempt try;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool may;

	cr_assert(attempt_begin_connect(&try, fd, (const struct sockaddr *)&server->address,
	                                sizeof(server->address)));
	may =
	    try.rule->says != KIND_REPEAT || budget_retry_after_wait(&try.account, try.began) <= 0;
	attempt_unanswered(&try, false, monotonic());
	host_close(fd);
	return may;
}

Test(put_off, other_work_goes_on_where_as_much_was_answered_as_failed)
{
	struct server server = serve(8);

	asks(&server, "one", SERVED);
	asks(&server, "two", PUT_OFF);
	cr_expect(may_go(&server));
}

Test(put_off, where_nothing_was_answered_the_first_try_waits_as_well)
{
	struct server server = serve(8);

	asks(&server, "one", PUT_OFF);
	cr_expect_not(may_go(&server));
}

Test(put_off, within_tls_a_handshake_is_no_answer)
{
	struct server server = serve(8);

	asks(&server, "one", SERVED);
	asks(&server, "two", PUT_OFF);
	profile_carry(destination_at_port(&server));
	cr_expect_not(may_go(&server));
}

Test(put_off, of_what_answers_less_than_one_in_eight_all_waits)
{
	struct server server = serve(8);

	asks(&server, "one", SERVED);
	destination_at_port(&server)->tally.failures[FAILURE_STATUS] = 14;
	asks(&server, "two", PUT_OFF);
	cr_expect(may_go(&server), "one of fifteen is one in eight, rounded down");
	asks(&server, "one", SERVED);
	destination_at_port(&server)->tally.failures[FAILURE_STATUS] = 100;
	asks(&server, "three", PUT_OFF);
	cr_expect_not(may_go(&server));
}

/* After three tries in vain comes other work, and nothing tells it from the fourth. */
Test(put_off, who_was_refused_twice_goes_on_where_it_answers)
{
	struct server server = serve(8);

	for (int i = 0; i < 5; i++)
		asks(&server, "one", SERVED);
	for (int i = 0; i < 3; i++)
		asks(&server, "two", PUT_OFF);
	cr_expect_not(may_go(&server));
	cr_expect_not(may_go(&server));
	cr_expect(may_go(&server));
}

/* The fifth try of the one would take the leave of the work that follows it. */
Test(put_off, what_is_known_to_be_tried_again_waits_as_asked)
{
	struct server server = serve(8);

	for (int i = 0; i < 5; i++)
		asks(&server, "one", SERVED);
	for (int i = 0; i < 3; i++)
		asks(&server, "two", PUT_OFF);
	for (int i = 0; i < 2; i++)
		profile_tried_again(destination_at_port(&server), 5, true);
	cr_expect_not(may_go(&server));
	cr_expect_not(may_go(&server));
	cr_expect_not(may_go(&server), "two were refused, and it is known what comes");
	cr_expect(may_go(&server), "after six nothing is");
}

Test(put_off, a_thread_with_other_work_there_goes_on)
{
	struct server server = serve(8);
	struct destination *destination;

	for (int i = 0; i < 8; i++)
		asks(&server, "one", SERVED);
	for (int i = 0; i < 3; i++)
		asks(&server, "two", PUT_OFF);
	destination = destination_at_port(&server);
	cr_expect_not(may_go(&server));
	for (int i = 0; i < 8; i++)
		profile_new_ended(destination, true);
	profile_mixed(destination, thread_id(), monotonic());
	cr_expect(may_go(&server));
}

Test(put_off, that_tls_goes_there_changes_no_count)
{
	struct destination destination = { 0 };

	cr_expect_not(profile_carries(&destination));
	for (int i = 0; i < 40; i++)
		profile_new_ended(&destination, true);
	cr_expect_not(profile_carries(&destination));
	profile_carry(&destination);
	cr_expect(profile_carries(&destination));
	cr_expect(profile_answers_new(&destination));
	for (int i = 0; i < 40; i++)
		profile_new_ended(&destination, false);
	cr_expect(profile_carries(&destination));
	cr_expect_not(profile_answers_new(&destination));
}
