/* SPDX-License-Identifier: MIT */
/*
 * Lookups in a network without a name server: the failing one is refused when it is made again,
 * held where it is made for ever, and keeps its code (mysql goes on for ever on one and stops at
 * another; Node aborts on an unknown one). What needs no server is never judged.
 */
#include "resolver.h"

static const char *eai_name(int code)
{
	switch (code) {
	case 0:
		return "ok";
	case EAI_AGAIN:
		return "EAI_AGAIN";
	case EAI_NONAME:
		return "EAI_NONAME";
	case EAI_FAIL:
		return "EAI_FAIL";
	case EAI_SYSTEM:
		return "EAI_SYSTEM";
	case EAI_SERVICE:
		return "EAI_SERVICE";
	case EAI_FAMILY:
		return "EAI_FAMILY";
	default:
		return "another code";
	}
}

/* One; spins: the last of many without a pause, until one was held. */
static void look_up_as(const char *title, const char *node, const char *service, int flags,
                       bool spins)
{
	struct addrinfo hints = { .ai_flags = flags, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = (struct addrinfo *)&hints;
	int64_t start;
	int code, made = 0;

	do {
		start = now_ms();
		code = getaddrinfo(node, service, &hints, &found);
		start = now_ms() - start;
	} while (spins && code != 0 && made++ < 40 && start < 150);
	printf("%s: %s, %s\n", title, eai_name(code), length_of(start, 2000));
	if (code == 0)
		freeaddrinfo(found);
	else if (found != (struct addrinfo *)&hints && found != NULL)
		printf("%s: the result was touched\n", title);
}

static void look_up(const char *title, const char *node, const char *service, int flags)
{
	look_up_as(title, node, service, flags, false);
}

int main(void)
{
	if (!private_resolver(""))
		return PROBE_CANNOT;
	look_up("first", "a.invalid", "80", 0);
	look_up_as("again", "a.invalid", "80", 0, true);
	look_up_as("again", "a.invalid", "80", 0, true);
	look_up("another name", "b.invalid", "80", 0);
	for (int i = 0; i < 2; i++) {
		look_up("from a file", "here", "80", 0);
		look_up("number", "127.0.0.1", "80", 0);
		look_up("number of six", "::1", "80", 0);
		look_up("not a number", "a.invalid", "80", AI_NUMERICHOST);
		look_up("nobody", NULL, "80", AI_PASSIVE);
		look_up("nothing", NULL, NULL, 0);
		look_up("localhost", "localhost", "80", 0);
		look_up("empty", "", "80", AI_NUMERICHOST);
		look_up("unknown service", "127.0.0.1", "no-such-service", 0);
	}
	return 0;
}
