/* SPDX-License-Identifier: MIT */
/* What the requests teach: whether an attempt that follows a failure is the same work again. */
#include "feedback_fixture.h"
#include "dest/demand.h"
#include "dest/lineage.h"
#include "dest/profile.h"
#include "dest/tries.h"

#include <sys/wait.h>

TestSuite(feedback, .init = start_shim);

Test(feedback, the_same_request_again_is_a_retry)
{
	struct server server = serve_after_failure();

	work_through(&server, 0, 1, 30);
	cr_expect_eq(retries(), 29, "%d", (int)retries());
	cr_expect_eq(mistaken(), 0);
}

/* A request whose body is written apart from its head. */
static void fails_in_pieces(const struct server *server, const char *body)
{
	static const char head[] = "POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";
	struct talk talk = talk_to(server);

	cr_assert_eq(host_send(talk.host, head), (ssize_t)strlen(head));
	cr_assert_eq(host_send(talk.host, body), 9);
	peer_hears(&talk);
	peer_closes(&talk);
	host_recv(talk.host, 8, 0); /* the end, or a reset where some of it was not read */
	host_close(talk.host);
}

/* All of them go to one URL. */
Test(feedback, requests_that_differ_in_their_bodies_are_others)
{
	struct server server = serve_after_failure();
	char body[16];

	for (int i = 0; i < 50; i++) {
		snprintf(body, sizeof(body), "{\"a\": %02d}", i);
		fails_in_pieces(&server, body);
		if (i % 5 == 4)
			works(&server, "get ready\r\n");
	}
	cr_expect(retries() <= 3, "%d", (int)retries());
	cr_expect_eq(mistaken(), retries());
}

Test(feedback, a_request_in_pieces_is_known_again)
{
	struct server server = serve_after_failure();

	for (int i = 0; i < 30; i++)
		fails_in_pieces(&server, "{\"a\": 17}");
	cr_expect_eq(retries(), 29, "%d", (int)retries());
	cr_expect_eq(mistaken(), 0);
}

/* A service in a chain: the hop before it tries each request three times at first, and asks once
 * for each as soon as it is throttled itself. */
Test(feedback, that_somebody_asked_is_believed_again_when_it_is_right)
{
	struct server server = serve_after_failure();
	char request[32];

	for (int i = 0; i < 6; i++) {
		demand_request_read(5, false);
		fails(&server, "get one\r\n");
	}
	cr_expect(profile_has_no_excuse(destination_at_port(&server), monotonic()));
	for (int i = 0; i < 8; i++) {
		snprintf(request, sizeof(request), "get other_%d\r\n", i);
		demand_request_read(5, false);
		fails(&server, request);
	}
	cr_expect_not(profile_has_no_excuse(destination_at_port(&server), monotonic()));
}

/* What is refused shows no request: after a second it is tried again whether it is right now. */
Test(feedback, that_somebody_asked_was_wrong_counts_for_a_second)
{
	struct server server = serve_after_failure();
	struct destination *destination;
	int64_t now;

	for (int i = 0; i < 6; i++) {
		demand_request_read(5, false);
		fails(&server, "get one\r\n");
	}
	destination = destination_at_port(&server);
	now = monotonic();
	profile_new_ended(destination, false);
	profile_carry(destination);
	cr_expect(profile_has_no_excuse(destination, now), "and no other count touches it");
	cr_expect(profile_carries(destination));
	cr_expect_not(profile_has_no_excuse(destination, now + 2 * NS_PER_S));
	profile_excused(destination, false, now + 2 * NS_PER_S);
	cr_expect(profile_has_no_excuse(destination, now + 2 * NS_PER_S), "it was wrong again");
	cr_expect(profile_carries(destination));
}

/* Whatever it is for: one try after the other and nothing but failure. */
Test(feedback, a_storm_is_a_storm)
{
	struct server server = serve_after_failure();

	work_through(&server, 0, 60, 1);
	cr_expect(retries() > 60 - 16, "%d", (int)retries());
	cr_expect(mistaken() <= 3, "%d", (int)mistaken());
}

/* Two pieces of work under way at once, as in an event loop. */
Test(feedback, a_failure_stands_until_its_own_request_comes)
{
	struct server server = serve_after_failure();

	fails(&server, "get one\r\n");
	fails(&server, "get two\r\n");
	cr_expect_eq(mistaken(), 1);
	fails(&server, "get one\r\n");
	fails(&server, "get two\r\n");
	cr_expect_eq(retries(), 3);
	cr_expect_eq(mistaken(), 1, "%d", (int)mistaken());
}

/* Paid for as a retry, and proved to be none; perhaps by another configuration than at its connect.
 * back: tokens that return. */
static void mistake(bool reloads, int64_t back)
{
	struct server server = serve_after_failure();
	struct destination *destination;
	struct talk talk = { .host = socket(AF_INET, SOCK_STREAM, 0) };
	struct attempt try;
	int64_t own, process, now = monotonic();

	fails(&server, "get one\r\n");
	fails(&server, "get one\r\n"); /* after one failure it may be other work */
	destination = destination_at_port(&server);
	cr_assert(attempt_begin_connect(&try, talk.host, (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
	cr_assert(try.trial.retry);
	own = bucket_level(try.account.process, try.account.process_rule, now);
	cr_assert(pace(&try));
	cr_assert(try.paid);
	process = bucket_level(try.account.process, try.account.process_rule, now);
	cr_assert(process < own, "a token was taken");
	own = bucket_level(&destination->budget.bucket, &try.account.policy->bucket, now);
	attempt_start(&try);
	attempt_settle(&try, connect(talk.host, try.address, try.len));
	if (reloads)
		((struct config *)(uintptr_t)config_current())->serial++;
	cr_assert_eq(host_send(talk.host, "get two\r\n"), 9);
	cr_expect_eq(bucket_level(&destination->budget.bucket, &try.account.policy->bucket, now),
	             own + back);
	cr_expect_eq(bucket_level(try.account.process, try.account.process_rule, now),
	             process + back);
	cr_expect_eq(mistaken(), 1);
}

Test(feedback, a_mistake_is_paid_back)
{
	mistake(false, MT_PER_TOKEN);
}

/* Another strategy, or a lease, would get what it has never paid. */
Test(feedback, a_mistake_of_another_configuration_is_not)
{
	mistake(true, 0);
}

struct worker {
	const struct server *server;
	pthread_barrier_t turn;
	char request[32];
	bool over;
};

static void *tries_first(void *given)
{
	struct worker *worker = given;

	for (;;) {
		pthread_barrier_wait(&worker->turn);
		if (worker->over)
			return NULL;
		fails(worker->server, worker->request);
		pthread_barrier_wait(&worker->turn);
	}
}

/* A job that failed goes back to a queue, and another worker takes it from there, while the first
 * lives on and keeps its failures for itself. */
Test(feedback, threads_that_answer_each_other_are_found_out)
{
	struct server server = serve_after_failure();
	struct worker worker = { .server = &server };
	int64_t before = 0;
	pthread_t first;

	cr_assert_eq(pthread_barrier_init(&worker.turn, NULL, 2), 0);
	cr_assert_eq(pthread_create(&first, NULL, tries_first, &worker), 0);
	for (int i = 0; i < 8; i++) {
		snprintf(worker.request, sizeof(worker.request), "get job_%d\r\n", i);
		pthread_barrier_wait(&worker.turn);
		pthread_barrier_wait(&worker.turn);
		if (i == 7)
			before = retries();
		works(&server, worker.request);
	}
	cr_expect(profile_is_shared(destination_at_port(&server)));
	cr_expect_eq(retries() - before, 1, "the other's failure is answered here");
	cr_expect(profile_tries_again(destination_at_port(&server), 1, false),
	          "and that says as much as if it were one thread");
	worker.over = true;
	pthread_barrier_wait(&worker.turn);
	pthread_join(first, NULL);
}

/* What a forked worker does, which then ends. */
static void by_worker(void (*how)(const struct server *, const char *), const struct server *server,
                      const char *request)
{
	pid_t worker = fork();

	if (worker == 0) {
		how(server, request);
		_exit(0);
	}
	cr_assert_eq(waitpid(worker, NULL, 0), worker);
}

/* The workers of a farm have one command. One whose job fails ends, and another is forked, which is
 * handed that job; one that lives on goes on to the next. */
Test(feedback, of_a_farm_a_newcomer_takes_up_what_one_that_has_gone_left)
{
	struct server server = serve_after_failure();
	char failing[32], next[32], turn;
	int go[2], done[2];
	pid_t kept;

	lineage_setup(false);
	cr_assert(pipe(go) == 0 && pipe(done) == 0);
	kept = fork();
	if (kept == 0) {
		for (int i = 0; read(go[0], &turn, 1) == 1 && turn == 'g'; i++) {
			snprintf(next, sizeof(next), "get next_%d\r\n", i);
			works(&server, next);
			(void)!write(done[1], "d", 1);
		}
		_exit(0);
	}
	cr_assert_eq(write(go[1], "g", 1), 1);
	cr_assert_eq(read(done[0], &turn, 1), 1);
	for (int i = 0; i < 8; i++) {
		int64_t before = retries();

		snprintf(failing, sizeof(failing), "get job_%d\r\n", i);
		by_worker(fails, &server, failing);
		cr_expect_eq(retries(), before, "new, although a worker has just come");
		cr_assert_eq(write(go[1], "g", 1), 1);
		cr_assert_eq(read(done[0], &turn, 1), 1);
		cr_expect_eq(retries(), before, "the one that lives on");
		by_worker(works, &server, failing);
		cr_expect_eq(retries() - before, 1, "what was left: %d", i);
	}
	cr_expect_not(profile_is_shared(destination_at_port(&server)),
	              "none answers for those who are there");
	cr_assert_eq(write(go[1], "e", 1), 1);
	cr_assert_eq(waitpid(kept, NULL, 0), kept);
}

/* A worker that has connected. It fails, and ends, when `go` is told. */
static pid_t connected(const struct server *server, const char *request, const int go[2])
{
	int ready[2];
	pid_t worker;
	char turn;

	cr_assert_eq(pipe(ready), 0);
	worker = fork();
	if (worker == 0) {
		struct talk talk = talk_to(server);

		(void)!write(ready[1], "r", 1);
		(void)!read(go[0], &turn, 1);
		host_send(talk.host, request);
		peer_hears(&talk);
		peer_closes(&talk);
		host_recv(talk.host, 8, 0);
		_exit(0);
	}
	cr_assert_eq(read(ready[0], &turn, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return worker;
}

/* Which of them an answer is for nobody can say by their command. */
Test(feedback, of_a_farm_two_that_have_gone_leave_two)
{
	struct server server = serve_after_failure();
	int64_t before;
	pid_t first, second;
	int go[2];

	lineage_setup(false);
	cr_assert_eq(pipe(go), 0);
	first = connected(&server, "get one\r\n", go);
	second = connected(&server, "get two\r\n", go);
	cr_assert_eq(write(go[1], "gg", 2), 2);
	cr_assert(waitpid(first, NULL, 0) == first && waitpid(second, NULL, 0) == second);
	before = retries();
	by_worker(works, &server, "get one\r\n");
	cr_expect_eq(retries() - before, 1);
	cr_expect(failures_are_known(destination_at_port(&server)),
	          "an answer to the one is none to the other");
	by_worker(works, &server, "get two\r\n");
	cr_expect_not(failures_are_known(destination_at_port(&server)));
	before = retries();
	by_worker(works, &server, "get three\r\n");
	cr_expect_eq(retries(), before, "nothing is left");
}

/* What the first try of a worker that has just been forked is taken for. */
static const char *rule_of_newcomer(const struct server *server)
{
	pid_t worker = fork();
	int status;

	if (worker == 0) {
		struct attempt try;

		if (!attempt_begin_connect(&try, socket(AF_INET, SOCK_STREAM, 0),
		                           (struct sockaddr *)&server->address,
		                           sizeof(server->address)))
			_exit(255);
		_exit((int)(try.rule - rules));
	}
	cr_assert_eq(waitpid(worker, &status, 0), worker);
	cr_assert_neq(WEXITSTATUS(status), 255);
	return rules[WEXITSTATUS(status)].name;
}

/* By the command of a worker nobody can tell, but by what was left to it; unless the destination
 * answers nobody, or they come back from an outage. */
Test(feedback, of_a_farm_a_newcomer_is_known_by_what_was_left_to_it)
{
	struct server server = serve_after_failure();
	struct destination *destination = destination_at_port(&server);
	struct budget *budget = &destination->budget;

	lineage_setup(false);
	by_worker(fails, &server, "get job_1\r\n");
	cr_expect_str_eq(rule_of_newcomer(&server), "same-command");
	cr_expect_str_eq(rule_of_newcomer(&server), "other-command", "it was left to one");
	ramp_throttled(&budget->ramp, monotonic());
	ramp_begin(&budget->ramp, true, monotonic());
	cr_expect_str_eq(rule_of_newcomer(&server), "lineage", "on the way back");
	STORE(budget->ramp.step, 0);
	cr_expect_str_eq(rule_of_newcomer(&server), "other-command");
	STORE(budget->allowance.answered_at, monotonic() - 2 * ALLOWANCE_WINDOW);
	cr_expect_str_eq(rule_of_newcomer(&server), "lineage", "nothing is answered");
}

/* A process that a shell starts is no worker: its own command says what it does. */
Test(feedback, of_a_shell_loop_a_newcomer_is_known_by_its_command)
{
	struct server server = serve_after_failure();
	struct attempt try;

	lineage_setup(false);
	by_worker(fails, &server, "get job_1\r\n");
	cr_assert_str_eq(rule_of_newcomer(&server), "same-command"); /* to which it was left */
	cr_assert(attempt_begin_connect(&try, socket(AF_INET, SOCK_STREAM, 0),
	                                (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
	cr_assert_eq(try.claimed.number, 0);
	cr_expect_str_eq(try.rule->name, "same-command");
}

/* Of a destination where requests are known to fail another request is other work, although nobody
 * knows which one its connect was taken to answer. */
Test(feedback, beside_requests_that_fail_another_is_other_work)
{
	struct talk talk = talk_start();
	const struct unanswered failure = {
		.owner = thread_id(), .at = monotonic(), .number = 1, .fingerprint = 77
	};

	STORE(talk.destination->budget.failed_at, monotonic());
	for (int known = 0; known < 2; known++) {
		if (known)
			failures_add(talk.destination, &failure);
		socket_mark(talk.entry, TRAIT_RETRY);
		STORE(talk.entry->claimed_number, 1);
		cr_expect_not(feedback_first(talk.entry, 78));
		cr_expect_eq(profile_is_mixed(talk.destination, thread_id(), -1), known);
	}
}

/* What a TLS client sends first is different each time, and says nothing. */
Test(feedback, nothing_is_learned_from_tls)
{
	struct server server = serve_after_failure();
	char greeting[] = "\x16\x03\x01\x01\x01random?";

	for (int i = 0; i < 12; i++) {
		greeting[5] = (char)('a' + i);
		fails(&server, greeting);
	}
	cr_expect_eq(retries(), 11, "%d", (int)retries());
	cr_expect_eq(mistaken(), 0);
}

/* A request on a kept connection fails; the connection that replaces it carries the same one. */
Test(feedback, a_request_on_a_kept_connection_is_known)
{
	struct server server = serve_after_failure();

	for (int i = 0; i < 6; i++) {
		struct talk talk = talk_to(&server);
		char request[32];

		/* Until something has failed the short way is taken, and nothing is known. */
		talk.destination->budget.streak = 1;
		one_exchange(&talk);
		shim_region->changes++;
		snprintf(request, sizeof(request), "get job_%d\r\n", i);
		host_asks(&talk, request);
		host_is_left(&talk);
		host_close(talk.host);
	}
	/* Each begins with the same question, which is not the one that had failed. */
	cr_expect(mistaken() >= 1 && mistaken() <= 3, "%d of %d", (int)mistaken(), (int)retries());
}

Test(feedback, nothing_is_looked_at_while_all_is_well)
{
	struct server server = serve(8);
	struct talk talk;

	works(&server, "get ready\r\n");
	talk = talk_to(&server);
	cr_expect_eq(traffic_look(talk.host, "get one\r\n", 9), 0);
}

/* Head and body in one call, as many writers of HTTP have them. */
Test(feedback, every_part_is_looked_at)
{
	static char head[] = "POST /rpc HTTP/1.1\r\nContent-Length: 2\r\n\r\n";
	struct server server = serve_after_failure();
	struct talk talk = talk_to(&server);
	struct iovec one[] = { { head, strlen(head) }, { "11", 2 } };
	struct iovec other[] = { { head, strlen(head) }, { "12", 2 } };
	struct iovec in_three[] = { { head, 5 }, { head + 5, strlen(head) - 5 }, { "11", 2 } };
	uint32_t fingerprint = traffic_look_parts(talk.host, one, 2);

	cr_expect_neq(fingerprint, 0);
	cr_expect_eq(traffic_look_parts(talk.host, in_three, 3), fingerprint);
	cr_expect_neq(traffic_look_parts(talk.host, other, 2), fingerprint);
	cr_expect_eq(traffic_look_parts(talk.host, one, 1), 0);
}

/* The kernel would say EFAULT; so it still does. */
Test(feedback, what_is_not_there_is_not_read)
{
	struct server server = serve_after_failure();
	struct talk talk = talk_to(&server);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *there =
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *gone = there + page;
	struct iovec bad = { gone, 20 }, good = { there, 20 }, half_bad[] = { good, bad };
	struct msghdr of_bad = { .msg_iov = &bad, .msg_iovlen = 1 };
	struct msghdr of_gone = { .msg_iov = (struct iovec *)gone, .msg_iovlen = 1 };

	cr_assert(there != MAP_FAILED && mprotect(gone, page, PROT_NONE) == 0);
	errno = 7;
	cr_expect_neq(traffic_look(talk.host, there, page), 0);
	cr_expect_eq(traffic_look(talk.host, gone, 20), 0);
	cr_expect_eq(traffic_look(talk.host, gone - 10, 20), 0);
	cr_expect_eq(traffic_look(talk.host, NULL, 20), 0);
	cr_expect_eq(traffic_look(talk.host, there, 0), 0);
	cr_expect_neq(traffic_look_parts(talk.host, &good, 1), 0);
	cr_expect_eq(traffic_look_parts(talk.host, half_bad, 2), 0);
	cr_expect_eq(traffic_look_parts(talk.host, &bad, 1), 0);
	cr_expect_eq(traffic_look_parts(talk.host, (struct iovec *)gone, 1), 0);
	cr_expect_eq(traffic_look_message(talk.host, &of_bad), 0);
	cr_expect_eq(traffic_look_message(talk.host, &of_gone), 0);
	cr_expect_eq(traffic_look_message(talk.host, (struct msghdr *)gone), 0);
	cr_expect_eq(errno, 7);
}
