/* SPDX-License-Identifier: MIT */
/*
 * A loop that only its failures pace: a server that ends each connection after 150 ms, then one
 * that answers at once, without a pause. A refusal takes no time, and may not make it ask the one
 * that is well more often than without us. Usage: ahead blocking|nonblocking
 */
#include "probe.h"

#define SECONDS   6
#define FAILS_MS  150
#define CALLS_MAX 400 /* bare: 40; a spin: thousands */

static uint16_t start_failing_server(void)
{
	int listener;
	uint16_t port = refusing_port(&listener);
	pid_t child;

	if (listen(listener, 16) != 0)
		give_up("listen");
	child = fork();
	if (child < 0)
		give_up("fork");
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (child == 0) {
		int peer = accept(listener, NULL, NULL);

		pause_ms(FAILS_MS);
		close(peer);
	}
	close(listener);
	return port;
}

static bool ask(uint16_t port, bool blocks)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | (blocks ? 0 : SOCK_NONBLOCK), 0), err;
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(err);
	bool well = false;

	err = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : errno;
	if (err == EINPROGRESS && poll(&ready, 1, 5000) == 1)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	if (err == 0) {
		fcntl(fd, F_SETFL, 0);
		well = echo(fd, "word");
	}
	close(fd);
	return well;
}

int main(int argc, char **argv)
{
	bool blocks = argc < 2 || strcmp(argv[1], "blocking") == 0;
	uint16_t failing = start_failing_server(), other = start_server(SERVER_ECHO, NULL);
	int64_t end = now_ms() + SECONDS * 1000;
	int calls = 0, unserved = 0;

	while (now_ms() < end) {
		ask(failing, blocks);
		unserved += !ask(other, blocks);
		calls++;
	}
	printf("asked: %s\n", calls > CALLS_MAX ? "a storm" : calls < 10 ? "late" : "as bare");
	printf("not served: %d\n", unserved);
	return 0;
}
