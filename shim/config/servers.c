/* SPDX-License-Identifier: MIT */
/* Which servers a list names. */
#include "config/servers.h"

#include <string.h>

#define UNIX "unix:"

static bool keep(struct server *server, const char *bytes, size_t n)
{
	if (n == 0 || n >= sizeof(server->host))
		return false;
	memcpy(server->host, bytes, n);
	server->host[n] = '\0';
	return true;
}

static bool take_port(const char *digits, size_t n, uint16_t *port)
{
	uint32_t value = 0;

	for (size_t i = 0; i < n; i++) {
		if (digits[i] < '0' || digits[i] > '9' || i == 5)
			return false;
		value = value * 10 + (uint32_t)(digits[i] - '0');
	}
	*port = (uint16_t)value;
	return value > 0 && value <= UINT16_MAX;
}

static bool is_name(const char *bytes, size_t n)
{
	static const char all[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

	return n > 0 && strspn(bytes, all) >= n;
}

static bool take(const char *at, size_t n, struct server *server)
{
	const char *colon = memrchr(at, ':', n);
	size_t host;

	memset(server, 0, sizeof(*server));
	if (n > strlen(UNIX) && memcmp(at, UNIX, strlen(UNIX)) == 0)
		return at[strlen(UNIX)] == '/' && keep(server, at + strlen(UNIX), n - strlen(UNIX));
	if (!colon || !take_port(colon + 1, n - (size_t)(colon + 1 - at), &server->port))
		return false;
	host = (size_t)(colon - at);
	if (host > 2 && at[0] == '[' && at[host - 1] == ']')
		return strspn(at + 1, "0123456789abcdefABCDEF:.") >= host - 2 &&
		       keep(server, at + 1, host - 2);
	return is_name(at, host) && keep(server, at, host);
}

bool server_next(const char **list, struct server *server)
{
	const char *at = *list + strspn(*list, " \t");
	size_t whole = strcspn(at, ","), n = whole;

	if (*at == '\0')
		return false;
	while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t'))
		n--;
	*list = NULL;
	if (!take(at, n, server))
		return false;
	*list = at + whole + (at[whole] == ',');
	return true;
}

bool servers_are_valid(const char *list)
{
	struct server server;
	int count = 0;

	if (list[0] != '\0' && list[strlen(list) - 1] == ',')
		return false;
	while (server_next(&list, &server))
		count++;
	return list && count > 0 && count <= SERVERS_MOST;
}
