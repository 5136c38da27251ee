/* SPDX-License-Identifier: MIT */
/*
 * getaddrinfo_a: requests that fail and one that does not, handed in twice. What the program is
 * told of each, how often it is notified and what gai_suspend says must be what they are bare, also
 * where the retries never reach libc's threads. Usage: lookup_async wait|poll|notify
 */
#include "resolver.h"

static const char *const names[] = { "servfail.one.test", "fine.two.test", "refused.three.test" };
#define N 3

static struct gaicb blocks[N];
static struct gaicb *list[N + 1]; /* with a hole, which is allowed */
static volatile int notified;

static void prepare(void)
{
	static const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };

	memset(blocks, 0, sizeof(blocks));
	for (int i = 0; i < N; i++) {
		blocks[i].ar_name = names[i];
		blocks[i].ar_service = "80";
		blocks[i].ar_request = &hints;
		list[i + (i > 0)] = &blocks[i];
	}
}

static void tell(const char *turn)
{
	for (int i = 0; i < N; i++) {
		int code = gai_error(&blocks[i]);

		printf("%s %s: %s, %s, asked again: %s\n", turn, names[i], gai_strerror(code),
		       blocks[i].ar_result != NULL ? "found" : "nothing",
		       gai_error(&blocks[i]) == code ? "the same" : "another");
		if (code == 0)
			freeaddrinfo(blocks[i].ar_result);
	}
}

static void on_end(union sigval value)
{
	(void)value;
	__atomic_add_fetch(&notified, 1, __ATOMIC_SEQ_CST);
}

/* Until the program has been told of the end: by gai_suspend, or by the notification. */
static void await(bool notify, int before)
{
	for (int ms = 0; notify && notified == before && ms < 5000; ms++)
		pause_ms(1);
	for (int i = 0; i < N; i++)
		while (!notify && gai_error(&blocks[i]) == EAI_INPROGRESS)
			gai_suspend((const struct gaicb *[]) { &blocks[i] }, 1, NULL);
}

int main(int argc, char **argv)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_end };
	bool wait = argc > 1 && strcmp(argv[1], "wait") == 0;
	bool notify = argc > 1 && strcmp(argv[1], "notify") == 0;
	struct sockaddr_in to;
	volatile int *asked;
	int first = 0, held;

	if (!private_resolver(""))
		return PROBE_CANNOT;
	asked = start_name_server();
	for (int turn = 0; turn < 2; turn++) {
		int before = notified, result, questions = *asked;

		past_the_gate();
		prepare();
		result = getaddrinfo_a(wait ? GAI_WAIT : GAI_NOWAIT, list, N + 1,
		                       notify ? &event : NULL);
		printf("%s: %d, list %s\n", turn ? "again" : "first", result,
		       list[0] == &blocks[0] && list[N] == &blocks[N - 1] ? "kept" : "touched");
		if (!wait)
			await(notify, before);
		tell(turn ? "again" : "first");
		if (turn == 0)
			first = *asked - questions;
		else
			printf("questions: %s\n",
			       *asked - questions == first ? "as many again"
			       : *asked - questions == first - 2 || *asked - questions == 1
			           ? "only of what is there"
			           : "others");
	}
	pause_ms(50);
	printf("notifications: %d\n", notified);
	/* The destination of this one is known by the name. */
	to = loopback(refusing_port(&held));
	connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof(to));
	printf("wrong mode: %s\n", gai_strerror(getaddrinfo_a(77, list, N, NULL)));
	return 0;
}
