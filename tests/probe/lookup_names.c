/* SPDX-License-Identifier: MIT */
/*
 * Looks names up and connects to what they stand for; the driver reads from the records by which
 * name each destination went. All ports but one refuse.
 */
#include "resolver.h"

static uint16_t port;

/* Connects to an address as the program wrote it and says how that ended. */
static void to_address(const struct sockaddr *address, socklen_t len)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} to;
	int fd = socket(address->sa_family, SOCK_STREAM, 0);

	memcpy(&to, address, len);
	to.in.sin_port = htons(port); /* at the same place in both */
	printf(" %s", connect(fd, &to.any, len) == 0 ? "ok" : error_name(errno));
	close(fd);
}

static struct addrinfo *look_up(const char *name)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	int code = getaddrinfo(name, NULL, &hints, &list);

	if (code != 0)
		printf(" %s", gai_strerror(code));
	return list;
}

/* One try at each address in turn, as a program does that fails over. */
static void sweep(const char *name)
{
	struct addrinfo *list = look_up(name);

	printf("%s:", name);
	for (struct addrinfo *one = list; one != NULL; one = one->ai_next)
		to_address(one->ai_addr, one->ai_addrlen);
	printf("\n");
	freeaddrinfo(list);
}

static void *look_up_apart(void *name)
{
	freeaddrinfo(look_up(name));
	return NULL;
}

static void on_another_thread(const char *name)
{
	pthread_t thread;

	pthread_create(&thread, NULL, look_up_apart, (void *)name);
	pthread_join(thread, NULL);
}

static void by_host(const char *name, int family)
{
	struct hostent *host = gethostbyname2(name, family);
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	printf("%s of a host entry:", name);
	for (char **each = host->h_addr_list; *each != NULL; each++)
		if (family == AF_INET) {
			memcpy(&in.sin_addr, *each, 4);
			to_address((struct sockaddr *)&in, sizeof(in));
		} else {
			memcpy(&in6.sin6_addr, *each, 16);
			to_address((struct sockaddr *)&in6, sizeof(in6));
		}
	printf("\n");
}

int main(void)
{
	struct sockaddr_in in = loopback(0);
	struct sockaddr_in6 mapped = { .sin6_family = AF_INET6 };
	int held;

	if (!private_resolver("search internal.test\n"))
		return PROBE_CANNOT;
	start_name_server();
	port = refusing_port(&held);
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr);
	printf("number:");
	to_address((struct sockaddr *)&in, sizeof(in));
	printf("\n");
	sweep("db");              /* through the search domain */
	sweep("alias.real.test"); /* through a CNAME */
	sweep("there");           /* from /etc/hosts */
	sweep("Mixed.Case.Test.");
	sweep("127.1"); /* a number, though none that inet_pton knows */
	sweep("three.sweep.test");
	sweep("six.both.test");
	printf("mapped:");
	to_address((struct sockaddr *)&mapped, sizeof(mapped));
	printf("\n");
	by_host("three.entry.test", AF_INET);
	by_host("six.entry.test", AF_INET6);
	/* Two names of one address, looked up before either is connected to. */
	on_another_thread("left.test");
	on_another_thread("right.test");
	printf("left and right:");
	to_address((struct sockaddr *)&in, sizeof(in));
	to_address((struct sockaddr *)&in, sizeof(in));
	printf("\n");
	return 0;
}
