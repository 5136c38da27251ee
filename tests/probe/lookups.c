/* SPDX-License-Identifier: MIT */
/*
 * Every call that looks a name up, asked for a name that fails in one way, twice. What each says
 * (code, h_errno, result, errno) must be what it says bare, also where the second is refused: hosts
 * go on for ever on one code and stop at another.
 * Usage: lookups LABEL [CALL...]
 *	LABEL: the first label of the names, which says how they fail (tests/clients/zone.h), or
 *	nobody: no name server listens. CALL: the calls to make, all if there is none.
 */
#include "old_names.h"
#include "resolver.h"

#define UNTOUCHED 4242
#define UNSAID    77

static int code, said;
static bool found;
static struct hostent *const nowhere = (struct hostent *)8;

static void by_getaddrinfo(const char *name, int family)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
	struct addrinfo *result = (struct addrinfo *)nowhere;

	code = getaddrinfo(name, "80", &hints, &result);
	found = code == 0;
	if (code != 0 && result != (struct addrinfo *)nowhere)
		printf("the result was touched\n");
	if (code == 0)
		freeaddrinfo(result);
}

static void getaddrinfo_any(const char *name)
{
	by_getaddrinfo(name, AF_UNSPEC);
}

static void getaddrinfo_4(const char *name)
{
	by_getaddrinfo(name, AF_INET);
}

static void call_gethostbyname(const char *name)
{
	found = gethostbyname(name) != NULL;
	said = h_errno;
}

static void call_gethostbyname2(const char *name)
{
	found = gethostbyname2(name, AF_INET) != NULL;
	said = h_errno;
}

static void call_gethostbyname_r(const char *name)
{
	struct hostent host, *result = nowhere;
	char room[8192];

	code = gethostbyname_r(name, &host, room, sizeof(room), &result, &said);
	found = result == &host;
	if (!found && result != NULL)
		printf("the result was left\n");
}

static void call_gethostbyname2_r(const char *name)
{
	struct hostent host, *result = nowhere;
	char room[8192];

	code = gethostbyname2_r(name, AF_INET, &host, room, sizeof(room), &result, &said);
	found = result == &host;
	if (!found && result != NULL)
		printf("the result was left\n");
}

static void by_thread(const char *name, int (*call)(const char *, int, int, unsigned char *, int))
{
	unsigned char answer[1024];

	code = call(name, 1, ZONE_A, answer, sizeof(answer));
	found = code > 0;
	said = h_errno;
}

static void call_res_query(const char *name)
{
	by_thread(name, res_query);
}

static void call_res_search(const char *name)
{
	by_thread(name, res_search);
}

static void by_state(const char *name,
                     int (*call)(res_state, const char *, int, int, unsigned char *, int))
{
	unsigned char answer[1024];
	struct __res_state state = { 0 };

	if (res_ninit(&state) != 0)
		give_up("res_ninit");
	errno = UNTOUCHED;
	h_errno = UNSAID;
	code = call(&state, name, 1, ZONE_A, answer, sizeof(answer));
	found = code > 0;
	said = state.res_h_errno;
	if (!found && h_errno != said)
		printf("h_errno is %d, not %d\n", h_errno, said);
	res_nclose(&state);
}

static void call_res_nquery(const char *name)
{
	by_state(name, res_nquery);
}

static void call_res_nsearch(const char *name)
{
	by_state(name, res_nsearch);
}

/* As programs of before glibc 2.34 have them. */
#ifdef __x86_64__
static void call_old_query(const char *name)
{
	by_thread(name, old_query);
}

static void call_old_search(const char *name)
{
	by_thread(name, old_search);
}

static void call_old_nquery(const char *name)
{
	by_state(name, old_nquery);
}

static void call_old_nsearch(const char *name)
{
	by_state(name, old_nsearch);
}
#endif

static const struct {
	const char *name, *key;
	void (*call)(const char *name);
} calls[] = {
	{ "getaddrinfo", "gai", getaddrinfo_any },
	{ "getaddrinfo of IPv4", "gai4", getaddrinfo_4 },
	{ "gethostbyname", "host", call_gethostbyname },
	{ "gethostbyname2", "host2", call_gethostbyname2 },
	{ "gethostbyname_r", "hostr", call_gethostbyname_r },
	{ "gethostbyname2_r", "host2r", call_gethostbyname2_r },
	{ "res_query", "query", call_res_query },
	{ "res_search", "search", call_res_search },
	{ "res_nquery", "nquery", call_res_nquery },
	{ "res_nsearch", "nsearch", call_res_nsearch },
#ifdef __x86_64__
	{ "__res_query", "oldquery", call_old_query },
	{ "__res_search", "oldsearch", call_old_search },
	{ "__res_nquery", "oldnquery", call_old_nquery },
	{ "__res_nsearch", "oldnsearch", call_old_nsearch },
#endif
};

static bool is_wanted(const char *key, char **keys)
{
	bool any = *keys != NULL;

	for (; *keys != NULL; keys++)
		if (strcmp(*keys, key) == 0)
			return true;
	return !any;
}

/* An EAI_ code stands alone: errno belongs to EAI_SYSTEM and to success. */
static void make(size_t i, const char *what, const char *name)
{
	const char *error = "-";

	h_errno = UNSAID;
	errno = UNTOUCHED;
	code = 0;
	said = UNSAID;
	calls[i].call(name);
	if (strncmp(calls[i].key, "gai", 3) != 0 || found)
		error = errno == UNTOUCHED ? "untouched" : error_name(errno);
	printf("%s %s: %d %d %s %s\n", calls[i].name, what, code > 0 && found ? 1 : code, said,
	       found ? "found" : "nothing", error);
}

int main(int argc, char **argv)
{
	bool nobody = argc > 1 && strcmp(argv[1], "nobody") == 0;
	static volatile int none;
	volatile int *asked = &none;

	if (argc < 2 || !private_resolver(""))
		return argc < 2 ? 2 : PROBE_CANNOT;
	if (!nobody)
		asked = start_name_server();
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		char name[128];
		int first, fds = count_fds();

		if (!is_wanted(calls[i].key, argv + 2))
			continue;
		/* A name for each, of which none has failed yet. */
		snprintf(name, sizeof(name), "%s.%s.test", argv[1], calls[i].key);
		make(i, "first", name);
		first = *asked;
		past_the_gate();
		make(i, "again", name);
		printf("%s asks: %s\n", calls[i].name, *asked == first ? "once" : "twice");
		if (count_fds() != fds)
			printf("%s descriptors left: %d\n", calls[i].name, count_fds() - fds);
	}
	return 0;
}
