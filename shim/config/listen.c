/* SPDX-License-Identifier: MIT */
/* The addresses of listen lines, compiled, found and printed. */
#include "config/listen.h"

#include "config/keys.h"
#include "config/value.h"
#include "config/value_numbers.h"
#include "sys/text.h"

#include <arpa/inet.h>
#include <sys/un.h>

#define WRITTEN_MAX 120 /* of one address: a unix path is the longest */
#define PATH_BYTES  sizeof(((struct sockaddr_un *)0)->sun_path)

static bool read_port(const char *string, struct listener *listener, struct text *why)
{
	int64_t port;
	const char *end = decimal_parse(string, 1, &port);

	if (!end || *end != '\0' || strchr(string, '.') || port < 1 || port > UINT16_MAX) {
		text_string(why, "the port is 1 to 65535");
		return false;
	}
	listener->port = (uint16_t)port;
	return true;
}

static bool read_path(struct config *config, const char *path, struct listener *listener,
                      struct text *why)
{
	size_t n = strlen(path);

	listener->kind = LISTENER_PATH;
	if ((*path != '/' && *path != '@') || n < 2 || n >= PATH_BYTES) {
		text_string(why, "after unix: comes a path from '/', or '@' and an abstract name");
		return false;
	}
	/* The last byte stays zero, so that a reader that races with a reload finds an end. */
	if (n + 1 >= CONFIG_TEXT - config->text_used) {
		text_string(why, "the patterns of all sections together are too long");
		return false;
	}
	memcpy(config->text + config->text_used, path, n + 1);
	listener->text = config->text_used;
	config->text_used += (uint32_t)n + 1;
	return true;
}

static bool read_inet(char *string, struct listener *listener, struct text *why)
{
	char *colon = strrchr(string, ':'), *host = string;
	uint8_t v4[4];

	if (!colon) {
		text_string(why, "write :8080, 127.0.0.1:8080, [::1]:8080 or unix:/path");
		return false;
	}
	*colon = '\0';
	if (!read_port(colon + 1, listener, why))
		return false;
	listener->kind = LISTENER_PORT;
	if (*host == '\0' || strcmp(host, "*") == 0)
		return true;
	listener->kind = LISTENER_ADDRESS;
	if (inet_pton(AF_INET, host, v4) == 1) {
		ip_map_v4(listener->address, v4);
		return true;
	}
	if (*host == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		if (inet_pton(AF_INET6, host + 1, listener->address) == 1)
			return true;
	}
	text_string(why, "this is not an address; write :8080 for a port on every address, "
	                 "127.0.0.1:8080 or [::1]:8080");
	return false;
}

static bool same(const struct config *config, const struct listener *a, const struct listener *b)
{
	return a->kind == b->kind && a->port == b->port &&
	       memcmp(a->address, b->address, sizeof(a->address)) == 0 &&
	       (a->kind != LISTENER_PATH ||
	        strcmp(config->text + a->text, config->text + b->text) == 0);
}

bool listener_add(struct config *config, int admission, const char *string, size_t n, int *twin,
                  struct text *why)
{
	struct listener *listener = &config->listeners[config->listener_count];
	uint32_t text_used = config->text_used;
	char copy[WRITTEN_MAX] = { 0 };
	size_t before;
	bool good;

	*twin = -1;
	text_string(why, "listen ");
	text_quoted(why, string, n);
	text_string(why, ": ");
	before = why->used;
	if (n == 0 || n >= sizeof(copy)) {
		text_string(why, n ? "no address is so long"
		                   : "it is empty; separate addresses by single commas");
		return false;
	}
	if (config->listener_count == CONFIG_LISTENERS) {
		text_string(why, "no more than ");
		text_decimal(why, CONFIG_LISTENERS);
		text_string(why, " addresses in all; ':8080' stands for all with that port");
		return false;
	}
	memcpy(copy, string, n);
	memset(listener, 0, sizeof(*listener));
	listener->admission = admission;
	good = begins(copy, "unix:") ? read_path(config, copy + 5, listener, why)
	                             : read_inet(copy, listener, why);
	if (!good) {
		config->text_used = text_used;
		return false;
	}
	text_rewind(why, before);
	for (int i = 0; i < config->listener_count; i++) {
		if (same(config, &config->listeners[i], listener)) {
			*twin = config->listeners[i].admission;
			config->text_used = text_used;
			return true;
		}
	}
	config->listener_count++;
	return true;
}

/* The socket's own path, an abstract one with '@' for its NUL; false if it has none. */
static bool path_of(char path[PATH_BYTES + 1], const struct sockaddr *address, socklen_t len)
{
	size_t head = offsetof(struct sockaddr_un, sun_path);

	if (len <= head || len > sizeof(struct sockaddr_un))
		return false;
	memset(path, 0, PATH_BYTES + 1);
	memcpy(path, (const char *)address + head, len - head);
	if (path[0] == '\0')
		path[0] = '@';
	return true;
}

static int find_path(const struct config *config, const struct sockaddr *address, socklen_t len)
{
	char path[PATH_BYTES + 1];

	if (!path_of(path, address, len))
		return -1;
	for (int i = 0; i < config->listener_count; i++)
		if (config->listeners[i].kind == LISTENER_PATH &&
		    strcmp(config->text + config->listeners[i].text, path) == 0)
			return config->listeners[i].admission;
	return -1;
}

int listener_find(const struct config *config, const struct sockaddr *address, socklen_t len)
{
	uint8_t bytes[16];
	uint16_t port;
	int found = -1;

	if (address->sa_family == AF_UNIX)
		return find_path(config, address, len);
	if (address->sa_family == AF_INET && len >= sizeof(struct sockaddr_in)) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)address;

		ip_map_v4(bytes, &in->sin_addr);
		port = ntohs(in->sin_port);
	} else if (address->sa_family == AF_INET6 && len >= sizeof(struct sockaddr_in6)) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

		memcpy(bytes, &in6->sin6_addr, sizeof(bytes));
		port = ntohs(in6->sin6_port);
	} else {
		return -1;
	}
	for (int i = 0; i < config->listener_count; i++) {
		const struct listener *listener = &config->listeners[i];

		if (listener->kind == LISTENER_PATH || listener->port != port)
			continue;
		if (listener->kind == LISTENER_PORT)
			found = listener->admission;
		else if (memcmp(listener->address, bytes, sizeof(bytes)) == 0)
			return listener->admission;
	}
	return found;
}

void listener_print(const struct config *config, int listener, struct text *out)
{
	const struct listener *at = &config->listeners[listener];

	switch (at->kind) {
	case LISTENER_PATH:
		text_string(out, "unix:");
		text_string(out, config->text + at->text);
		break;
	case LISTENER_ADDRESS:
		text_ip(out, at->address, 0, at->port);
		break;
	default:
		text_string(out, ":");
		text_decimal(out, at->port);
		break;
	}
}
