/* SPDX-License-Identifier: MIT */
/*
 * Threads that each keep a connection to a server which begins to answer 503: no connect tells of
 * it, and the first requests of the others are first tries. The server counts.
 */
#include "probe.h"

#define MANY  6   /* connections */
#define FALL  3   /* failures that open the breaker by the driver's policy */
#define ILL   5   /* failures in all: two more, by its probes */
#define CLOSE 4   /* successes that close it */
#define OPEN  900 /* ms, the driver's breaker_open */
#define MS    300 /* that a request takes */

static struct {
	volatile int asked, in_flight, most, served;
	volatile int64_t at[64]; /* ms */
} * shared;
static uint16_t port;
static int connections[MANY];

static void reply(int peer, bool warm)
{
	char text[128];
	int number = warm ? 0 : __atomic_add_fetch(&shared->asked, 1, __ATOMIC_SEQ_CST), n;

	if (number > 0 && number < 64)
		shared->at[number] = now_ms();
	if (number > 0) {
		__atomic_add_fetch(&shared->in_flight, 1, __ATOMIC_SEQ_CST);
		pause_ms(MS);
		/* Who begins beside this one is seen by its end. */
		if (number <= ILL + CLOSE && shared->in_flight > shared->most)
			shared->most = shared->in_flight;
		__atomic_sub_fetch(&shared->in_flight, 1, __ATOMIC_SEQ_CST);
	}
	n = snprintf(text, sizeof(text), "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n",
	             number > 0 && number <= ILL ? "503 Busy" : "200 OK");
	send(peer, text, (size_t)n, MSG_NOSIGNAL);
}

static void serve_http(int listener)
{
	char request[256];

	for (;;) {
		int peer = accept(listener, NULL, NULL);
		ssize_t n;

		if (fork() != 0) {
			close(peer);
			continue;
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while ((n = recv(peer, request, sizeof(request) - 1, 0)) > 0) {
			request[n] = '\0';
			reply(peer, strncmp(request, "GET /warm", 9) == 0);
		}
		_exit(0);
	}
}

static void start(void)
{
	pid_t parent = getpid();
	int listener;

	port = refusing_port(&listener);
	listen(listener, 64);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			serve_http(listener);
		_exit(0);
	}
	close(listener);
}

static int ask(int fd, const char *what, int number)
{
	char text[128] = "";
	int n =
	    snprintf(text, sizeof(text), "GET /%s%d HTTP/1.1\r\nHost: here\r\n\r\n", what, number);

	if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n ||
	    recv(fd, text, sizeof(text) - 1, 0) <= 0)
		return -1;
	return atoi(text + 9);
}

/* Connects anew, as a client does whose kept connection has ended. */
static void connect_anew(int i)
{
	close(connections[i]);
	while ((connections[i] = connected(port)) < 0)
		pause_ms(20);
}

/* Each asks for something of its own, and again until it is served. */
static void *client(void *arg)
{
	int i = (int)(intptr_t)arg, status;

	while ((status = ask(connections[i], "item", i)) != 200) {
		past_the_gate();
		if (status < 0)
			connect_anew(i);
	}
	if (status == 200)
		__atomic_add_fetch(&shared->served, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

int main(void)
{
	pthread_t threads[MANY];
	int pauses = 0;

	shared = shared_memory(sizeof(*shared));
	start();
	for (int i = 0; i < MANY; i++) {
		connections[i] = connected(port);
		if (ask(connections[i], "warm", i) != 200)
			give_up("warm");
	}
	for (int i = 0; i < FALL; i++) {
		printf("%d\n", ask(connections[0], "item", 0));
		past_the_gate();
	}
	for (int i = 1; i < MANY; i++)
		pthread_create(&threads[i], NULL, client, (void *)(intptr_t)i);
	client(0);
	for (int i = 1; i < MANY; i++)
		pthread_join(threads[i], NULL);
	for (int i = FALL + 1; i <= ILL + 1; i++)
		pauses += shared->at[i] - shared->at[i - 1] >= OPEN;
	printf("without a request while it was open: %s\n",
	       pauses == ILL + 1 - FALL ? "yes" : "no");
	printf("in flight until it was closed: %s\n", shared->most == 1 ? "one" : "several");
	printf("requests: %d, served: %d\n", shared->asked, shared->served);
	return 0;
}
