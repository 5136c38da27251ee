/* SPDX-License-Identifier: MIT */
/* A rate for all attempts at a destination, first tries too. */
#include "track_fixture.h"

#define TOKENS(n) ((int64_t)(n)*MT_PER_TOKEN)

#include "config/current.h"
#include "conn/settle.h"
#include "pace/pace.h"

#include <sys/wait.h>

TestSuite(rate, .init = start_shim);

static struct policy *bounded(int64_t rate, int64_t burst)
{
	struct policy *policy = (struct policy *)&config_current()->policies[0];

	policy->rate = rate;
	policy->burst = burst;
	policy->bounds_first = rate > 0;
	policy->plain = 0;
	policy->hold = 0;
	return policy;
}

/* Of so many connects those that work. The last refusal's errno is left. */
static int connects(const struct server *server, int number, int flags)
{
	const struct sockaddr *to = (const struct sockaddr *)&server->address;
	int went = 0;

	for (int i = 0; i < number; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
		struct attempt try;

		cr_assert(attempt_begin_connect(&try, fd, to, sizeof(server->address)));
		if (pace(&try)) {
			attempt_start(&try);
			attempt_settle(&try, connect(fd, to, sizeof(server->address)));
			went++;
		} else {
			cr_expect_eq(try.told, flags ? EINPROGRESS : ECONNREFUSED);
		}
		host_close(fd);
	}
	return went;
}

Test(rate, without_one_all_go)
{
	struct server server = serve(64);

	cr_expect_eq(connects(&server, 20, 0), 20);
}

Test(rate, bounds_first_tries)
{
	struct server server = serve(64);

	bounded(500, 3000); /* one in two seconds */
	cr_expect_eq(connects(&server, 20, 0), 3);
	cr_expect_eq(destination_at_port(&server)->tally.refused, 17);
	cr_expect_eq(destination_at_port(&server)->budget.streak, 0, "nothing has failed");
	bounded(0, 3000);
	cr_expect_eq(connects(&server, 20, 0), 20, "and none is held against anybody");
}

Test(rate, bounds_what_must_not_wait)
{
	struct server server = serve(64);

	bounded(500, 3000);
	cr_expect_eq(connects(&server, 10, SOCK_NONBLOCK), 3);
}

Test(rate, holds_who_may_go_in_a_moment)
{
	struct server server = serve(64);

	bounded(TOKENS(200), 1000)->hold = 50 * NS_PER_MS; /* one in 5 ms */
	cr_expect_eq(connects(&server, 10, 0), 10);
	cr_expect_gt(destination_at_port(&server)->tally.held, 0);
}

Test(rate, takes_no_token_of_a_retry_that_it_refuses)
{
	struct server server = serve(-1);
	struct destination *destination;
	int64_t before;

	connects(&server, 1, 0);
	destination = destination_at_port(&server);
	bounded(500, 1000);
	connects(&server, 1, 0);
	before = bucket_peek(&destination->budget.bucket, &config_current()->policies[0].bucket);
	connects(&server, 10, 0);
	cr_expect_geq(
	    bucket_peek(&destination->budget.bucket, &config_current()->policies[0].bucket),
	    before);
}

Test(rate, of_starts_is_spread_once_a_process)
{
	struct policy *policy = bounded(0, 1000);
	struct server server = serve(64);
	int64_t began;

	policy->start_spread = 10 * NS_PER_S;
	policy->start_burst = 1;
	policy->bounds_first = 1;
	policy->plain = 0;
	connects(&server, 1, 0);
	cr_expect_eq(destination_at_port(&server)->tally.held, 0, "one may go");
	for (int i = 0; i < 3; i++) { /* of which none starts */
		began = monotonic();
		connects(&server, 1, 0);
		cr_expect_lt(monotonic() - began, NS_PER_S);
	}
	policy->start_spread = 20 * NS_PER_MS;
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();

		if (child == 0) {
			connects(&server, 2, 0);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	/* Of what comes in one second all but one; on the edge of two there is one more. */
	cr_expect(destination_at_port(&server)->tally.held >= 3 &&
	              destination_at_port(&server)->tally.held <= 5,
	          "%d", (int)destination_at_port(&server)->tally.held);
}
