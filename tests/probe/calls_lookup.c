/* SPDX-License-Identifier: MIT */
/* The calls that look names up, where no server is asked: numbers, localhost, nonsense. Needs no
 * privilege; lookups.c asks servers. */
#include "calls.h"
#include "old_names.h"

#define LONGER_THAN_A_NAME 300

static void host_of(const char *call, const char *what, const struct hostent *host)
{
	char text[INET6_ADDRSTRLEN] = "nothing";

	if (host != NULL)
		inet_ntop(host->h_addrtype, host->h_addr_list[0], text, sizeof(text));
	printf("%s %s: %s\n", call, what, text);
}

static void asynchronous(int mode)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct gaicb block = { .ar_name = "127.0.0.1", .ar_request = &hints };
	struct gaicb *list[] = { &block, NULL };

	SAY("getaddrinfo_a", "of a number", getaddrinfo_a(mode, list, 2, NULL));
	while (gai_error(&block) == EAI_INPROGRESS)
		pause_ms(1);
	SAY("gai_error", "of a number", gai_error(&block));
	if (block.ar_result != NULL)
		freeaddrinfo(block.ar_result);
	SAY("getaddrinfo_a", "of nothing", getaddrinfo_a(mode, &list[1], 1, NULL));
	SAY("getaddrinfo_a", "of none", getaddrinfo_a(mode, list, 0, NULL));
}

static void numbers(char *room, size_t size)
{
	struct protoent protocol, *as_protocol = NULL;
	struct servent service, *as_service = NULL;
	const struct protoent *named = getprotobyname("tcp");
	const struct servent *served = getservbyname("http", "tcp");

	printf("getprotobyname: %d\n", named ? named->p_proto : -1);
	printf("getservbyname: %d\n", served ? ntohs((uint16_t)served->s_port) : -1);
	printf("getprotobyname none: %d\n", getprotobyname("no such") == NULL);
	printf("getservbyname none: %d\n", getservbyname("no such", NULL) == NULL);
	SAY("getprotobyname_r", "tcp",
	    getprotobyname_r("tcp", &protocol, room, size, &as_protocol));
	printf("getprotobyname_r: %d\n", as_protocol == &protocol);
	SAY("getprotobyname_r", "little room",
	    getprotobyname_r("tcp", &protocol, room, 1, &as_protocol));
	SAY("getservbyname_r", "http",
	    getservbyname_r("http", "tcp", &service, room, size, &as_service));
	printf("getservbyname_r: %d\n", as_service == &service);
	SAY("getservbyname_r", "little room",
	    getservbyname_r("http", "tcp", &service, room, 1, &as_service));
}

int main(void)
{
	char name[LONGER_THAN_A_NAME + 1], room[1024], little[8];
	struct hostent host, *result = &host;
	struct __res_state state = { 0 };
	unsigned char answer[512];
	int error = 0;

	memset(name, 'x', LONGER_THAN_A_NAME);
	name[LONGER_THAN_A_NAME] = '\0';
	host_of("gethostbyname", "number", gethostbyname("127.0.0.1"));
	host_of("gethostbyname", "localhost", gethostbyname("localhost"));
	host_of("gethostbyname2", "number", gethostbyname2("::1", AF_INET6));
	SAY("gethostbyname_r", "number",
	    gethostbyname_r("127.0.0.1", &host, room, sizeof(room), &result, &error));
	printf("gethostbyname_r number: %d %d\n", result == &host, error);
	SAY("gethostbyname_r", "little room",
	    gethostbyname_r("127.0.0.1", &host, little, sizeof(little), &result, &error));
	printf("gethostbyname_r little room: %d %d\n", result == NULL, error);
	SAY("gethostbyname2_r", "number",
	    gethostbyname2_r("127.0.0.1", AF_INET, &host, room, sizeof(room), &result, &error));
	printf("gethostbyname2_r number: %d %d\n", result == &host, error);
	numbers(room, sizeof(room));
	asynchronous(GAI_WAIT);
	asynchronous(GAI_NOWAIT);
	if (res_ninit(&state) != 0)
		give_up("res_ninit");
	SAY("res_query", "long name", res_query(name, 1, 1, answer, sizeof(answer)));
	SAY("res_nquery", "long name", res_nquery(&state, name, 1, 1, answer, sizeof(answer)));
	SAY("__res_query", "long name", old_query(name, 1, 1, answer, sizeof(answer)));
	SAY("__res_nquery", "long name", old_nquery(&state, name, 1, 1, answer, sizeof(answer)));
	name[LONGER_THAN_A_NAME - 1] = '.'; /* no search domain is added */
	SAY("res_search", "long name", res_search(name, 1, 1, answer, sizeof(answer)));
	SAY("res_nsearch", "long name", res_nsearch(&state, name, 1, 1, answer, sizeof(answer)));
	SAY("__res_search", "long name", old_search(name, 1, 1, answer, sizeof(answer)));
	SAY("__res_nsearch", "long name", old_nsearch(&state, name, 1, 1, answer, sizeof(answer)));
	printf("h_errno: %d %d\n", h_errno, state.res_h_errno);
	return 0;
}
