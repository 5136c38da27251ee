/* SPDX-License-Identifier: MIT */
/*
 * A badly behaved shim, to show that tripwire.c is live: its connect does what the environment asks
 * for, and its getaddrinfo only calls the real one, which may do as it likes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <time.h>

const int retrybudget_abi = 1;

static const char *misdeed;
static int (*real_connect)(int, const struct sockaddr *, socklen_t);
static int (*real_getaddrinfo)(const char *, const char *, const struct addrinfo *,
                               struct addrinfo **);
static void *volatile kept;

__attribute__((constructor)) static void start(void)
{
	void *found[] = { dlsym(RTLD_NEXT, "connect"), dlsym(RTLD_NEXT, "getaddrinfo") };

	memcpy(&real_connect, &found[0], sizeof(real_connect));
	memcpy(&real_getaddrinfo, &found[1], sizeof(real_getaddrinfo));
	misdeed = getenv("CONTRACT_MISDEED");
	kept = malloc(100); /* now it may */
}

static void *idle(void *unused)
{
	return unused;
}

static void ignore(int signal)
{
	(void)signal;
}

static void offend(void)
{
	struct sigaction action = { .sa_handler = ignore };
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	time_t now = 0;
	char text[64];
	pthread_t thread;

	if (strcmp(misdeed, "malloc") == 0)
		kept = malloc(10);
	else if (strcmp(misdeed, "free") == 0)
		free(kept);
	else if (strcmp(misdeed, "malloc by strdup") == 0)
		kept = strdup(misdeed);
	else if (strcmp(misdeed, "snprintf") == 0)
		snprintf(text, sizeof(text), "%d %f", errno, 1.5);
	else if (strcmp(misdeed, "fopen") == 0)
		fclose(fopen("/dev/null", "re"));
	else if (strcmp(misdeed, "setlocale") == 0)
		setlocale(LC_ALL, "C");
	else if (strcmp(misdeed, "localtime") == 0)
		kept = localtime(&now);
	else if (strcmp(misdeed, "syslog") == 0)
		syslog(LOG_INFO, "%s", misdeed);
	else if (strcmp(misdeed, "pthread_create") == 0)
		pthread_create(&thread, NULL, idle, NULL);
	else if (strcmp(misdeed, "sigaction") == 0)
		sigaction(SIGUSR1, &action, NULL);
	else if (strcmp(misdeed, "pthread_mutex_lock") == 0)
		pthread_mutex_lock(&lock);
	else if (strcmp(misdeed, "setenv") == 0)
		setenv("A", "B", 1);
	else if (strcmp(misdeed, "random") == 0)
		kept = (void *)random();
	sigaction(SIGUSR1, NULL, &action); /* to ask is allowed */
}

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
	offend();
	return real_connect(fd, address, len);
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
	int code = real_getaddrinfo(node, service, hints, result);

	return code; /* not a tail call: our frame is on the stack */
}
