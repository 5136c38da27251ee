/* SPDX-License-Identifier: MIT */
/* What is asked of the kernel when a connection ends whose reply no hook saw. */
#include "track_fixture.h"

#include "conn/settle.h"

#include <sys/syscall.h>

TestSuite(unseen_end, .init = start_shim);

/* One conversation, read by a call that is not seen. */
static void converse(const struct server *server)
{
	struct talk talk = talk_to(server);
	char bytes[8];

	cr_assert_eq(host_send(talk.host, "word\n"), 5);
	peer_hears(&talk);
	peer_says(&talk, "done");
	cr_assert_eq(syscall(SYS_read, talk.host, bytes, sizeof(bytes)), 4);
	host_close(talk.host);
}

static void fails(const struct server *server)
{
	struct talk talk = talk_to(server);

	cr_assert_eq(host_send(talk.host, "word\n"), 5);
	peer_hears(&talk);
	host_is_left(&talk);
	host_close(talk.host);
}

/* That it changes nothing is remembered for as long as nothing fails, and no longer. */
Test(unseen_end, a_success_counts_again_after_a_failure)
{
	struct server server = serve(8);
	const struct budget *budget;

	converse(&server);
	budget = &destination_at_port(&server)->budget;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++)
			converse(&server);
		fails(&server);
		cr_expect_eq(budget->streak, 1, "round %d: %d", round, (int)budget->streak);
		converse(&server);
		cr_expect_eq(budget->streak, 0, "round %d: %d", round, (int)budget->streak);
	}
}
