/* SPDX-License-Identifier: MIT */
/*
 * The same as tls_kept with a library that only looks like OpenSSL: what leads calls to the shim is
 * another on each machine and libc, where the real one cannot be had. Built often: as the
 * program, as two versions of the library, as a plug-in, as one whose code has relocations, and as
 * one that the loader has begun with when somebody connects.
 *
 * Usage: tls_twin linked|plugged|both|text|late: who makes the requests: the program, a plug-in by
 * the program's library, or after the program a plug-in by a library of its own; text, late: the
 * other plug-ins by the program's library
 */
#include "tls.h"

#include <dlfcn.h>
#include <limits.h>

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0 /* musl */
#endif

int SSL_connect(void *session);
int SSL_write(void *session, const void *data, int n);
int SSL_read(void *session, void *data, int n);

#define HELLO      "\x16\x03\x01\x00\x01\x01" /* a record with the first byte of a ClientHello */
#define HELLO_SIZE 6

struct twin {
	int fd;
	const char *library; /* that shook hands */
};

static inline int scrambled(int n, const char *from, char *to)
{
	for (int i = 0; i < n; i++)
		to[i] = (char)(from[i] ^ 0x55);
	return n;
}

#if defined(A_CHOICE)

static int chosen(void)
{
	return 0;
}

static int (*choose(void))(void)
{
	struct sockaddr_in to = loopback(1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	connect(fd, (struct sockaddr *)&to, sizeof(to));
	close(fd);
	return chosen;
}

int tls_twin_choice(void) __attribute__((ifunc("choose")));

/* Which has it chosen as soon as it is loaded. */
int (*const tls_twin_chosen)(void) = tls_twin_choice;

#elif defined(THE_LIBRARY)

static int twin_send(int fd, const void *data, int n)
{
	char encrypted[1024];

	return (int)send(fd, encrypted, (size_t)scrambled(n, data, encrypted), MSG_NOSIGNAL);
}

int SSL_connect(void *session)
{
	struct twin *twin = session;
	char back[HELLO_SIZE];

	twin->library = THE_LIBRARY;
	return send(twin->fd, HELLO, HELLO_SIZE, MSG_NOSIGNAL) == HELLO_SIZE &&
	       recv(twin->fd, back, HELLO_SIZE, MSG_WAITALL) == HELLO_SIZE;
}

int SSL_write(void *session, const void *data, int n)
{
	return twin_send(((struct twin *)session)->fd, data, n);
}

int SSL_read(void *session, void *data, int n)
{
	int got = (int)recv(((struct twin *)session)->fd, data, (size_t)n, 0);

	return scrambled(got, data, data);
}

#else

/* A slot that is empty must stay so. */
int SSL_write_ex(void *session, const void *data, size_t n, size_t *done) __attribute__((weak));

/* Some programs call by a table of their own. */
static int (*volatile const read_inside)(void *session, void *data, int n) = SSL_read;

int tls_twin_visit(int port)
{
	struct twin twin = { .fd = connected((uint16_t)port) };

	if (SSL_write_ex != NULL)
		printf("there is an SSL_write_ex\n");
	if (SSL_connect(&twin) != 1)
		give_up("handshake");
	printf("by %s\n", twin.library);
	for (int i = 0; i < 4; i++) {
		int64_t start = now_ms();
		char reply[512] = "";

		if (SSL_write(&twin, ASK, (int)strlen(ASK)) <= 0)
			printf("not sent, ");
		else
			for (int have = 0, got = 1; got > 0 && !tls_complete(reply); have += got)
				got =
				    read_inside(&twin, reply + have, (int)sizeof(reply) - 1 - have);
		printf("%s, %s\n", tls_seen(reply), length_of(now_ms() - start, 2000));
	}
	close(twin.fd);
	return 0;
}

#ifndef A_PLUGIN

static void *welcome(int peer)
{
	static int session;
	char hello[HELLO_SIZE];

	session = peer;
	if (recv(peer, hello, HELLO_SIZE, MSG_WAITALL) != HELLO_SIZE ||
	    send(peer, hello, HELLO_SIZE, MSG_NOSIGNAL) != HELLO_SIZE)
		return NULL;
	return &session;
}

static int receive(void *session, void *data, int n)
{
	return scrambled((int)recv(*(int *)session, data, (size_t)n, 0), data, data);
}

static int reply(void *session, const void *data, int n)
{
	char encrypted[1024];

	return (int)send(*(int *)session, encrypted, (size_t)scrambled(n, data, encrypted),
	                 MSG_NOSIGNAL);
}

/* mode: RTLD_DEEPBIND gives it its own library, without it gets the program's. */
static int by_plugin(const char *file, int port, int mode)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void *plugin;
	int (*visit)(int port);

	if (n <= 0)
		give_up("/proc");
	path[n] = '\0';
	strcpy(strrchr(path, '/') + 1, file);
	plugin = dlopen(path, RTLD_LAZY | mode);
	if (plugin == NULL && strcmp(file, "tls_twin_plugin.so") != 0)
		exit(PROBE_CANNOT);
	if (plugin == NULL) {
		printf("%s\n", dlerror());
		return 1;
	}
	visit = (int (*)(int))dlsym(plugin, "tls_twin_visit");
	return visit(port);
}

int main(int argc, char **argv)
{
	static const struct tls_server server = { welcome, receive, reply };
	const char *who = argc > 1 ? argv[1] : "linked";
	uint16_t port = start_tls_server(&server);

	if (strcmp(who, "linked") == 0 || strcmp(who, "both") == 0)
		tls_twin_visit(port);
	if (strcmp(who, "both") == 0)
		*asked = 0;
	if (strcmp(who, "text") == 0)
		by_plugin("tls_twin_text.so", port, 0);
	else if (strcmp(who, "late") == 0)
		by_plugin("tls_twin_late.so", port, 0);
	else if (strcmp(who, "linked") != 0)
		by_plugin("tls_twin_plugin.so", port, strcmp(who, "both") == 0 ? RTLD_DEEPBIND : 0);
	printf("connections: %d\n", *accepted);
	return 0;
}

#endif
#endif
