/* SPDX-License-Identifier: MIT */
/*
 * A small real program for the tests of odd company: threads that talk to a server and allocate as
 * they go, lookups, a retry loop on blocking sockets and one that polls, and in the end what it has
 * open. What it prints is the same on every run, so that a run under the shim can be held against a
 * bare one. It reads no clock: that may be a false one (libfaketime).
 *
 * Usage: guest ADDRESS PORT NAME NO-NAME
 * Before each loop it prints "storm" and reads a line: the driver has stopped the server meanwhile.
 */
#include "../probe/probe.h"

#include <stdatomic.h>

#define THREADS  4
#define REQUESTS 12
#define BLOCKS   64

static struct sockaddr_in server;
static _Atomic int answered;
static _Atomic(char *) blocks[BLOCKS]; /* allocated by one thread, freed by another */

/* By the kernel's clock, which no preload replaces. */
static void rest(void)
{
	struct timespec t = { .tv_nsec = 1000000 };

	syscall(SYS_nanosleep, &t, NULL);
}

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

/* One request on a connection of its own. Returns 0 or errno. */
static int talk(int fd)
{
	static const char word[] = "a word\n";
	char back[sizeof(word)] = "";
	ssize_t n = send(fd, word, sizeof(word) - 1, MSG_NOSIGNAL);

	if (n == (ssize_t)sizeof(word) - 1)
		n = recv(fd, back, sizeof(word) - 1, MSG_WAITALL);
	if (n < 0)
		return errno;
	return strcmp(back, word) == 0 ? 0 : EPIPE;
}

static int attempt_blocking(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), err;

	if (fd < 0)
		give_up("socket");
	err = connect(fd, (struct sockaddr *)&server, sizeof(server)) == 0 ? talk(fd) : errno;
	close(fd);
	return err;
}

static int attempt_polling(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err;

	if (fd < 0)
		give_up("socket");
	err = connect(fd, (struct sockaddr *)&server, sizeof(server)) == 0 ? 0 : errno;
	if (err == EINPROGRESS) {
		while (poll(&ready, 1, -1) < 0 && errno == EINTR)
			;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) != 0)
			err = errno;
	}
	if (err == 0) {
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
		err = talk(fd);
	}
	close(fd);
	return err;
}

static void *client(void *arg)
{
	unsigned int state = (unsigned int)(uintptr_t)arg;

	for (int i = 0; i < REQUESTS; i++) {
		for (int j = 0; j < 200; j++) {
			char *block;

			state = state * 1103515245 + 12345;
			block = malloc(state >> 16 & 8191);
			free(atomic_exchange(&blocks[state >> 8 & (BLOCKS - 1)], block));
		}
		answered += (i & 1 ? attempt_polling() : attempt_blocking()) == 0;
	}
	return NULL;
}

static void work(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, client, (void *)(i + 1)) != 0)
			give_up("thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < BLOCKS; i++)
		free(atomic_exchange(&blocks[i], NULL));
	printf("answered: %d of %d\n", answered, THREADS * REQUESTS);
}

static void look_up(const char *name)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *found;
	int code = getaddrinfo(name, "7000", &hints, &found);
	char text[INET_ADDRSTRLEN] = "";

	if (code == 0) {
		inet_ntop(AF_INET, &((struct sockaddr_in *)found->ai_addr)->sin_addr, text,
		          sizeof(text));
		freeaddrinfo(found);
	}
	printf("lookup: %s %s\n", code == 0 ? "found" : gai_strerror(code), text);
}

/* Tries until it is answered. */
static void storm(const char *way, int (*try)(void))
{
	bool seen[256] = { false };
	char line[64];
	int err;

	say("storm");
	if (fgets(line, sizeof(line), stdin) == NULL)
		give_up("stdin");
	while ((err = try()) != 0) {
		seen[err & 255] = true;
		rest();
	}
	printf("%s:", way);
	for (int i = 0; i < 256; i++)
		if (seen[i])
			printf(" %s", error_name(i));
	say(", then an answer");
}

static void print_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		struct stat what;

		if (fstat(fd, &what) == 0)
			printf("open: %d, mode %o, flags %d\n", fd, what.st_mode & S_IFMT,
			       fcntl(fd, F_GETFD));
	}
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	server.sin_family = AF_INET;
	server.sin_port = htons((uint16_t)atoi(argv[2]));
	inet_pton(AF_INET, argv[1], &server.sin_addr);
	work();
	look_up(argv[3]);
	look_up(argv[4]);
	storm("blocking", attempt_blocking);
	storm("polling", attempt_polling);
	answered = 0;
	work();
	print_descriptors();
	say("bye");
	return 0;
}
