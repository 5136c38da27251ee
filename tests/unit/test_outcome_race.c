/* SPDX-License-Identifier: MIT */
/* Outcomes that several threads see at once: each counts once. */
#include "track_fixture.h"
#include "conn/attempt_end.h"

TestSuite(outcome_race, .init = start_shim);

#define SEERS  4
#define ROUNDS 100

struct sight {
	void (*see)(int fd);
	int fd;
	pthread_barrier_t *line;
};

static void *seer(void *arg)
{
	struct sight *sight = arg;

	pthread_barrier_wait(sight->line);
	sight->see(sight->fd);
	return NULL;
}

/* Each outcome is seen by several threads at once, in the ways given in turn. */
static void see_together(int fd, void (*const *ways)(int fd), int count)
{
	struct sight sights[SEERS];
	pthread_t threads[SEERS];
	pthread_barrier_t line;

	pthread_barrier_init(&line, NULL, SEERS);
	for (int i = 0; i < SEERS; i++) {
		sights[i] = (struct sight) { ways[i % count], fd, &line };
		cr_assert_eq(pthread_create(&threads[i], NULL, seer, &sights[i]), 0);
	}
	for (int i = 0; i < SEERS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&line);
}

static void see_the_end(int fd)
{
	traffic_received(fd, 0, 8, 0, NULL);
}

static void see_a_reset(int fd)
{
	errno = ECONNRESET;
	traffic_received(fd, -1, 8, 0, NULL);
}

static void see_a_broken_pipe(int fd)
{
	errno = EPIPE;
	traffic_sent(fd, -1, 0, 0);
}

static void see_bytes(int fd)
{
	traffic_received(fd, 3, 8, 0, NULL);
}

static void see_the_connect_fail(int fd)
{
	attempt_observed(fd, ECONNREFUSED);
}

static void see_it_closed(int fd)
{
	attempt_end(fd);
}

Test(outcome_race, a_failure_seen_by_many_threads_counts_once, .timeout = 30)
{
	void (*const ways[])(int) = { see_the_end, see_a_reset, see_a_broken_pipe, see_it_closed };
	struct server server = serve(8);

	for (int i = 1; i <= ROUNDS; i++) {
		struct talk talk = talk_to(&server);

		host_asks(&talk, "ask");
		peer_closes(&talk);
		see_together(talk.host, ways, 4);
		cr_assert_eq(failures_in(&talk.destination->tally), i, "round %d: %d", i,
		             (int)failures_in(&talk.destination->tally));
		host_close(talk.host);
	}
	cr_expect_eq(destination_at_port(&server)->tally.successes, 0);
}

Test(outcome_race, an_answer_seen_by_many_threads_counts_once, .timeout = 30)
{
	void (*const ways[])(int) = { see_bytes };
	struct talk talk = talk_start();

	for (int i = 1; i <= ROUNDS; i++) {
		talk.destination->budget.streak = 1;
		host_send(talk.host, "ask");
		see_together(talk.host, ways, 1);
		EXPECT_COUNTED(talk.destination, i, 0, FAILURE_NONE);
	}
}

Test(outcome_race, a_refusal_seen_by_many_threads_counts_once, .timeout = 30)
{
	void (*const ways[])(int) = { see_the_connect_fail, see_it_closed };
	struct server server = serve(-1);

	for (int i = 1; i <= ROUNDS; i++) {
		int fd = nonblocking_socket();

		cr_assert_eq(host_connect(fd, &server), -1);
		until_over(fd);
		see_together(fd, ways, 2);
		cr_assert_eq(failures_in(&destination_at_port(&server)->tally), i);
		host_close(fd);
	}
}
