/* SPDX-License-Identifier: MIT */
/* Servers that greet, and answer nothing after that. */
#include "conn/not_now.h"
#include "dest/answer_time.h"
#include "track_fixture.h"

/* What came of so many connections that the peer greets with text, after what was asked, and ends
 * before it has answered what is asked then. */
static struct destination *greeted(const char *asked, const char *text, const char *then, int count)
{
	struct server server = serve(8);
	struct destination *destination = NULL;

	for (int i = 0; i < count; i++) {
		struct talk talk = talk_to(&server);

		destination = talk.destination;
		destination->converses = 1;
		if (*asked) {
			host_asks(&talk, asked);
		}
		host_hears(&talk, text);
		if (*then) {
			host_asks(&talk, then);
		}
		host_is_left(&talk);
		host_close(talk.host);
	}
	return destination;
}

#define WELCOME "220 ready\r\n"
#define UPGRADE "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
#define ASK     "GET /live HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"

/* Nine may be nine who were told all that there is to tell. */
Test(not_now, a_greeting_often_in_vain_is_no_life)
{
	const struct destination *destination = greeted("", WELCOME, "", 9);

	EXPECT_COUNTED(destination, 9, 0, FAILURE_NONE);
	destination = greeted("", WELCOME, "", 60); /* a second may turn on the way */
	cr_expect_geq(destination->tally.failures[FAILURE_DROPPED], 40);
	cr_expect_gt(destination->budget.streak, 0);
	cr_expect_leq(destination->tally.successes, 20);
	destination = greeted("", WELCOME, "EHLO a\r\n", 60);
	cr_expect_eq(destination->tally.failures[FAILURE_DROPPED], 60);
	cr_expect_leq(destination->tally.successes, 20, "as before");
	cr_expect_gt(destination->budget.streak, 0);
}

Test(not_now, a_protocol_switched_to_in_vain_is_no_life)
{
	const struct destination *destination = greeted(ASK, UPGRADE, "", 60);

	cr_expect_geq(destination->tally.failures[FAILURE_DROPPED], 40);
	cr_expect_gt(destination->budget.streak, 0);
}

/* Who only listens is served by what is pushed to him. */
Test(not_now, a_message_is_what_a_protocol_was_switched_to_for)
{
	struct server server = serve(8);
	struct destination *destination = NULL;

	for (int i = 0; i < 60; i++) {
		struct talk talk = talk_to(&server);

		destination = talk.destination;
		destination->converses = 1;
		host_asks(&talk, ASK);
		host_hears(&talk, UPGRADE);
		host_hears(&talk, "\x81\x04tick");
		cr_expect_not(talk.entry->traits & TRAIT_AGREES);
		host_is_left(&talk);
		host_close(talk.host);
	}
	cr_expect_eq(failures_in(&destination->tally), 0);
}

Test(not_now, an_answer_says_that_a_greeting_was_none_in_vain)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);

	talk.destination->greetings = 10;
	host_hears(&talk, WELCOME);
	EXPECT_NOTHING(talk.destination);
	host_asks(&talk, "EHLO a\r\n");
	host_hears(&talk, "250 a\r\n");
	cr_expect_eq(talk.destination->greetings, 0);
}

/* Nor is what it tells to whoever asks nothing a greeting where those who ask are answered at once.
 */
Test(not_now, a_greeting_is_all_to_who_asks_nothing)
{
	struct server server = serve(8);
	struct destination *destination;

	for (int i = 0; i < 60; i++) {
		struct talk talk = talk_to(&server);

		destination = talk.destination;
		if (i == 0) {
			host_asks(&talk, "status\r\n");
		}
		host_hears(&talk, "well, 12 waiting\r\n");
		host_is_left(&talk);
		host_close(talk.host);
	}
	EXPECT_COUNTED(destination, 60, 0, FAILURE_NONE);
}

/* A number with a unit is no code of mail's. */
Test(not_now, a_reading_is_no_refusal)
{
	struct talk talk = talk_start();

	host_hears(&talk, "451 mV\r\n");
	host_is_left(&talk);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 0, FAILURE_NONE);
}

Test(not_now, at_a_port_of_mail_each_begins_with_a_code)
{
	cr_expect(not_now_is_greeted(25));
	cr_expect(not_now_is_greeted(21));
	cr_expect_not(not_now_is_greeted(8001));
}

/* A server that tells each one thing and closes, as daytime does, serves. */
Test(not_now, a_greeting_is_all_of_who_never_answered)
{
	struct server server = serve(8);
	struct destination *destination = NULL;

	for (int i = 0; i < 60; i++) {
		struct talk talk = talk_to(&server);

		destination = talk.destination;
		host_hears(&talk, "14:41\r\n");
		host_is_left(&talk);
		host_close(talk.host);
	}
	cr_expect_eq(failures_in(&destination->tally), 0);
	cr_expect_eq(destination->converses, 0);
	{
		struct talk talk = talk_to(&server);

		host_hears(&talk, WELCOME);
		host_asks(&talk, "EHLO a\r\n");
		host_hears(&talk, "250 a\r\n");
	}
	cr_expect_eq(destination->converses, 1);
}

/* A reader of what is pushed never asks. */
Test(not_now, a_greeting_that_is_outlived_was_none_in_vain)
{
	struct talk talk = talk_start();

	talk.destination->greetings = 10;
	host_hears(&talk, WELCOME);
	host_hears(&talk, "line\r\n");
	cr_expect_eq(talk.destination->greetings, 10);
	talk.entry->began -= 3 * NS_PER_S;
	host_hears(&talk, "line\r\n");
	cr_expect_eq(talk.destination->greetings, 0);
	cr_expect_not(talk.entry->traits & TRAIT_AGREES);
	host_is_left(&talk);
	cr_expect_eq(failures_in(&talk.destination->tally), 0);
}
