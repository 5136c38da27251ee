/* SPDX-License-Identifier: MIT */
/* First try or retry? Ways of healthy programs that look like a retry, and of storms that do not.
 */
#include "track_fixture.h"

#include "pace/pace.h"
#include "conn/settle.h"
#include "config/current.h"

#include <netdb.h>
#include <sys/wait.h>

TestSuite(guess, .init = start_shim);

/* A name with two addresses: nobody listens on 127.0.0.2, the server is on 127.0.0.1. */
static struct server dead_half(const struct server *server)
{
	struct server dead = *server;
	struct sockaddr_in both[2] = { server->address, server->address };
	struct addrinfo list[2] = {
		{ .ai_addr = (struct sockaddr *)&both[0], .ai_addrlen = sizeof(both[0]) },
		{ .ai_addr = (struct sockaddr *)&both[1], .ai_addrlen = sizeof(both[1]) },
	};

	both[0].sin_addr.s_addr = dead.address.sin_addr.s_addr = htonl(0x7f000002);
	list[0].ai_next = &list[1];
	names_learn("two.test", list);
	return dead;
}

static int64_t retries(void)
{
	return shim_region->tally.retries;
}

/* A request and its reply, or -1. */
static int ask(const struct server *server)
{
	struct talk talk = { .host = socket(AF_INET, SOCK_STREAM, 0) };
	int ok = host_connect(talk.host, server);

	if (ok == 0) {
		talk.peer = accept(server->fd, NULL, NULL);
		host_asks(&talk, "ask");
		peer_says(&talk, "well");
		cr_assert_eq(host_recv(talk.host, 8, 0), 4);
		close(talk.peer);
	}
	host_close(talk.host);
	return ok;
}

Test(guess, the_next_address_of_a_name_is_no_retry)
{
	struct server server = serve(8), dead = dead_half(&server);

	for (int i = 0; i < 40; i++) {
		cr_assert_eq(ask(&dead), -1);
		cr_assert_eq(ask(&server), 0);
	}
	cr_assert_eq(retries(), 0, "one after the other: %d", (int)retries());
	for (int i = 0; i < 40; i++)
		cr_assert_eq(ask(&dead), -1); /* as many at once do */
	for (int i = 0; i < 40; i++)
		cr_assert_eq(ask(&server), 0);
	cr_assert_eq(retries(), 0, "many at once: %d", (int)retries());
}

/* Happy eyeballs (RFC 8305) begin the next address before the first is known to have failed. */
Test(guess, addresses_tried_side_by_side_are_no_retries)
{
	struct server server = serve(64), dead = dead_half(&server);

	cr_assert_eq(ask(&dead), -1);
	for (int i = 0; i < 40; i++)
		cr_assert_eq(host_connect(socket(AF_INET, SOCK_STREAM, 0), &server), 0);
	cr_assert_eq(retries(), 0, "%d", (int)retries());
}

Test(guess, both_addresses_dead_are_retried)
{
	struct server server = serve(-1), dead = dead_half(&server);

	for (int i = 0; i < 10; i++) {
		cr_assert_eq(ask(&dead), -1);
		cr_assert_eq(ask(&server), -1);
	}
	cr_assert_eq(retries(), 18, "all but the first two: %d", (int)retries());
}

Test(guess, one_way_inflow_is_no_excuse_but_a_request_is)
{
	struct server dead = serve(-1);
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	socket_created(ends[0], WATCH_SERVER); /* as accept does */
	for (int i = 0; i < 10; i++) {
		cr_assert_eq(write(ends[1], "line", 4), 4);
		cr_assert_eq(host_recv(ends[0], 4, 0), 4);
		cr_assert_eq(ask(&dead), -1);
	}
	cr_assert_eq(retries(), 9, "a stream of lines: %d", (int)retries());
	for (int i = 0; i < 10; i++) {
		cr_assert_eq(host_send(ends[0], "reply"), 5);
		cr_assert_eq(write(ends[1], "more", 4), 4);
		cr_assert_eq(host_recv(ends[0], 4, 0), 4);
		cr_assert_eq(ask(&dead), -1);
	}
	cr_assert_eq(retries(), 9, "requests after replies: %d", (int)retries());
}

Test(guess, a_forked_child_that_closes_tells_nothing)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);
	pid_t child;

	host_send(talk.host, "ask");
	atomic_store(&talk.entry->since, monotonic() - 5 * NS_PER_S);
	usleep(1100000);
	child = fork();
	if (child == 0) {
		host_close(talk.host);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	cr_assert_eq(talk.destination->tally.failures[FAILURE_TIMEOUT], 0);
	cr_assert_eq(talk.destination->tally.successes, 0);
}

Test(guess, an_ipv6_lookup_without_an_answer_is_no_failure)
{
	struct addrinfo hints = { .ai_family = AF_INET6 };
	struct attempt try;

	for (int i = 0; i < 5; i++) {
		hints.ai_family = AF_INET6;
		cr_assert(attempt_begin_lookup(&try, "v4only.test", &hints));
		attempt_settle_lookup(&try, EAI_NONAME);
		hints.ai_family = AF_INET;
		cr_assert(attempt_begin_lookup(&try, "v4only.test", &hints));
		attempt_settle_lookup(&try, 0);
	}
	cr_assert_eq(retries(), 0);
}

Test(guess, that_there_is_no_such_name_is_an_answer)
{
	struct addrinfo hints = { .ai_family = AF_INET };
	struct attempt try;

	for (int i = 0; i < 5; i++) {
		cr_assert(attempt_begin_lookup(&try, "missing.test", &hints));
		attempt_settle_lookup(&try, EAI_NONAME);
	}
	cr_assert_eq(retries(), 0);
	cr_assert_eq(try.trial.destination->tally.failures[FAILURE_LOOKUP], 0);
	for (int i = 0; i < 5; i++) {
		cr_assert(attempt_begin_lookup(&try, "missing.test", &hints));
		attempt_settle_lookup(&try, EAI_AGAIN);
	}
	cr_assert_eq(retries(), 4);
}

Test(guess, that_a_name_has_no_such_address_ends_a_streak)
{
	static const int nothing[] = { EAI_NODATA, EAI_ADDRFAMILY, EAI_NONAME };
	struct addrinfo hints = { .ai_family = AF_INET6 };
	struct attempt try;

	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			cr_assert(attempt_begin_lookup(&try, "v4only.test", &hints));
			attempt_settle_lookup(&try, EAI_AGAIN);
		}
		cr_assert_gt(try.account.budget->streak, 0);
		cr_assert(attempt_begin_lookup(&try, "v4only.test", &hints));
		attempt_settle_lookup(&try, nothing[i]);
		cr_assert_eq(try.account.budget->streak, 0, "%d", nothing[i]);
	}
}

/* The wait is shorter than the shortest backoff, every time: only the probe lets it through. */
Test(guess, a_caller_with_a_short_timeout_is_not_locked_out)
{
	struct server dead = serve(-1);
	struct policy *policy = (struct policy *)&config_current()->policies[0];
	struct timeval timeout = { .tv_usec = 20000 };
	int admitted = 0;

	policy->backoff = (struct backoff_rule) {
		.base = NS_PER_S, .factor = 1000, .cap = NS_PER_S, .jitter = JITTER_NONE
	};
	policy->probe = 300 * NS_PER_MS;
	cr_assert_eq(ask(&dead), -1);
	for (int64_t until = monotonic() + 2 * NS_PER_S; monotonic() < until;) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		struct attempt try;

		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
		cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&dead.address,
		                                sizeof(dead.address)));
		if (pace(&try)) {
			admitted++;
			attempt_start(&try);
			attempt_settle(&try, connect(fd, (struct sockaddr *)&dead.address,
			                             sizeof(dead.address)));
		}
		host_close(fd);
	}
	cr_assert(admitted >= 2 && admitted <= 8, "%d", admitted);
}
